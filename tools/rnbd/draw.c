// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "draw.h"
#include "mem.h"
#include "out.h"
#include "screen.h"

/* Lines of the list's head, and below it. */
#define HEAD_LINES	4
#define FOOT_LINES	1

#define NAME_COLUMNS	12

/* "9999", "12.3k", "123k", "1.2M" */
static const char *short_number(long long number)
{
	static const char units[] = "kMGTP";
	double value = number;
	size_t i;

	if (number < 0)
		return "-";
	if (number < 10000)
		return mem_printf("%lld", number);
	for (i = 0; value >= 999.5 && units[i]; i++)
		value /= 1000;
	return mem_printf(value < 99.95 ? "%.1f%c" : "%.0f%c", value, units[i - 1]);
}

/* "830us", "1.23ms", "12.3ms", "123ms", "1.23s" */
static const char *short_time(long long ns)
{
	double value = ns / 1e3;
	const char *unit = "us";

	if (ns < 0)
		return "-";
	if (value >= 999.5) {
		value /= 1e3;
		unit = "ms";
	}
	if (value >= 999.5) {
		value /= 1e3;
		unit = "s";
	}
	return mem_printf("%.*f%s", *unit == 'u' || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2, value, unit);
}

/* "9999s", "166m", "30h" */
static const char *short_seconds(long long seconds)
{
	if (seconds < 0)
		return "-";
	if (seconds < 10000)
		return mem_printf("%llds", seconds);
	return mem_printf(seconds < 600000 ? "%lldm" : "%lldh", seconds / (seconds < 600000 ? 60 : 3600));
}

/* Before the second sample there are no rates. */
static const char *rate(long long number, long long ns)
{
	return number < 0 || !ns ? "-" : short_number(per_second(number, ns) + 0.5);
}

static const char *byte_rate(long long number, long long ns)
{
	return number < 0 || !ns ? "-" : units_format(per_second(number, ns) + 0.5, NULL);
}

static const char *percentile(const struct figures *figures, unsigned int per_mille)
{
	struct hist latency = figures_latency(figures, PART_TOTAL);

	return short_time(hist_percentile_ns(&latency, per_mille));
}

/* A path's state in five letters; how many of its paths a session has. */
static const char *cell_state(const struct row *row, long long ns)
{
	const struct session *sess = row->since->sess;
	const char *state = row->since->path ? row->since->path->state : NULL;

	(void)ns;
	if (!row->since->path)
		return mem_printf("%zu/%zu", sess->nr_connected, sess->nr_paths);
	if (!state)
		return "-";
	if (!strcmp(state, "connected"))
		return "up";
	return !strcmp(state, "disconnected") ? "down" : mem_printf("%.5s", state);
}

static const char *cell_iops(const struct row *row, long long ns)
{
	return rate(figures_requests(&row->since->figures), ns);
}

static const char *cell_bytes(const struct row *row, long long ns)
{
	return byte_rate(figures_bytes(&row->since->figures), ns);
}

static const char *cell_read(const struct row *row, long long ns)
{
	return byte_rate(row->since->figures.counter[COUNT_READ_BYTES], ns);
}

static const char *cell_write(const struct row *row, long long ns)
{
	return byte_rate(row->since->figures.counter[COUNT_WRITE_BYTES], ns);
}

static const char *cell_p50(const struct row *row, long long ns)
{
	(void)ns;
	return percentile(&row->since->figures, 500);
}

static const char *cell_p99(const struct row *row, long long ns)
{
	(void)ns;
	return percentile(&row->since->figures, 990);
}

static const char *cell_p999(const struct row *row, long long ns)
{
	(void)ns;
	return percentile(&row->since->figures, 999);
}

static const char *cell_inflight(const struct row *row, long long ns)
{
	(void)ns;
	return short_number(row->since->inflight);
}

static const char *cell_failovers(const struct row *row, long long ns)
{
	(void)ns;
	return short_number(row->ever->figures.counter[COUNT_TAKEN_OVER]);
}

