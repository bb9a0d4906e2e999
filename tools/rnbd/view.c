// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "view.h"

const char *const sort_names[NR_SORTS] = {
	"name", "IOPS", "bytes/s", "p99", "in flight", "failovers", "errors",
};

/* The largest comes first; what is not counted, last. */
static long long weight(enum sort sort, const struct row *row)
{
	const struct figures *since = &row->since->figures, *ever = &row->ever->figures;
	struct hist latency;

	switch (sort) {
	case SORT_REQUESTS:
		return figures_requests(since);
	case SORT_BYTES:
		return figures_bytes(since);
	case SORT_P99:
		latency = figures_latency(since, PART_TOTAL);
		return hist_percentile_ns(&latency, 990);
	case SORT_INFLIGHT:
		return row->since->inflight;
	case SORT_FAILOVERS:
		return ever->counter[COUNT_TAKEN_OVER];
	case SORT_ERRORS:
		return causes_sum(&ever->io_errors);
	case SORT_NAME:
	case NR_SORTS:
		break;
	}
	return 0;
}

static int by_name(const struct sampled *a, const struct sampled *b)
{
	int order = strverscmp(a->sess->name, b->sess->name);

	if (!order)
		order = a->sess->server - b->sess->server;
	if (!order && a->path && b->path)
		order = strverscmp(a->path->name, b->path->name);
	return order;
}

static int compare(const void *one, const void *other, void *arg)
{
	const struct row *a = one, *b = other;
	const struct view *view = arg;
	long long weight_a = weight(view->sort, a), weight_b = weight(view->sort, b);
	int order = weight_a == weight_b ? by_name(a->since, b->since) : weight_a < weight_b ? 1 : -1;

	return view->reverse ? -order : order;
}

static bool has_wanted(const struct view *view, const struct sampled *item)
{
	return strcasestr(item->sess->name, view->wanted) ||
	       strcasestr(item->sess->server ? "server" : "client", view->wanted) ||
	       (item->path && (strcasestr(item->path->name, view->wanted) ||
			       (item->path->state && strcasestr(item->path->state, view->wanted))));
}

static void rows_sort(struct view *view, size_t from)
{
	if (view->nr > from)
		qsort_r(view->row + from, view->nr - from, sizeof(*view->row), compare, view);
}

/* The rows of one session's paths, or of those of all. */
static void add_paths(struct view *view, const struct sample *since, const struct sample *ever,
		      const struct session *sess)
{
	size_t i, from = view->nr;

	for (i = 0; i < since->nr; i++)
		if (since->item[i].path && (!sess || since->item[i].sess == sess) &&
		    has_wanted(view, &since->item[i]))
			*MEM_ADD(view->row, view->nr) = (struct row){ &since->item[i], &ever->item[i] };
	rows_sort(view, from);
}

static bool has_wanted_path(const struct view *view, const struct sample *since, const struct session *sess)
{
	size_t i;

	for (i = 0; i < since->nr; i++)
		if (since->item[i].sess == sess && has_wanted(view, &since->item[i]))
			return true;
	return false;
}

static struct row *sessions_sorted(struct view *view, const struct sample *since,
				   const struct sample *ever, size_t *nr)
{
	struct view sessions = { .sort = view->sort, .reverse = view->reverse };
	size_t i;

	for (i = 0; i < since->nr; i++)
		if (!since->item[i].path && has_wanted_path(view, since, since->item[i].sess))
			*MEM_ADD(sessions.row, sessions.nr) = (struct row){ &since->item[i], &ever->item[i] };
	rows_sort(&sessions, 0);
	*nr = sessions.nr;
	return sessions.row;
}

static bool is_selected(const struct view *view, const struct sampled *item)
{
	return item->sess->server == view->server && !strcmp(item->sess->name, view->session) &&
	       !strcmp(item->path ? item->path->name : "", view->path);
}

/* Select a row, as near as there is. */
void view_select(struct view *view, size_t at)
{
	const struct sampled *item;

	view->at = view->nr && at >= view->nr ? view->nr - 1 : at;
	if (!view->nr) {
		view->at = 0;
		return;
	}
	item = view->row[view->at].since;
	view->server = item->sess->server;
	snprintf(view->session, sizeof(view->session), "%s", item->sess->name);
	snprintf(view->path, sizeof(view->path), "%s", item->path ? item->path->name : "");
}

/* Of two samples of the same items: what has come since the one before, and all there is. */
void view_fill(struct view *view, const struct sample *since, const struct sample *ever)
{
	struct row *sessions;
	size_t i, nr;

	view->row = NULL;
	view->nr = 0;
	if (view->level == LEVEL_PATHS)
		add_paths(view, since, ever, NULL);
	sessions = view->level == LEVEL_PATHS ? NULL : sessions_sorted(view, since, ever, &nr);
	for (i = 0; sessions && i < nr; i++) {
		*MEM_ADD(view->row, view->nr) = sessions[i];
		if (view->level == LEVEL_ALL)
			add_paths(view, since, ever, sessions[i].since->sess);
	}
	for (i = 0; i < view->nr; i++)
		if (is_selected(view, view->row[i].since))
			break;
	view_select(view, i < view->nr ? i : view->at);
}

/* Have the selected row among those on the screen. */
void view_scroll(struct view *view, size_t lines)
{
	if (view->first > view->at)
		view->first = view->at;
	if (lines && view->at >= view->first + lines)
		view->first = view->at - lines + 1;
	if (view->first + lines > view->nr)
		view->first = view->nr > lines ? view->nr - lines : 0;
}
