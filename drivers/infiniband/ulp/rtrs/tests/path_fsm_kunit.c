// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the state tables of paths.
 *
 * The expected tables are written as lists of the cells that are not empty, with names, so that they
 * share neither shape nor values with the tables they check.
 */
#include <kunit/test.h>
#include "../proto/path_fsm.h"

/**
 * struct cell - a cell that is not empty
 * @state: name of the state
 * @event: name of the event
 * @next: name of the next state
 * @actions: what to run, a letter each in the order they are run: k wake, w work, u up, d down
 */
struct cell {
	const char *state;
	const char *event;
	const char *next;
	const char *actions;
};

static const struct cell clt_cells[] = {
	{ "connecting",	  "established", "connected",	 "ku" },
	{ "connecting",	  "error",	 "reconnecting", "kw" },
	{ "connecting",	  "give-up",	 "closed",	 "k" },
	{ "connecting",	  "link-up",	 "reconnecting", "kw" },
	{ "connecting",	  "close",	 "closing",	 "kw" },
	{ "connected",	  "error",	 "reconnecting", "kwd" },
	{ "connected",	  "reconnect",	 "reconnecting", "kwd" },
	{ "connected",	  "close",	 "closing",	 "kwd" },
	{ "reconnecting", "retry",	 "connecting",	 "k" },
	{ "reconnecting", "give-up",	 "closed",	 "k" },
	{ "reconnecting", "reconnect",	 "reconnecting", "w" },
	{ "reconnecting", "link-up",	 "reconnecting", "w" },
	{ "reconnecting", "close",	 "closing",	 "kw" },
	{ "closing",	  "close-done",	 "closed",	 "k" },
	{ "closing",	  "close",	 "closing",	 "" },
	{ "closed",	  "reconnect",	 "reconnecting", "kw" },
	{ "closed",	  "close",	 "closed",	 "" },
	{ "closed",	  "remove",	 "dead",	 "k" },
};

static const struct cell srv_cells[] = {
	{ "connecting", "established", "connected", "ku" },
	{ "connecting", "close",       "closing",   "kw" },
	{ "connected",	"close",       "closing",   "kwd" },
	{ "closing",	"close",       "closing",   "" },
	{ "closing",	"close-done",  "closed",    "k" },
	{ "closed",	"close",       "closed",    "" },
};

static const struct cell *find_cell(const struct cell *cells, size_t nr, const char *state,
				    const char *event)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (!strcmp(cells[i].state, state) && !strcmp(cells[i].event, event))
			return &cells[i];
	return NULL;
}

static unsigned int actions_of(const char *letters)
{
	unsigned int actions = 0;

	for (; *letters; letters++) {
		switch (*letters) {
		case 'k':
			actions |= 1;
			break;
		case 'w':
			actions |= 2;
			break;
		case 'u':
			actions |= 4;
			break;
		case 'd':
			actions |= 8;
			break;
		}
	}
	return actions;
}

/* Returns whether the cell is one of @cells. */
static bool check_cell(struct kunit *test, const struct cell *cell, struct rtrs_fsm_step step,
		       const char *next, const char *where)
{
	KUNIT_EXPECT_EQ_MSG(test, step.valid, cell != NULL, "%s", where);
	if (!cell) {
		KUNIT_EXPECT_EQ_MSG(test, step.actions, 0, "%s", where);
		return false;
	}
	KUNIT_EXPECT_STREQ_MSG(test, next, cell->next, "%s", where);
	KUNIT_EXPECT_EQ_MSG(test, (unsigned int)step.actions, actions_of(cell->actions), "%s",
			    where);
	return true;
}

static void rtrs_clt_path_step__each_cell(struct kunit *test)
{
	const char *state, *event;
	struct rtrs_fsm_step step;
	size_t found = 0;
	char where[64];
	int s, e;

	for (s = 0; s < RTRS_CLT_PATH_STATE__NR; s++) {
		for (e = 0; e < RTRS_CLT_EV__NR; e++) {
			state = rtrs_clt_path_state_name(s);
			event = rtrs_clt_path_event_name(e);
			scnprintf(where, sizeof(where), "%s, %s", state, event);
			step = rtrs_clt_path_step(s, e);
			found += check_cell(test, find_cell(clt_cells, ARRAY_SIZE(clt_cells),
							    state, event),
					    step, rtrs_clt_path_state_name(step.next), where);
		}
	}
	KUNIT_EXPECT_EQ(test, found, ARRAY_SIZE(clt_cells));
}