static const char *cell_reconnects(const struct row *row, long long ns)
{
	(void)ns;
	return short_number(row->ever->figures.counter[COUNT_RECONNECTS]);
}

static const char *cell_losses(const struct row *row, long long ns)
{
	(void)ns;
	return short_number(causes_sum(&row->ever->figures.losses));
}

static const char *cell_errors(const struct row *row, long long ns)
{
	(void)ns;
	return short_number(causes_sum(&row->ever->figures.io_errors));
}

static const char *cell_slow(const struct row *row, long long ns)
{
	(void)ns;
	return row->since->slow_s ? short_seconds(row->since->slow_s) : "-";
}

/* How wide a terminal has to be for a column, and from when on others say more. */
static const struct list_column {
	const char *head;
	int width, from, until;
	const char *(*cell)(const struct row *row, long long ns);
} list_columns[] = {
	{ "STATE", 5, 20, 0, cell_state },
	{ "IOPS", 6, 26, 0, cell_iops },
	{ "BYTES/S", 7, 34, 100, cell_bytes },
	{ "READ/S", 7, 100, 0, cell_read },
	{ "WRITE/S", 7, 100, 0, cell_write },
	{ "P50", 6, 72, 0, cell_p50 },
	{ "P99", 6, 42, 0, cell_p99 },
	{ "P999", 6, 79, 0, cell_p999 },
	{ "INFL", 5, 60, 0, cell_inflight },
	{ "FOVER", 5, 66, 0, cell_failovers },
	{ "RECON", 5, 106, 0, cell_reconnects },
	{ "LOST", 5, 112, 0, cell_losses },
	{ "ERR", 5, 54, 0, cell_errors },
	{ "SLOW", 5, 86, 0, cell_slow },
};

static bool has_column(const struct list_column *column)
{
	return screen_columns() >= column->from && (!column->until || screen_columns() < column->until);
}

static int name_width(void)
{
	int width = screen_columns();
	size_t i;

	for (i = 0; i < ARRAY_SIZE(list_columns); i++)
		if (has_column(&list_columns[i]))
			width -= list_columns[i].width + 1;
	return width < NAME_COLUMNS ? NAME_COLUMNS : width;
}

/* "10.1.0.1@10.1.0.2" says as much as with "ip:" before each. */
static const char *path_shown(const char *name)
{
	char *shown = mem_alloc(strlen(name) + 1), *to = shown;
	bool start = true;

	while (*name) {
		if (start && !strncmp(name, "ip:", 3)) {
			name += 3;
			start = false;
			continue;
		}
		start = *name == '@';
		*to++ = *name++;
	}
	return shown;
}

/* What is too long loses its middle: two paths differ at their ends. */
static const char *fitted(const char *text, int width)
{
	int len = strlen(text), head = (width - 1) / 2;

	if (len <= width)
		return text;
	return mem_printf("%.*s~%s", head, text, text + len - (width - 1 - head));
}

static const char *row_name(const struct view *view, const struct row *row, int width)
{
	const struct sampled *item = row->since;
	const char *path = item->path ? path_shown(item->path->name) : NULL;

	if (!path)
		return fitted(mem_printf("%s%s", item->sess->name, item->sess->server ? " (server)" : ""), width);
	if (view->level == LEVEL_PATHS)
		return mem_printf("%s %s%s", fitted(path, width), item->sess->name,
				  item->sess->server ? " (server)" : "");
	return mem_printf(" %s", fitted(path, width - 1));
}

static void draw_row(const struct view *view, const struct row *row, int line, long long ns)
{
	int at = name_width();
	size_t i;

	screen_put(line, 0, "%-*.*s", at, at, row ? row_name(view, row, at) : "SESSION, PATH");
	for (i = 0; i < ARRAY_SIZE(list_columns); i++) {
		if (!has_column(&list_columns[i]))
			continue;
		screen_put(line, at, " %*s", list_columns[i].width,
			   row ? list_columns[i].cell(row, ns) : list_columns[i].head);
		at += list_columns[i].width + 1;
	}
}

