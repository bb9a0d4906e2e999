/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `rnbd top` shows.
 */
#ifndef RNBD_DRAW_H
#define RNBD_DRAW_H

#include "view.h"

enum page {
	PAGE_LIST,
	PAGE_SPLIT,
	PAGE_HELP,
};

struct shown {
	enum page page;
	bool typing;			/* the part of a name that is wanted */
	bool totals;			/* the split: ever, not since the last sample */
	unsigned int seconds;
	const struct sample *since;
};

void draw(const struct shown *shown, struct view *view);
size_t draw_rows(void);

#endif