static void rtrs_srv_path_step__each_cell(struct kunit *test)
{
	const char *state, *event;
	struct rtrs_fsm_step step;
	size_t found = 0;
	char where[64];
	int s, e;

	for (s = 0; s < RTRS_SRV_PATH_STATE__NR; s++) {
		for (e = 0; e < RTRS_SRV_EV__NR; e++) {
			state = rtrs_srv_path_state_name(s);
			event = rtrs_srv_path_event_name(e);
			scnprintf(where, sizeof(where), "%s, %s", state, event);
			step = rtrs_srv_path_step(s, e);
			found += check_cell(test, find_cell(srv_cells, ARRAY_SIZE(srv_cells),
							    state, event),
					    step, rtrs_srv_path_state_name(step.next), where);
		}
	}
	KUNIT_EXPECT_EQ(test, found, ARRAY_SIZE(srv_cells));
}

/* The upper layer counts paths by these two actions: they must come in pairs. */
static void rtrs_clt_path_step__up_and_down_pair(struct kunit *test)
{
	struct rtrs_fsm_step step;
	int s, e;

	for (s = 0; s < RTRS_CLT_PATH_STATE__NR; s++) {
		for (e = 0; e < RTRS_CLT_EV__NR; e++) {
			bool was_up = s == RTRS_CLT_PATH_CONNECTED;
			bool is_up;

			step = rtrs_clt_path_step(s, e);
			if (!step.valid)
				continue;
			is_up = step.next == RTRS_CLT_PATH_CONNECTED;
			KUNIT_EXPECT_EQ_MSG(test, !!(step.actions & RTRS_FSM_ACT_UP),
					    !was_up && is_up, "state %d, event %d", s, e);
			KUNIT_EXPECT_EQ_MSG(test, !!(step.actions & RTRS_FSM_ACT_DOWN),
					    was_up && !is_up, "state %d, event %d", s, e);
		}
	}
}

static void rtrs_srv_path_step__up_and_down_pair(struct kunit *test)
{
	struct rtrs_fsm_step step;
	int s, e;

	for (s = 0; s < RTRS_SRV_PATH_STATE__NR; s++) {
		for (e = 0; e < RTRS_SRV_EV__NR; e++) {
			bool was_up = s == RTRS_SRV_PATH_CONNECTED;
			bool is_up;

			step = rtrs_srv_path_step(s, e);
			if (!step.valid)
				continue;
			is_up = step.next == RTRS_SRV_PATH_CONNECTED;
			KUNIT_EXPECT_EQ_MSG(test, !!(step.actions & RTRS_FSM_ACT_UP),
					    !was_up && is_up, "state %d, event %d", s, e);
			KUNIT_EXPECT_EQ_MSG(test, !!(step.actions & RTRS_FSM_ACT_DOWN),
					    was_up && !is_up, "state %d, event %d", s, e);
		}
	}
}

/* Who waits for a state must be woken by each change of it. */
static void rtrs_clt_path_step__change_wakes(struct kunit *test)
{
	struct rtrs_fsm_step step;
	int s, e;

	for (s = 0; s < RTRS_CLT_PATH_STATE__NR; s++) {
		for (e = 0; e < RTRS_CLT_EV__NR; e++) {
			step = rtrs_clt_path_step(s, e);
			if (step.valid)
				KUNIT_EXPECT_EQ_MSG(test, !!(step.actions & RTRS_FSM_ACT_WAKE),
						    step.next != s, "state %d, event %d", s, e);
		}
	}
}

/* Closing and removing must work whatever state a path is in. */
static void rtrs_clt_path_step__can_always_be_removed(struct kunit *test)
{
	static const enum rtrs_clt_path_event events[] = {
		RTRS_CLT_EV_CLOSE, RTRS_CLT_EV_CLOSE_DONE, RTRS_CLT_EV_REMOVE,
	};
	struct rtrs_fsm_step step;
	int start, s, i;

	for (start = 0; start < RTRS_CLT_PATH_DEAD; start++) {
		s = start;
		for (i = 0; i < ARRAY_SIZE(events); i++) {
			step = rtrs_clt_path_step(s, events[i]);
			if (step.valid)
				s = step.next;
		}
		KUNIT_EXPECT_EQ_MSG(test, s, (int)RTRS_CLT_PATH_DEAD, "from state %d", start);
	}
}

struct outside_case {
	const char *name;
	int state;
	int event;
};