/* What there is in the way of disks that do not answer: how many, and for how long; or nothing. */
static const char *slow_disks(const struct sample *since, bool server)
{
	long long seconds, longest = 0;
	size_t i, nr = 0, all = server ? since->exports.nr : since->devices.nr;

	for (i = 0; i < all; i++) {
		seconds = server ? since->exports.export[i].slow.seconds : since->devices.dev[i].slow.seconds;
		nr += seconds > 0;
		longest = seconds > longest ? seconds : longest;
	}
	return nr ? mem_printf(", %zu disk%s slow for %s", nr, nr == 1 ? "" : "s", short_seconds(longest)) : "";
}

static void draw_side(const struct sample *since, bool server, int line)
{
	size_t i, paths = 0, connected = 0, sessions = 0;
	long long requests = 0, read = 0, write = 0;
	const struct figures *figures;

	for (i = 0; i < since->nr; i++) {
		if (since->item[i].path || since->item[i].sess->server != server)
			continue;
		figures = &since->item[i].figures;
		sessions++;
		paths += since->item[i].sess->nr_paths;
		connected += since->item[i].sess->nr_connected;
		requests += figures_requests(figures) > 0 ? figures_requests(figures) : 0;
		read += figures->counter[COUNT_READ_BYTES] > 0 ? figures->counter[COUNT_READ_BYTES] : 0;
		write += figures->counter[COUNT_WRITE_BYTES] > 0 ? figures->counter[COUNT_WRITE_BYTES] : 0;
	}
	screen_put(line, 0, "%s: %zu session%s, %zu of %zu paths up%s, %s IOPS, read/s %s, write/s %s",
		   server ? "server" : "client", sessions, sessions == 1 ? "" : "s", connected, paths,
		   slow_disks(since, server), rate(requests, since->since_ns), byte_rate(read, since->since_ns),
		   byte_rate(write, since->since_ns));
}

static void draw_title(const struct shown *shown, const struct view *view)
{
	static const char *const levels[] = { "", ", sessions only", ", paths only" };

	screen_look(LOOK_BOLD);
	screen_put(0, 0, "rnbd top");
	screen_look(LOOK_PLAIN);
	screen_put(0, 10, "every %us, by %s%s%s%s%s%s", shown->seconds, sort_names[view->sort],
		   view->reverse ? " reversed" : "", levels[view->level],
		   shown->typing || *view->wanted ? ", filter: " : "", view->wanted, shown->typing ? "_" : "");
}

static void draw_foot(const char *keys)
{
	screen_look(LOOK_REVERSE);
	screen_bar(screen_lines() - 1);
	screen_put(screen_lines() - 1, 0, "%s", keys);
	screen_look(LOOK_PLAIN);
}

/* Lines there are for rows. */
size_t draw_rows(void)
{
	int lines = screen_lines() - HEAD_LINES - FOOT_LINES;

	return lines > 0 ? lines : 0;
}

static void draw_list(const struct shown *shown, struct view *view)
{
	size_t i, lines = draw_rows();

	draw_title(shown, view);
	draw_side(shown->since, false, 1);
	draw_side(shown->since, true, 2);
	screen_look(LOOK_REVERSE);
	screen_bar(3);
	draw_row(view, NULL, 3, 0);
	view_scroll(view, lines);
	for (i = 0; i < lines && view->first + i < view->nr; i++) {
		screen_look(view->first + i == view->at ? LOOK_REVERSE : LOOK_PLAIN);
		screen_bar(HEAD_LINES + i);
		draw_row(view, &view->row[view->first + i], HEAD_LINES + i, shown->since->since_ns);
	}
	screen_look(LOOK_PLAIN);
	if (!view->nr && lines)
		screen_put(HEAD_LINES, 0, *view->wanted ? "nothing has this in its name" : "no session");
	draw_foot(shown->typing ? "type a part of a name; Enter keeps it, Esc drops it" :
		  "q quit  h help  Enter split  s sort  r reverse  / filter  v view  +- interval");
}

