/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Changes by netlink, where the modules have them: what a write to sysfs does, with the reason if it is refused.
 */
#ifndef RNBD_ASK_H
#define RNBD_ASK_H

#include "act.h"

/* What came of it. */
struct answer {
	int err;		/* 0 or an errno */
	const char *words;	/* the kernel's, NULL if it has none */
};

bool ask(enum op op, const char *file, const char *text, struct answer *answer);

#endif
