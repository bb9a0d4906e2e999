/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Several writes, all of them or none: how to undo what was done is noted with each.
 */
#ifndef RNBD_UNDO_H
#define RNBD_UNDO_H

#include "act.h"

struct undo {
	const char *what, *file, *text;
};

struct undo_list {
	struct undo *undo;
	size_t nr;
};

void undo_note(struct undo_list *list, const char *what, const char *file, const char *text);
void undo_all(const struct undo_list *list);

#endif
