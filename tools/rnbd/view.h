/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which sessions and paths of a sample are listed, in which order, and which one of them is selected.
 */
#ifndef RNBD_VIEW_H
#define RNBD_VIEW_H

#include "sample.h"

enum sort {
	SORT_NAME,
	SORT_REQUESTS,
	SORT_BYTES,
	SORT_P99,
	SORT_INFLIGHT,
	SORT_FAILOVERS,
	SORT_ERRORS,
	NR_SORTS
};

extern const char *const sort_names[NR_SORTS];

enum level {
	LEVEL_ALL,
	LEVEL_SESSIONS,
	LEVEL_PATHS,
	NR_LEVELS
};

/* A session or path in the list: what it has done since the last sample, and ever. */
struct row {
	const struct sampled *since, *ever;
};

struct view {
	enum sort sort;
	enum level level;
	bool reverse;
	char wanted[64];		/* part of a name */
	struct row *row;
	size_t nr, at, first;		/* selected; at the top of the screen */
	/* What is selected, so that it stays so when others come, go and move. */
	char session[256], path[256];
	bool server;
};

void view_fill(struct view *view, const struct sample *since, const struct sample *ever);
void view_select(struct view *view, size_t at);
void view_scroll(struct view *view, size_t lines);

#endif
