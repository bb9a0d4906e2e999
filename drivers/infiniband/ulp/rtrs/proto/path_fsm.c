// SPDX-License-Identifier: GPL-2.0-only
/*
 * State tables of client and server paths.
 *
 * Rows are states, columns events.  A cell that is not written is empty: the event does not apply.
 * A cell that stays in its state without action is not the same, it accepts the event.
 */
#include "path_fsm.h"

#define WAKE	RTRS_FSM_ACT_WAKE
#define WORK	RTRS_FSM_ACT_WORK
#define UP	RTRS_FSM_ACT_UP
#define DOWN	RTRS_FSM_ACT_DOWN

#define CLT(_next, _actions)	{ true, RTRS_CLT_PATH_##_next, (_actions) }
#define SRV(_next, _actions)	{ true, RTRS_SRV_PATH_##_next, (_actions) }

static const struct rtrs_fsm_step
rtrs_clt_path_steps[RTRS_CLT_PATH_STATE__NR][RTRS_CLT_EV__NR] = {
	[RTRS_CLT_PATH_CONNECTING] = {
		[RTRS_CLT_EV_ESTABLISHED] = CLT(CONNECTED,    WAKE | UP),
		[RTRS_CLT_EV_ERROR]	  = CLT(RECONNECTING, WAKE | WORK),
		[RTRS_CLT_EV_GIVE_UP]	  = CLT(CLOSED,	      WAKE),
		[RTRS_CLT_EV_LINK_UP]	  = CLT(RECONNECTING, WAKE | WORK),
		[RTRS_CLT_EV_CLOSE]	  = CLT(CLOSING,      WAKE | WORK),
	},
	[RTRS_CLT_PATH_CONNECTED] = {
		[RTRS_CLT_EV_ERROR]	  = CLT(RECONNECTING, WAKE | WORK | DOWN),
		[RTRS_CLT_EV_RECONNECT]	  = CLT(RECONNECTING, WAKE | WORK | DOWN),
		[RTRS_CLT_EV_CLOSE]	  = CLT(CLOSING,      WAKE | WORK | DOWN),
	},
	[RTRS_CLT_PATH_RECONNECTING] = {
		[RTRS_CLT_EV_RETRY]	  = CLT(CONNECTING,   WAKE),
		[RTRS_CLT_EV_GIVE_UP]	  = CLT(CLOSED,	      WAKE),
		[RTRS_CLT_EV_RECONNECT]	  = CLT(RECONNECTING, WORK),
		[RTRS_CLT_EV_LINK_UP]	  = CLT(RECONNECTING, WORK),
		[RTRS_CLT_EV_CLOSE]	  = CLT(CLOSING,      WAKE | WORK),
	},
	[RTRS_CLT_PATH_CLOSING] = {
		[RTRS_CLT_EV_CLOSE]	  = CLT(CLOSING,      0),
		[RTRS_CLT_EV_CLOSE_DONE]  = CLT(CLOSED,	      WAKE),
	},
	[RTRS_CLT_PATH_CLOSED] = {
		[RTRS_CLT_EV_RECONNECT]	  = CLT(RECONNECTING, WAKE | WORK),
		[RTRS_CLT_EV_CLOSE]	  = CLT(CLOSED,	      0),
		[RTRS_CLT_EV_REMOVE]	  = CLT(DEAD,	      WAKE),
	},
};

static const struct rtrs_fsm_step
rtrs_srv_path_steps[RTRS_SRV_PATH_STATE__NR][RTRS_SRV_EV__NR] = {
	[RTRS_SRV_PATH_CONNECTING] = {
		[RTRS_SRV_EV_ESTABLISHED] = SRV(CONNECTED,    UP | WAKE),
		[RTRS_SRV_EV_CLOSE]	  = SRV(CLOSING,      WAKE | WORK),
	},
	[RTRS_SRV_PATH_CONNECTED] = {
		[RTRS_SRV_EV_CLOSE]	  = SRV(CLOSING,      WAKE | WORK | DOWN),
	},
	[RTRS_SRV_PATH_CLOSING] = {
		[RTRS_SRV_EV_CLOSE]	  = SRV(CLOSING,      0),
		[RTRS_SRV_EV_CLOSE_DONE]  = SRV(CLOSED,	      WAKE),
	},
	[RTRS_SRV_PATH_CLOSED] = {
		[RTRS_SRV_EV_CLOSE]	  = SRV(CLOSED,	      0),
	},
};

static const char * const rtrs_clt_path_state_names[RTRS_CLT_PATH_STATE__NR] = {
	[RTRS_CLT_PATH_CONNECTING]   = "connecting",
	[RTRS_CLT_PATH_CONNECTED]    = "connected",
	[RTRS_CLT_PATH_RECONNECTING] = "reconnecting",
	[RTRS_CLT_PATH_CLOSING]	     = "closing",
	[RTRS_CLT_PATH_CLOSED]	     = "closed",
	[RTRS_CLT_PATH_DEAD]	     = "dead",
};

