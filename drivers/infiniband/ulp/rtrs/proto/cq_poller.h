/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who polls a completion queue: one at a time, and no event is lost.
 *
 * Each step is one atomic change of the state (verbs/cq.c).  tests/cq_poller_kunit.c explores all orders of them.
 */
#ifndef _RTRS_CQ_POLLER_H
#define _RTRS_CQ_POLLER_H

/**
 * enum rtrs_cq_state - has a completion queue a poller
 * @RTRS_CQ_IDLE: nobody polls, and an event is asked for
 * @RTRS_CQ_POLLED: somebody polls, or a work that is to poll is queued
 * @RTRS_CQ_POLLED_EVENT: the same, and an event has come that the poller may not have seen the cause of
 */
enum rtrs_cq_state {
	RTRS_CQ_IDLE,
	RTRS_CQ_POLLED,
	RTRS_CQ_POLLED_EVENT,
};

/**
 * rtrs_cq_step_event() - an event has come
 * @state: enum rtrs_cq_state
 *
 * Context: any.
 * Return: the next state; who steps from RTRS_CQ_IDLE is the poller from now on.
 */
static inline int rtrs_cq_step_event(int state)
{
	return state == RTRS_CQ_IDLE ? RTRS_CQ_POLLED : RTRS_CQ_POLLED_EVENT;
}

/**
 * rtrs_cq_step_release() - the poller has found the queue empty and has asked for an event since
 * @state: enum rtrs_cq_state, not RTRS_CQ_IDLE
 *
 * The event is forgotten only by who polls again after it, and is the poller meanwhile.
 *
 * Context: any.
 * Return: the next state; who steps to RTRS_CQ_IDLE is the poller no longer, else it polls again.
 */
static inline int rtrs_cq_step_release(int state)
{
	return state == RTRS_CQ_POLLED_EVENT ? RTRS_CQ_POLLED : RTRS_CQ_IDLE;
}

#endif /* _RTRS_CQ_POLLER_H */
