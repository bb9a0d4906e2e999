// SPDX-License-Identifier: GPL-2.0-only
/*
 * A live view of sessions and paths.
 *
 * Signals are blocked but while the tool waits for a key, so that none comes between a look at
 * whether there was one and the wait.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "draw.h"
#include "mem.h"
#include "out.h"
#include "screen.h"
#include "value.h"

#define MAX_SECONDS	3600

/* Whoever looks again sooner than this sees the old figures: their interval would be too short. */
#define SOONEST_NS	100000000LL

static const unsigned int intervals[] = { 1, 2, 5, 10, 30, 60 };

struct top {
	/* Two samples at a time, each in memory of its own, with what is made of both. */
	struct mem_pool pool[2], drawing;
	struct sample sample[2], since, ever;
	int now;
	struct shown shown;
	struct view view;
	bool quit;
};

static volatile sig_atomic_t stop_signal;

static void stop(int signal)
{
	stop_signal = signal;
}

static void top_look(struct top *top)
{
	int next = !top->now;

	mem_empty(&top->pool[next]);
	mem_use(&top->pool[next]);
	sample_take(&top->sample[next]);
	top->since = sample_since(&top->sample[next], &top->sample[top->now]);
	top->ever = sample_since(&top->sample[next], NULL);
	top->now = next;
	top->shown.since = &top->since;
	mem_use(NULL);
}

static void top_draw(struct top *top)
{
	/* The rows that were there stay till now: keys select among them. */
	mem_empty(&top->drawing);
	mem_use(&top->drawing);
	view_fill(&top->view, &top->since, &top->ever);
	/* What was looked at is gone. */
	if (!top->view.nr && top->shown.page == PAGE_SPLIT)
		top->shown.page = PAGE_LIST;
	draw(&top->shown, &top->view);
	mem_use(NULL);
}

static void interval_step(struct top *top, bool longer)
{
	unsigned int *seconds = &top->shown.seconds;
	size_t i;

	if (longer) {
		for (i = 0; i < ARRAY_SIZE(intervals) - 1 && intervals[i] <= *seconds; i++)
			;
		*seconds = intervals[i] > *seconds ? intervals[i] : *seconds;
	} else {
		for (i = ARRAY_SIZE(intervals) - 1; i && intervals[i] >= *seconds; i--)
			;
		*seconds = intervals[i] < *seconds ? intervals[i] : *seconds;
	}
}

static void wanted_key(struct top *top, int key)
{
	char *wanted = top->view.wanted;
	size_t len = strlen(wanted);

	if (key == PRESS_ESCAPE)
		*wanted = '\0';
	else if (key == PRESS_BACKSPACE && len)
		wanted[len - 1] = '\0';
	else if (key >= ' ' && key <= '~' && len + 1 < sizeof(top->view.wanted))
		wanted[len] = key;
	if (key == PRESS_ESCAPE || key == PRESS_ENTER)
		top->shown.typing = false;
	else if (key >= ' ' && key <= '~' && len + 1 < sizeof(top->view.wanted))
		wanted[len + 1] = '\0';
}

static void select_key(struct view *view, int key)
{
	size_t lines = draw_rows(), page = lines ? lines : 1;

	switch (key) {
	case PRESS_UP:
	case 'k':
		view_select(view, view->at ? view->at - 1 : 0);
		break;
	case PRESS_DOWN:
	case 'j':
		view_select(view, view->at + 1);
		break;
	case PRESS_PAGE_UP:
		view_select(view, view->at > page ? view->at - page : 0);
		break;
	case PRESS_PAGE_DOWN:
		view_select(view, view->at + page);
		break;
	case PRESS_HOME:
	case 'g':
		view_select(view, 0);
		break;
	case PRESS_END:
	case 'G':
		view_select(view, view->nr);
		break;
	}
}

static void list_key(struct top *top, int key)
{
	struct view *view = &top->view;

	switch (key) {
	case PRESS_ENTER:
	case PRESS_RIGHT:
		top->shown.page = view->nr ? PAGE_SPLIT : PAGE_LIST;
		break;
	case 's':
		view->sort = (view->sort + 1) % NR_SORTS;
		break;
	case 'S':
		view->sort = (view->sort + NR_SORTS - 1) % NR_SORTS;
		break;
	case 'r':
		view->reverse = !view->reverse;
		break;
	case 'v':
		view->level = (view->level + 1) % NR_LEVELS;
		break;
	case '/':
	case 'f':
		top->shown.typing = true;
		break;
	case PRESS_ESCAPE:
		*view->wanted = '\0';
		break;
	}
}

