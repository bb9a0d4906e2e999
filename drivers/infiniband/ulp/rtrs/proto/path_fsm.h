/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * State tables of client and server paths.  Pure: a step takes state and event and gives the next
 * state and the actions the caller has to run.  An empty cell means that the event does not apply in
 * that state and changes nothing.
 */
#ifndef _RTRS_PATH_FSM_H
#define _RTRS_PATH_FSM_H

#include "proto_env.h"

/**
 * enum rtrs_clt_path_state - state of a client path
 * @RTRS_CLT_PATH_CONNECTING: an attempt to connect runs
 * @RTRS_CLT_PATH_CONNECTED: carries I/O
 * @RTRS_CLT_PATH_RECONNECTING: lost; is being torn down or waits for the next attempt
 * @RTRS_CLT_PATH_CLOSING: closed by a person or with the session; is being torn down
 * @RTRS_CLT_PATH_CLOSED: no connection, no attempt planned
 * @RTRS_CLT_PATH_DEAD: removed, about to be freed
 * @RTRS_CLT_PATH_STATE__NR: number of states
 */
enum rtrs_clt_path_state {
	RTRS_CLT_PATH_CONNECTING,
	RTRS_CLT_PATH_CONNECTED,
	RTRS_CLT_PATH_RECONNECTING,
	RTRS_CLT_PATH_CLOSING,
	RTRS_CLT_PATH_CLOSED,
	RTRS_CLT_PATH_DEAD,
	RTRS_CLT_PATH_STATE__NR
};

/**
 * enum rtrs_clt_path_event - what can happen to a client path
 * @RTRS_CLT_EV_ESTABLISHED: all connections are up and a valid INFO_RSP came
 * @RTRS_CLT_EV_ERROR: CM error, work completion error, heartbeat lost, device gone, attempt failed
 * @RTRS_CLT_EV_RETRY: the delay is over, start the next attempt
 * @RTRS_CLT_EV_GIVE_UP: no attempts are left, or the server's geometry changed
 * @RTRS_CLT_EV_RECONNECT: a person asked to connect again now
 * @RTRS_CLT_EV_LINK_UP: the network device below has its carrier back, a port or a device has come
 * @RTRS_CLT_EV_CLOSE: a person or the session closes the path
 * @RTRS_CLT_EV_CLOSE_DONE: torn down
 * @RTRS_CLT_EV_REMOVE: the path leaves its session
 * @RTRS_CLT_EV__NR: number of events
 */
enum rtrs_clt_path_event {
	RTRS_CLT_EV_ESTABLISHED,
	RTRS_CLT_EV_ERROR,
	RTRS_CLT_EV_RETRY,
	RTRS_CLT_EV_GIVE_UP,
	RTRS_CLT_EV_RECONNECT,
	RTRS_CLT_EV_LINK_UP,
	RTRS_CLT_EV_CLOSE,
	RTRS_CLT_EV_CLOSE_DONE,
	RTRS_CLT_EV_REMOVE,
	RTRS_CLT_EV__NR
};

/**
 * enum rtrs_srv_path_state - state of a server path
 * @RTRS_SRV_PATH_CONNECTING: collects connections, waits for INFO_REQ
 * @RTRS_SRV_PATH_CONNECTED: serves requests
 * @RTRS_SRV_PATH_CLOSING: takes no more requests, is being torn down
 * @RTRS_SRV_PATH_CLOSED: torn down
 * @RTRS_SRV_PATH_STATE__NR: number of states
 */
enum rtrs_srv_path_state {
	RTRS_SRV_PATH_CONNECTING,
	RTRS_SRV_PATH_CONNECTED,
	RTRS_SRV_PATH_CLOSING,
	RTRS_SRV_PATH_CLOSED,
	RTRS_SRV_PATH_STATE__NR
};

/**
 * enum rtrs_srv_path_event - what can happen to a server path
 * @RTRS_SRV_EV_ESTABLISHED: INFO_REQ was valid, the path may serve
 * @RTRS_SRV_EV_CLOSE: disconnected by the peer, error, handshake timeout, or closed by a person
 * @RTRS_SRV_EV_CLOSE_DONE: torn down
 * @RTRS_SRV_EV__NR: number of events
 */
enum rtrs_srv_path_event {
	RTRS_SRV_EV_ESTABLISHED,
	RTRS_SRV_EV_CLOSE,
	RTRS_SRV_EV_CLOSE_DONE,
	RTRS_SRV_EV__NR
};

/*
 * What a step asks for, of the caller after it dropped the state lock, lowest bit first; UP and DOWN only tell
 * which steps those are.
 */
#define RTRS_FSM_ACT_WAKE	BIT(0)	/* wake who waits for a state */
#define RTRS_FSM_ACT_WORK	BIT(1)	/* run the path's worker now: tear down, connect */
#define RTRS_FSM_ACT_UP		BIT(2)	/* the path starts to count as up */
#define RTRS_FSM_ACT_DOWN	BIT(3)	/* the path stops to count as up */

/**
 * struct rtrs_fsm_step - one cell of a table
 * @valid: the event applies
 * @next: next state
 * @actions: RTRS_FSM_ACT_* to run
 */
struct rtrs_fsm_step {
	bool valid;
	u8 next;
	u8 actions;
};

struct rtrs_fsm_step rtrs_clt_path_step(enum rtrs_clt_path_state state,
					enum rtrs_clt_path_event event);
struct rtrs_fsm_step rtrs_srv_path_step(enum rtrs_srv_path_state state,
					enum rtrs_srv_path_event event);
const char *rtrs_clt_path_state_name(enum rtrs_clt_path_state state);
const char *rtrs_clt_path_event_name(enum rtrs_clt_path_event event);
const char *rtrs_srv_path_state_name(enum rtrs_srv_path_state state);
const char *rtrs_srv_path_event_name(enum rtrs_srv_path_event event);

#endif /* _RTRS_PATH_FSM_H */