static const struct outside_case outside_cases[] = {
	{ "state too large", 6, 0 },
	{ "event too large", 0, 8 },
	{ "both too large", 255, 255 },
	{ "negative state", -1, 0 },
	{ "negative event", 0, -1 },
	{ "largest", INT_MAX, INT_MAX },
};

static void outside_case_desc(const struct outside_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(outside, outside_cases, outside_case_desc);

static void rtrs_path_step__outside_the_table(struct kunit *test)
{
	const struct outside_case *c = test->param_value;

	KUNIT_EXPECT_FALSE(test, rtrs_clt_path_step(c->state, c->event).valid);
	KUNIT_EXPECT_FALSE(test, rtrs_srv_path_step(c->state, c->event).valid);
}

static void rtrs_path_step__first_value_outside(struct kunit *test)
{
	int i;

	for (i = 0; i < RTRS_CLT_EV__NR; i++)
		KUNIT_EXPECT_FALSE(test, rtrs_clt_path_step(RTRS_CLT_PATH_STATE__NR, i).valid);
	for (i = 0; i < RTRS_CLT_PATH_STATE__NR; i++)
		KUNIT_EXPECT_FALSE(test, rtrs_clt_path_step(i, RTRS_CLT_EV__NR).valid);
	for (i = 0; i < RTRS_SRV_EV__NR; i++)
		KUNIT_EXPECT_FALSE(test, rtrs_srv_path_step(RTRS_SRV_PATH_STATE__NR, i).valid);
	for (i = 0; i < RTRS_SRV_PATH_STATE__NR; i++)
		KUNIT_EXPECT_FALSE(test, rtrs_srv_path_step(i, RTRS_SRV_EV__NR).valid);
}

static void rtrs_path_names__all(struct kunit *test)
{
	static const char * const clt_states[] = {
		"connecting", "connected", "reconnecting", "closing", "closed", "dead", "unknown",
	};
	static const char * const clt_events[] = {
		"established", "error", "retry", "give-up", "reconnect", "link-up", "close",
		"close-done", "remove", "unknown",
	};
	static const char * const srv_states[] = {
		"connecting", "connected", "closing", "closed", "unknown",
	};
	static const char * const srv_events[] = {
		"established", "close", "close-done", "unknown",
	};
	int i;

	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(clt_states), RTRS_CLT_PATH_STATE__NR + 1UL);
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(clt_events), RTRS_CLT_EV__NR + 1UL);
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(srv_states), RTRS_SRV_PATH_STATE__NR + 1UL);
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(srv_events), RTRS_SRV_EV__NR + 1UL);
	for (i = 0; i < ARRAY_SIZE(clt_states); i++)
		KUNIT_EXPECT_STREQ(test, rtrs_clt_path_state_name(i), clt_states[i]);
	for (i = 0; i < ARRAY_SIZE(clt_events); i++)
		KUNIT_EXPECT_STREQ(test, rtrs_clt_path_event_name(i), clt_events[i]);
	for (i = 0; i < ARRAY_SIZE(srv_states); i++)
		KUNIT_EXPECT_STREQ(test, rtrs_srv_path_state_name(i), srv_states[i]);
	for (i = 0; i < ARRAY_SIZE(srv_events); i++)
		KUNIT_EXPECT_STREQ(test, rtrs_srv_path_event_name(i), srv_events[i]);
}

static struct kunit_case rtrs_path_fsm_cases[] = {
	KUNIT_CASE(rtrs_clt_path_step__each_cell),
	KUNIT_CASE(rtrs_clt_path_step__up_and_down_pair),
	KUNIT_CASE(rtrs_clt_path_step__change_wakes),
	KUNIT_CASE(rtrs_clt_path_step__can_always_be_removed),
	KUNIT_CASE(rtrs_srv_path_step__each_cell),
	KUNIT_CASE(rtrs_srv_path_step__up_and_down_pair),
	KUNIT_CASE_PARAM(rtrs_path_step__outside_the_table, outside_gen_params),
	KUNIT_CASE(rtrs_path_step__first_value_outside),
	KUNIT_CASE(rtrs_path_names__all),
	{}
};

static struct kunit_suite rtrs_path_fsm_suite = {
	.name = "rtrs_path_fsm",
	.test_cases = rtrs_path_fsm_cases,
};

kunit_test_suite(rtrs_path_fsm_suite);

MODULE_DESCRIPTION("KUnit tests of the RTRS path states");
MODULE_LICENSE("GPL");
