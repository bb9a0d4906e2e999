/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * Generic netlink family "rtrs": sessions, paths and devices, and what becomes of them.
 * Documentation/netlink/specs/rtrs.yaml says the same; Documentation/admin-guide/netlink.rst explains it.
 */
#ifndef _UAPI_RDMA_RTRS_NETLINK_H
#define _UAPI_RDMA_RTRS_NETLINK_H

#define RTRS_NL_FAMILY_NAME	"rtrs"
#define RTRS_NL_FAMILY_VERSION	1
#define RTRS_NL_MCGRP_EVENTS	"events"

/**
 * enum rtrs_nl_cmd - messages of the family
 * @RTRS_NL_CMD_UNSPEC: none
 * @RTRS_NL_CMD_SESSION_GET: dump of sessions
 * @RTRS_NL_CMD_PATH_GET: dump of paths
 * @RTRS_NL_CMD_DEVICE_GET: dump of block devices: mapped ones of a client, open ones of a server
 * @RTRS_NL_CMD_EVENT: to group "events": something happened
 * @RTRS_NL_CMD_DEVICE_MAP: map a device; the answer is what a dump of devices has of it
 * @RTRS_NL_CMD_DEVICE_UNMAP: unmap it
 * @RTRS_NL_CMD_PATH_ADD: add a path to a session; the answer is what a dump of paths has of it
 * @RTRS_NL_CMD_PATH_DEL: remove it
 * @__RTRS_NL_CMD_MAX: one more than the last
 * @RTRS_NL_CMD_MAX: the last
 */
enum rtrs_nl_cmd {
	RTRS_NL_CMD_UNSPEC,
	RTRS_NL_CMD_SESSION_GET,
	RTRS_NL_CMD_PATH_GET,
	RTRS_NL_CMD_DEVICE_GET,
	RTRS_NL_CMD_EVENT,
	RTRS_NL_CMD_DEVICE_MAP,
	RTRS_NL_CMD_DEVICE_UNMAP,
	RTRS_NL_CMD_PATH_ADD,
	RTRS_NL_CMD_PATH_DEL,

	__RTRS_NL_CMD_MAX,
	RTRS_NL_CMD_MAX = __RTRS_NL_CMD_MAX - 1
};

/**
 * enum rtrs_nl_side - which end of a session
 * @RTRS_NL_SIDE_CLIENT: of rtrs-client and rnbd-client
 * @RTRS_NL_SIDE_SERVER: of rtrs-server and rnbd-server
 */
enum rtrs_nl_side {
	RTRS_NL_SIDE_CLIENT,
	RTRS_NL_SIDE_SERVER,
};

/**
 * enum rtrs_nl_event - what happened
 * @RTRS_NL_EVENT_PATH: a path stepped from one state to another
 * @RTRS_NL_EVENT_FAILOVER: what a lost path owed was sent again over others, or failed
 * @RTRS_NL_EVENT_FENCE: the server is asked to close a lost path, has done so, or cannot be asked
 * @RTRS_NL_EVENT_SESSION_OPENED: a session is there
 * @RTRS_NL_EVENT_SESSION_CLOSED: it is gone
 * @RTRS_NL_EVENT_DEVICE_MAPPED: a client has a new block device
 * @RTRS_NL_EVENT_DEVICE_UNMAPPED: it has it no more
 * @RTRS_NL_EVENT_DEVICE_LOST: no path leads to the device
 * @RTRS_NL_EVENT_DEVICE_BACK: it is open again
 * @RTRS_NL_EVENT_DEVICE_FAILED: the server does not open it again; it is asked until it does, unless there is a
 *	reason
 * @RTRS_NL_EVENT_DEVICE_RESIZED: it has another size by an administrator's word
 * @RTRS_NL_EVENT_DEVICE_OPENED: a client opened a device of the server
 * @RTRS_NL_EVENT_DEVICE_CLOSED: the server closed it
 * @RTRS_NL_EVENT_DEVICE_SLOW: a request of the device takes longer than its io_timeout
 * @RTRS_NL_EVENT_DEVICE_ANSWERS: none does any more
 */
enum rtrs_nl_event {
	RTRS_NL_EVENT_PATH,
	RTRS_NL_EVENT_FAILOVER,
	RTRS_NL_EVENT_FENCE,
	RTRS_NL_EVENT_SESSION_OPENED,
	RTRS_NL_EVENT_SESSION_CLOSED,
	RTRS_NL_EVENT_DEVICE_MAPPED,
	RTRS_NL_EVENT_DEVICE_UNMAPPED,
	RTRS_NL_EVENT_DEVICE_LOST,
	RTRS_NL_EVENT_DEVICE_BACK,
	RTRS_NL_EVENT_DEVICE_FAILED,
	RTRS_NL_EVENT_DEVICE_RESIZED,
	RTRS_NL_EVENT_DEVICE_OPENED,
	RTRS_NL_EVENT_DEVICE_CLOSED,
	RTRS_NL_EVENT_DEVICE_SLOW,
	RTRS_NL_EVENT_DEVICE_ANSWERS,
};