/* Which part of a line each part of the time takes. */
static void draw_bar(const struct figures *figures, enum operation op, int line)
{
	static const char letters[NR_PARTS] = { ' ', 'c', 'w', 's', 'd' };
	int at = 8, width = screen_columns() - at - 1, len;
	long long average[NR_PARTS], all = 0;
	enum part part;
	double ends = 0;

	for (part = PART_CLIENT; part < NR_PARTS; part++) {
		average[part] = hist_average_ns(&figures->latency[op][part]);
		all += average[part] > 0 ? average[part] : 0;
	}
	if (all <= 0 || width <= 0)
		return;
	screen_put(line, at - 1, "|");
	for (part = PART_CLIENT; part < NR_PARTS; part++) {
		ends += average[part] > 0 ? (double)average[part] * (width - 1) / all : 0;
		for (len = at; len < 8 + (int)(ends + 0.5); len++)
			screen_put(line, len, "%c", letters[part]);
		at = len;
	}
	screen_put(line, at, "|");
}

static void draw_part(const struct figures *figures, enum operation op, enum part part, long long ns,
		      int line)
{
	const struct hist *hist = &figures->latency[op][part], *client = &figures->latency[op][PART_CLIENT];
	long long average = hist_average_ns(hist), all = 0;
	enum part each;

	for (each = client->there ? PART_CLIENT : PART_SERVER; each < NR_PARTS; each++)
		if (hist_average_ns(&figures->latency[op][each]) > 0)
			all += hist_average_ns(&figures->latency[op][each]);
	screen_put(line, 2, "%-8s %9s %8s %8s %8s %8s %7s", part_names[part],
		   !hist->there ? "-" : ns ? rate(hist->requests, ns) : short_number(hist->requests),
		   short_time(average), short_time(hist_percentile_ns(hist, 500)),
		   short_time(hist_percentile_ns(hist, 990)), short_time(hist_percentile_ns(hist, 999)),
		   part == PART_TOTAL || average < 0 || !all ? "" : mem_printf("%.0f%%", average * 100.0 / all));
}

static int draw_operation(const struct figures *figures, enum operation op, long long ns, int line)
{
	enum part part;

	screen_look(LOOK_REVERSE);
	screen_bar(line);
	screen_put(line++, 0, "%-10s %9s %8s %8s %8s %8s %7s", op == OP_READ ? "READ" : "WRITE",
		   ns ? "TIMED/S" : "TIMED", "AVERAGE", "P50", "P99", "P999", "SHARE");
	screen_look(LOOK_PLAIN);
	for (part = 0; part < NR_PARTS; part++)
		draw_part(figures, op, part, ns, line++);
	draw_bar(figures, op, line++);
	return line + 1;
}

/* Those that there were, in as many lines as it takes; returns the line after them. */
static int draw_causes(const char *what, const struct causes *since, const struct causes *ever, int line)
{
	int at = 10, len;
	bool any = false;
	const char *text;
	size_t i;

	screen_put(line, 0, "%s", what);
	for (i = 0; i < ever->nr; i++) {
		if (!ever->cause[i].times)
			continue;
		text = mem_printf("%s %s (+%s)", ever->cause[i].name, short_number(ever->cause[i].times),
				  short_number(since->cause[i].times));
		len = strlen(text);
		if (any && at + len > screen_columns()) {
			at = 10;
			line++;
		}
		screen_put(line, at, "%s", text);
		at += len + 2;
		any = true;
	}
	if (!any)
		screen_put(line, at, ever->there ? "none" : "not counted");
	return line + 1;
}

