// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exploration of who polls a completion queue: all orders in which the steps of three events and of the works that they
 * queue can happen.
 *
 * The device has failed: a driver completes what is left in software, one completion after the other, and calls the
 * handler of events for each, whether one was asked for or not; and asking for one never tells that there is more.
 */
#include <kunit/test.h>
#include "../proto/cq_poller.h"

#define NR_EVENTS	3
#define NR_WORKERS	2
#define NR_VISITED	(1 << 15)

/* Where an event is. */
enum { EV_COMPLETE, EV_CALL, EV_CALL_2, EV_CALL_3, EV_QUEUE, EV_DONE };
/* Where a work is. */
enum { WK_NONE, WK_POLL, WK_RELEASE, WK_TEST, WK_BECOME };

/**
 * struct model - a moment
 * @pending: completions that nobody has polled
 * @queued: works that are queued
 * @state: of the queue
 * @event: where the events are
 * @worker: where the works are that run
 */
struct model {
	u8 pending;
	u8 queued;
	u8 state;
	u8 event[NR_EVENTS];
	u8 worker[NR_WORKERS];
};

/**
 * struct steps - an algorithm
 * @event: next step of a handler of events; true if it was one
 * @worker: next step of a work that has polled and found the queue empty
 */
struct steps {
	void (*event)(struct model *m, int i);
	void (*worker)(struct model *m, int i);
};

/**
 * struct explorer - what was seen
 * @steps: the algorithm
 * @lost: moments in which nothing will happen and a completion is left
 * @concurrent: moments in which two poll
 * @ends: moments in which nothing will happen
 * @nr: moments
 * @visited: hash table of moments
 */
struct explorer {
	const struct steps *steps;
	int lost;
	int concurrent;
	int ends;
	int nr;
	u32 visited[NR_VISITED];
};

static struct explorer explorer;

static u32 model_word(const struct model *m)
{
	u32 word = 1;
	int i;

	for (i = 0; i < NR_EVENTS; i++)
		word = word << 3 | m->event[i];
	for (i = 0; i < NR_WORKERS; i++)
		word = word << 3 | m->worker[i];
	return ((word << 2 | m->pending) << 2 | m->queued) << 2 | m->state;
}

/* Was it seen before?  From now on it was. */
static bool explorer_saw(const struct model *m)
{
	u32 word = model_word(m), i = word * 2654435761U >> 17;

	while (explorer.visited[i]) {
		if (explorer.visited[i] == word)
			return true;
		i = (i + 1) % NR_VISITED;
	}
	explorer.visited[i] = word;
	explorer.nr++;
	return false;
}

static bool step_event(struct model *m, int i)
{
	switch (m->event[i]) {
	case EV_DONE:
		return false;
	case EV_COMPLETE:
		m->pending++;
		m->event[i] = EV_CALL;
		break;
	case EV_QUEUE:
		m->queued++;
		m->event[i] = EV_DONE;
		break;
	default:
		explorer.steps->event(m, i);
	}
	return true;
}

static bool step_worker(struct model *m, int i)
{
	switch (m->worker[i]) {
	case WK_NONE:
		if (!m->queued)
			return false;
		m->queued--;
		m->worker[i] = WK_POLL;
		break;
	case WK_POLL:
		/* It polls until it finds nothing. */
		if (m->pending)
			m->pending = 0;
		else
			m->worker[i] = WK_RELEASE;
		break;
	default:
		explorer.steps->worker(m, i);
	}
	return true;
}

static void explore(const struct model *m)
{
	int i, nr_polling = 0;
	bool any = false;
	struct model next;

	if (explorer.nr == NR_VISITED / 2 || explorer_saw(m))
		return;
	for (i = 0; i < NR_WORKERS; i++)
		nr_polling += m->worker[i] == WK_POLL;
	explorer.concurrent += nr_polling > 1;
	for (i = 0; i < NR_EVENTS; i++) {
		next = *m;
		if (!step_event(&next, i))
			continue;
		explore(&next);
		any = true;
	}
	for (i = 0; i < NR_WORKERS; i++) {
		next = *m;
		if (!step_worker(&next, i))
			continue;
		explore(&next);
		any = true;
	}
	explorer.ends += !any;
	explorer.lost += !any && m->pending;
}