static void split_key(struct top *top, int key)
{
	if (key == 't')
		top->shown.totals = !top->shown.totals;
	if (key == PRESS_ESCAPE || key == PRESS_LEFT || key == PRESS_BACKSPACE)
		top->shown.page = PAGE_LIST;
}

static void top_key(struct top *top, int key)
{
	if (key == PRESS_OTHER)
		return;
	if (top->shown.typing) {
		wanted_key(top, key);
		return;
	}
	if (top->shown.page == PAGE_HELP) {
		top->shown.page = PAGE_LIST;
	} else if (key == 'q') {
		top->quit = true;
	} else if (key == 'h' || key == '?') {
		top->shown.page = PAGE_HELP;
	} else if (key == '+' || key == '-') {
		interval_step(top, key == '+');
	} else if (key == ' ') {
		if (clock_ns() - top->sample[top->now].time_ns >= SOONEST_NS)
			top_look(top);
	} else {
		select_key(&top->view, key);
		if (top->shown.page == PAGE_SPLIT)
			split_key(top, key);
		else
			list_key(top, key);
	}
}

/* All keys that were pressed; false if there was none. */
static bool top_keys(struct top *top)
{
	bool any = false;
	int key;

	while (!top->quit && (key = screen_key()) != PRESS_NONE) {
		any = true;
		top_key(top, key);
		top_draw(top);
	}
	return any;
}

/* Until a key is pressed, a signal comes, or it is time for the next sample. */
static void top_wait(struct top *top, const sigset_t *open)
{
	long long due = top->sample[top->now].time_ns + top->shown.seconds * 1000000000LL, left = due - clock_ns();
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	struct timespec timeout = { 0 };
	int nr;

	if (left > 0)
		timeout = (struct timespec){ left / 1000000000, left % 1000000000 };
	nr = ppoll(&in, 1, &timeout, open);
	if (nr == 0)
		top_look(top);
	/* Readable, and nothing to read: nobody is at the other end any more. */
	else if (!top_keys(top) && nr > 0)
		top->quit = true;
	top_draw(top);
}

static void signals_catch(sigset_t *open)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH };
	struct sigaction action = { .sa_handler = stop };
	sigset_t closed;
	size_t i;

	sigemptyset(&closed);
	for (i = 0; i < ARRAY_SIZE(signals); i++) {
		sigaddset(&closed, signals[i]);
		/* The last one is the library's. */
		if (signals[i] != SIGWINCH)
			sigaction(signals[i], &action, NULL);
	}
	sigprocmask(SIG_BLOCK, &closed, open);
}

static void top_run(struct top *top)
{
	sigset_t open;

	signals_catch(&open);
	sample_take(&top->sample[0]);
	top->since = sample_since(&top->sample[0], NULL);
	top->ever = top->since;
	top->shown.since = &top->since;
	top_draw(top);
	while (!top->quit && !stop_signal)
		top_wait(top, &open);
	screen_end();
	mem_empty(&top->pool[0]);
	mem_empty(&top->pool[1]);
	mem_empty(&top->drawing);
	sigprocmask(SIG_SETMASK, &open, NULL);
	/* Whoever sent it is told that it was obeyed. */
	if (stop_signal) {
		signal(stop_signal, SIG_DFL);
		raise(stop_signal);
	}
}

enum status cmd_top(const struct args *args)
{
	const char *wrong = args->watch ? value_number(args->watch, 1, MAX_SECONDS) : NULL;
	struct top top = { .shown.seconds = 1, .view.sort = SORT_NAME };

	if (wrong)
		return fail(ST_USAGE, "--watch=%s: %s", args->watch, wrong);
	if (args->watch)
		top.shown.seconds = strtoul(args->watch, NULL, 10);
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		fail(ST_NOT_READY, "standard input and output have to be a terminal");
		detail("next", "rnbd stats -w 1 prints the same figures line by line");
		return ST_NOT_READY;
	}
	if (!screen_begin()) {
		fail(ST_NOT_READY, "no description of the terminal %s", getenv("TERM") ? getenv("TERM") : "");
		detail("next", "TERM=vt100 rnbd top; or rnbd stats -w 1");
		return ST_NOT_READY;
	}
	top_run(&top);
	return ST_OK;
}