/* Disks of a session that do not answer, if there are any. */
static void draw_slow(const struct sample *since, const struct session *sess, int line)
{
	const char *text = "";
	long long seconds;
	size_t i;

	for (i = 0; i < since->devices.nr && !sess->server; i++) {
		seconds = since->devices.dev[i].slow.seconds;
		if (seconds > 0 && !strcmp(since->devices.dev[i].session, sess->name))
			text = mem_printf("%s%s %s  ", text, since->devices.dev[i].disk, short_seconds(seconds));
	}
	for (i = 0; i < since->exports.nr && sess->server; i++) {
		seconds = since->exports.export[i].slow.seconds;
		if (seconds > 0 && export_is_of(&since->exports.export[i], sess))
			text = mem_printf("%s%s %s  ", text, since->exports.export[i].device, short_seconds(seconds));
	}
	if (*text)
		screen_put(line, 0, "SLOW      %s", text);
}

static void draw_split(const struct shown *shown, struct view *view)
{
	const struct row *row = &view->row[view->at];
	const struct sampled *item = shown->totals ? row->ever : row->since;
	long long ns = shown->totals ? 0 : shown->since->since_ns;
	int line = 2;

	screen_look(LOOK_BOLD);
	screen_put(0, 0, "%s, %s%s%s", item->sess->name, item->sess->server ? "server" : "client",
		   item->path ? ", " : "", item->path ? path_shown(item->path->name) : "");
	screen_look(LOOK_PLAIN);
	screen_put(1, 0, "%s; state %s, in flight %s, taken over %s, reconnects %s",
		   shown->totals ? "since the counters were reset" : mem_printf("every %us", shown->seconds),
		   cell_state(row, 0), cell_inflight(row, 0), cell_failovers(row, 0),
		   cell_reconnects(row, 0));
	line = draw_operation(&item->figures, OP_READ, ns, line);
	line = draw_operation(&item->figures, OP_WRITE, ns, line);
	line = draw_causes("LOSSES", &row->since->figures.losses, &row->ever->figures.losses, line);
	line = draw_causes("ERRORS", &row->since->figures.io_errors, &row->ever->figures.io_errors, line);
	draw_slow(shown->since, item->sess, line);
	draw_foot("Esc back  t totals  up/down other path  +- interval  q quit");
}

static void draw_help(void)
{
	static const char *const text[] = {
		"Up Down PgUp PgDn Home End   select a session or path (also j k g G)",
		"Enter                        where its time goes; Esc goes back",
		"t                            there: totals, or the last interval",
		"s S                          sort by the next, the previous figure",
		"r                            reverse the order",
		"/                            only what has this in its name",
		"v                            sessions and paths, sessions only, paths only",
		"+ -                          longer, shorter interval",
		"Space                        look again now",
		"q                            quit",
		"",
		"STATE  of a path; of a session how many paths are connected, of how many",
		"IOPS BYTES/S P50 P99 P999    of the last interval, reads and writes",
		"INFL   requests without an answer yet",
		"FOVER  requests taken over from lost paths, since the counters were reset",
		"ERR    requests that ended with an error; LOST losses of a path; so, too",
		"SLOW   for how long a disk of the session has not answered",
		"",
		"Parts: client until it is posted, wire, server until it is given to the",
		"device, device. A sample of all requests is timed. - is not counted here.",
	};
	size_t i;

	screen_look(LOOK_BOLD);
	screen_put(0, 0, "rnbd top: keys and columns");
	screen_look(LOOK_PLAIN);
	for (i = 0; i < ARRAY_SIZE(text); i++)
		screen_put(2 + i, 0, "%s", text[i]);
	draw_foot("any key goes back");
}

void draw(const struct shown *shown, struct view *view)
{
	screen_look(LOOK_PLAIN);
	screen_clear();
	if (shown->page == PAGE_HELP)
		draw_help();
	else if (shown->page == PAGE_SPLIT && view->nr)
		draw_split(shown, view);
	else
		draw_list(shown, view);
	screen_show();
}