static void explore_all(struct kunit *test, const struct steps *steps)
{
	struct model start = {};

	memset(&explorer, 0, sizeof(explorer));
	explorer.steps = steps;
	explore(&start);
	KUNIT_EXPECT_LT(test, explorer.nr, NR_VISITED / 2);
	KUNIT_EXPECT_GT(test, explorer.nr, 100);
	KUNIT_EXPECT_GT(test, explorer.ends, 0);
}

/* As verbs/cq.c has it: each side changes the state at once. */
static void now_event(struct model *m, int i)
{
	int old = m->state;

	m->state = rtrs_cq_step_event(old);
	m->event[i] = old == RTRS_CQ_IDLE ? EV_QUEUE : EV_DONE;
}

static void now_worker(struct model *m, int i)
{
	int old = m->state;

	m->state = rtrs_cq_step_release(old);
	m->worker[i] = old == RTRS_CQ_POLLED_EVENT ? WK_POLL : WK_NONE;
}

static const struct steps now_steps = { now_event, now_worker };

static void rtrs_cq_steps__no_event_is_lost(struct kunit *test)
{
	explore_all(test, &now_steps);
	KUNIT_EXPECT_EQ(test, explorer.lost, 0);
	KUNIT_EXPECT_EQ(test, explorer.concurrent, 0);
}

/* As it was: two bits, and the event forgotten by whoever sees it.  Shows that the exploration finds what it is for. */
#define OLD_POLLER	1
#define OLD_EVENT	2

static bool old_become_poller(struct model *m)
{
	bool was = m->state & OLD_POLLER;

	m->state |= OLD_POLLER;
	return !was;
}

static void old_event(struct model *m, int i)
{
	switch (m->event[i]) {
	case EV_CALL:
		m->event[i] = old_become_poller(m) ? EV_QUEUE : EV_CALL_2;
		break;
	case EV_CALL_2:
		m->state |= OLD_EVENT;
		m->event[i] = EV_CALL_3;
		break;
	default:
		m->event[i] = old_become_poller(m) ? EV_QUEUE : EV_DONE;
	}
}

static void old_worker(struct model *m, int i)
{
	switch (m->worker[i]) {
	case WK_RELEASE:
		m->state &= ~OLD_POLLER;
		m->worker[i] = WK_TEST;
		break;
	case WK_TEST:
		m->worker[i] = m->state & OLD_EVENT ? WK_BECOME : WK_NONE;
		m->state &= ~OLD_EVENT;
		break;
	default:
		m->worker[i] = old_become_poller(m) ? WK_POLL : WK_NONE;
	}
}

static const struct steps old_steps = { old_event, old_worker };

static void rtrs_cq_steps__old_order_loses_one(struct kunit *test)
{
	explore_all(test, &old_steps);
	KUNIT_EXPECT_GT(test, explorer.lost, 0);
	KUNIT_EXPECT_EQ(test, explorer.concurrent, 0);
}

static void rtrs_cq_steps__table(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, rtrs_cq_step_event(RTRS_CQ_IDLE), (int)RTRS_CQ_POLLED);
	KUNIT_EXPECT_EQ(test, rtrs_cq_step_event(RTRS_CQ_POLLED), (int)RTRS_CQ_POLLED_EVENT);
	KUNIT_EXPECT_EQ(test, rtrs_cq_step_event(RTRS_CQ_POLLED_EVENT), (int)RTRS_CQ_POLLED_EVENT);
	KUNIT_EXPECT_EQ(test, rtrs_cq_step_release(RTRS_CQ_POLLED), (int)RTRS_CQ_IDLE);
	KUNIT_EXPECT_EQ(test, rtrs_cq_step_release(RTRS_CQ_POLLED_EVENT), (int)RTRS_CQ_POLLED);
}

static struct kunit_case rtrs_cq_poller_cases[] = {
	KUNIT_CASE(rtrs_cq_steps__table),
	KUNIT_CASE(rtrs_cq_steps__no_event_is_lost),
	KUNIT_CASE(rtrs_cq_steps__old_order_loses_one),
	{}
};

static struct kunit_suite rtrs_cq_poller_suite = {
	.name = "rtrs_cq_poller",
	.test_cases = rtrs_cq_poller_cases,
};

kunit_test_suite(rtrs_cq_poller_suite);

MODULE_DESCRIPTION("KUnit tests of who polls a completion queue");
MODULE_LICENSE("GPL");