/**
 * enum rtrs_nl_attr - attributes of all messages; strings end in NUL
 * @RTRS_NL_A_UNSPEC: none
 * @RTRS_NL_A_PAD: padding, nothing else
 * @RTRS_NL_A_SIDE: u32, enum rtrs_nl_side. In a request: only of this side
 * @RTRS_NL_A_SESSION: string, name of a session. In a request for a dump: only of this one
 * @RTRS_NL_A_PATH: string, name of a path, "source@destination" as in sysfs
 * @RTRS_NL_A_STATE: string, state of a path or device
 * @RTRS_NL_A_SRC: string, address of the client
 * @RTRS_NL_A_DST: string, address of the server
 * @RTRS_NL_A_HCA_NAME: string, RDMA device
 * @RTRS_NL_A_HCA_PORT: u32, its port
 * @RTRS_NL_A_POLICY: string, which path a request takes, as in sysfs
 * @RTRS_NL_A_PATHS: u32, paths of a session
 * @RTRS_NL_A_PATHS_UP: u32, of these connected
 * @RTRS_NL_A_STATS: nest of enum rtrs_nl_stat
 * @RTRS_NL_A_DEVICE: string, block device on this host
 * @RTRS_NL_A_DEVICE_PATH: string, the name it was asked for by
 * @RTRS_NL_A_ACCESS_MODE: string, ro, rw or migration
 * @RTRS_NL_A_SECTORS: u64, size in sectors of 512 bytes
 * @RTRS_NL_A_EVENT: u32, enum rtrs_nl_event
 * @RTRS_NL_A_SEQ: u32, number of the event: where one is left out an event got lost
 * @RTRS_NL_A_TIME: u64, when it happened, nanoseconds since 1970
 * @RTRS_NL_A_FROM: string, state before
 * @RTRS_NL_A_TO: string, state after, or step of a fence
 * @RTRS_NL_A_CAUSE: string, event of the table of states
 * @RTRS_NL_A_REASON: string, why, for people. Of a path in a dump: why it was lost last
 * @RTRS_NL_A_ERROR: u32, errno that goes with it
 * @RTRS_NL_A_MOVED: u32, requests sent again
 * @RTRS_NL_A_FAILED: u32, requests failed
 * @RTRS_NL_A_GAP_MS: u32, for how long the oldest one sent again, or overdue, had been waiting, milliseconds
 * @RTRS_NL_A_ADDRESS: string, "[source,]destination" as for map_device, where to a path shall lead; several of them
 *	map a device over several paths
 * @RTRS_NL_A_DEST_PORT: u32, port of the server
 * @RTRS_NL_A_POLL_QUEUES: s32, hardware queues for polled I/O, -1: as many as there can be
 * @RTRS_NL_A_NO_PATH_TIMEOUT: s32, seconds that requests wait for a path, -1: for ever
 * @RTRS_NL_A_HB_INTERVAL_MS: u32, time between two heartbeats, milliseconds
 * @RTRS_NL_A_HB_MISSED_MAX: u32, heartbeats missed before a path is given up
 * @RTRS_NL_A_ACK_TIMEOUT_MS: u32, time that the device waits for an acknowledgement, milliseconds
 * @RTRS_NL_A_RETRY_COUNT: u32, how often it sends again
 * @RTRS_NL_A_CONNECT_TIMEOUT_MS: u32, time that connecting may take, milliseconds
 * @RTRS_NL_A_FORCE: flag, also if the device is in use
 * @RTRS_NL_A_REQUEST_TIMEOUT: u32, seconds that a request may take in all, 0: any time
 * @__RTRS_NL_A_MAX: one more than the last
 * @RTRS_NL_A_MAX: the last
 */