static const char * const rtrs_clt_path_event_names[RTRS_CLT_EV__NR] = {
	[RTRS_CLT_EV_ESTABLISHED] = "established",
	[RTRS_CLT_EV_ERROR]	  = "error",
	[RTRS_CLT_EV_RETRY]	  = "retry",
	[RTRS_CLT_EV_GIVE_UP]	  = "give-up",
	[RTRS_CLT_EV_RECONNECT]	  = "reconnect",
	[RTRS_CLT_EV_LINK_UP]	  = "link-up",
	[RTRS_CLT_EV_CLOSE]	  = "close",
	[RTRS_CLT_EV_CLOSE_DONE]  = "close-done",
	[RTRS_CLT_EV_REMOVE]	  = "remove",
};

static const char * const rtrs_srv_path_state_names[RTRS_SRV_PATH_STATE__NR] = {
	[RTRS_SRV_PATH_CONNECTING] = "connecting",
	[RTRS_SRV_PATH_CONNECTED]  = "connected",
	[RTRS_SRV_PATH_CLOSING]	   = "closing",
	[RTRS_SRV_PATH_CLOSED]	   = "closed",
};

static const char * const rtrs_srv_path_event_names[RTRS_SRV_EV__NR] = {
	[RTRS_SRV_EV_ESTABLISHED] = "established",
	[RTRS_SRV_EV_CLOSE]	  = "close",
	[RTRS_SRV_EV_CLOSE_DONE]  = "close-done",
};

static const char *rtrs_fsm_name(const char * const *names, unsigned int nr, unsigned int value)
{
	return value < nr ? names[value] : "unknown";
}

/**
 * rtrs_clt_path_step() - what an event does to a client path
 * @state: state the path is in
 * @event: what happened
 *
 * The life of a path follows protocol section 9.
 *
 * Context: any.  The caller holds the lock that guards the state from reading @state to storing the
 * next one, and runs the actions after it dropped the lock.
 * Return: the cell; not valid if the event does not apply.
 */
struct rtrs_fsm_step rtrs_clt_path_step(enum rtrs_clt_path_state state,
					enum rtrs_clt_path_event event)
{
	static const struct rtrs_fsm_step none;

	if ((unsigned int)state >= RTRS_CLT_PATH_STATE__NR ||
	    (unsigned int)event >= RTRS_CLT_EV__NR)
		return none;
	return rtrs_clt_path_steps[state][event];
}
EXPORT_SYMBOL_GPL(rtrs_clt_path_step);

/**
 * rtrs_srv_path_step() - what an event does to a server path
 * @state: state the path is in
 * @event: what happened
 *
 * The life of a path follows protocol sections 4 and 9.
 *
 * Context: any.  The caller holds the lock that guards the state from reading @state to storing the
 * next one, and runs the actions after it dropped the lock.
 * Return: the cell; not valid if the event does not apply.
 */
struct rtrs_fsm_step rtrs_srv_path_step(enum rtrs_srv_path_state state,
					enum rtrs_srv_path_event event)
{
	static const struct rtrs_fsm_step none;

	if ((unsigned int)state >= RTRS_SRV_PATH_STATE__NR ||
	    (unsigned int)event >= RTRS_SRV_EV__NR)
		return none;
	return rtrs_srv_path_steps[state][event];
}
EXPORT_SYMBOL_GPL(rtrs_srv_path_step);

/**
 * rtrs_clt_path_state_name() - name of a client path's state
 * @state: the state
 *
 * Context: any.
 * Return: one word in lower case, "unknown" for a value that is no state.
 */
const char *rtrs_clt_path_state_name(enum rtrs_clt_path_state state)
{
	return rtrs_fsm_name(rtrs_clt_path_state_names, RTRS_CLT_PATH_STATE__NR, state);
}
EXPORT_SYMBOL_GPL(rtrs_clt_path_state_name);

/**
 * rtrs_clt_path_event_name() - name of a client path's event
 * @event: the event
 *
 * Context: any.
 * Return: one word in lower case, "unknown" for a value that is no event.
 */
const char *rtrs_clt_path_event_name(enum rtrs_clt_path_event event)
{
	return rtrs_fsm_name(rtrs_clt_path_event_names, RTRS_CLT_EV__NR, event);
}
EXPORT_SYMBOL_GPL(rtrs_clt_path_event_name);

/**
 * rtrs_srv_path_state_name() - name of a server path's state
 * @state: the state
 *
 * Context: any.
 * Return: one word in lower case, "unknown" for a value that is no state.
 */
const char *rtrs_srv_path_state_name(enum rtrs_srv_path_state state)
{
	return rtrs_fsm_name(rtrs_srv_path_state_names, RTRS_SRV_PATH_STATE__NR, state);
}
EXPORT_SYMBOL_GPL(rtrs_srv_path_state_name);

/**
 * rtrs_srv_path_event_name() - name of a server path's event
 * @event: the event
 *
 * Context: any.
 * Return: one word in lower case, "unknown" for a value that is no event.
 */
const char *rtrs_srv_path_event_name(enum rtrs_srv_path_event event)
{
	return rtrs_fsm_name(rtrs_srv_path_event_names, RTRS_SRV_EV__NR, event);
}
EXPORT_SYMBOL_GPL(rtrs_srv_path_event_name);