enum rtrs_nl_attr {
	RTRS_NL_A_UNSPEC,
	RTRS_NL_A_PAD,
	RTRS_NL_A_SIDE,
	RTRS_NL_A_SESSION,
	RTRS_NL_A_PATH,
	RTRS_NL_A_STATE,
	RTRS_NL_A_SRC,
	RTRS_NL_A_DST,
	RTRS_NL_A_HCA_NAME,
	RTRS_NL_A_HCA_PORT,
	RTRS_NL_A_POLICY,
	RTRS_NL_A_PATHS,
	RTRS_NL_A_PATHS_UP,
	RTRS_NL_A_STATS,
	RTRS_NL_A_DEVICE,
	RTRS_NL_A_DEVICE_PATH,
	RTRS_NL_A_ACCESS_MODE,
	RTRS_NL_A_SECTORS,
	RTRS_NL_A_EVENT,
	RTRS_NL_A_SEQ,
	RTRS_NL_A_TIME,
	RTRS_NL_A_FROM,
	RTRS_NL_A_TO,
	RTRS_NL_A_CAUSE,
	RTRS_NL_A_REASON,
	RTRS_NL_A_ERROR,
	RTRS_NL_A_MOVED,
	RTRS_NL_A_FAILED,
	RTRS_NL_A_GAP_MS,
	RTRS_NL_A_ADDRESS,
	RTRS_NL_A_DEST_PORT,
	RTRS_NL_A_POLL_QUEUES,
	RTRS_NL_A_NO_PATH_TIMEOUT,
	RTRS_NL_A_HB_INTERVAL_MS,
	RTRS_NL_A_HB_MISSED_MAX,
	RTRS_NL_A_ACK_TIMEOUT_MS,
	RTRS_NL_A_RETRY_COUNT,
	RTRS_NL_A_CONNECT_TIMEOUT_MS,
	RTRS_NL_A_FORCE,
	RTRS_NL_A_REQUEST_TIMEOUT,

	__RTRS_NL_A_MAX,
	RTRS_NL_A_MAX = __RTRS_NL_A_MAX - 1
};

/**
 * enum rtrs_nl_stat - numbers of a session or path, each a u64; what a side does not count is left out
 * @RTRS_NL_STAT_UNSPEC: none
 * @RTRS_NL_STAT_PAD: padding, nothing else
 * @RTRS_NL_STAT_READS: reads
 * @RTRS_NL_STAT_READ_BYTES: their bytes
 * @RTRS_NL_STAT_WRITES: writes
 * @RTRS_NL_STAT_WRITTEN_BYTES: their bytes
 * @RTRS_NL_STAT_INFLIGHT: requests under way now
 * @RTRS_NL_STAT_LATENCY_NS: round trip of the last heartbeat, nanoseconds; 0: not measured yet
 * @RTRS_NL_STAT_RESENT: requests taken over from other paths
 * @RTRS_NL_STAT_LOST: how often the path was lost
 * @RTRS_NL_STAT_RECONNECTS: how often it came back
 * @RTRS_NL_STAT_RECONNECTS_FAILED: attempts that failed
 * @RTRS_NL_STAT_TIMEOUTS: losses because a request got no answer in time
 * @RTRS_NL_STAT_FENCES: losses that the server has closed its end for
 * @RTRS_NL_STAT_UNFENCED: losses that no path was left to ask over
 * @RTRS_NL_STAT_FAILOVERS: losses whose requests went to other paths
 * @RTRS_NL_STAT_OVERDUE: how often a request took longer than io_timeout
 * @RTRS_NL_STAT_ANSWERS_LOST: requests sent again because the server had none and no answer came
 * @RTRS_NL_STAT_SLOW_S: of a device, for how long its oldest overdue request has been waiting, seconds
 * @__RTRS_NL_STAT_MAX: one more than the last
 * @RTRS_NL_STAT_MAX: the last
 */
enum rtrs_nl_stat {
	RTRS_NL_STAT_UNSPEC,
	RTRS_NL_STAT_PAD,
	RTRS_NL_STAT_READS,
	RTRS_NL_STAT_READ_BYTES,
	RTRS_NL_STAT_WRITES,
	RTRS_NL_STAT_WRITTEN_BYTES,
	RTRS_NL_STAT_INFLIGHT,
	RTRS_NL_STAT_LATENCY_NS,
	RTRS_NL_STAT_RESENT,
	RTRS_NL_STAT_LOST,
	RTRS_NL_STAT_RECONNECTS,
	RTRS_NL_STAT_RECONNECTS_FAILED,
	RTRS_NL_STAT_TIMEOUTS,
	RTRS_NL_STAT_FENCES,
	RTRS_NL_STAT_UNFENCED,
	RTRS_NL_STAT_FAILOVERS,
	RTRS_NL_STAT_OVERDUE,
	RTRS_NL_STAT_ANSWERS_LOST,
	RTRS_NL_STAT_SLOW_S,

	__RTRS_NL_STAT_MAX,
	RTRS_NL_STAT_MAX = __RTRS_NL_STAT_MAX - 1
};

#endif /* _UAPI_RDMA_RTRS_NETLINK_H */
