/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Generic netlink family "rtrs", for the modules that have something to say there.  rtrs-core has the family;
 * the others tell it what there is, in structures, and what happens, in events.
 */
#ifndef _RDMA_RTRS_NL_H
#define _RDMA_RTRS_NL_H

#include <linux/bits.h>
#include <linux/types.h>
#include <uapi/rdma/rtrs_netlink.h>

struct module;
struct rtrs_report;

/* Room for the name of a session, path or device, with NUL. */
#define RTRS_NL_NAME_LEN	256
#define RTRS_NL_ADDR_LEN	64
#define RTRS_NL_DEV_LEN		64

/* Room for a string of a request, with NUL; longer than what is allowed, which others say. */
#define RTRS_NL_TEXT_LEN	512

/**
 * enum rtrs_nl_part_id - modules with a part in the family
 * @RTRS_NL_RTRS_CLIENT: rtrs-client, sessions and paths
 * @RTRS_NL_RTRS_SERVER: rtrs-server, the same
 * @RTRS_NL_RNBD_CLIENT: rnbd-client, mapped devices
 * @RTRS_NL_RNBD_SERVER: rnbd-server, open devices
 * @RTRS_NL_PARTS: number of these
 *
 * Of two modules of a kind the client's comes first.
 */
enum rtrs_nl_part_id {
	RTRS_NL_RTRS_CLIENT,
	RTRS_NL_RTRS_SERVER,
	RTRS_NL_RNBD_CLIENT,
	RTRS_NL_RNBD_SERVER,
	RTRS_NL_PARTS
};

/**
 * struct rtrs_nl_stats - numbers
 * @there: bit for each one that there is
 * @value: index enum rtrs_nl_stat
 */
struct rtrs_nl_stats {
	u32 there;
	u64 value[__RTRS_NL_STAT_MAX];
};

/**
 * rtrs_nl_stat() - set a number
 * @stats: the numbers
 * @stat: which one
 * @value: what it is
 *
 * Context: any.
 */
static inline void rtrs_nl_stat(struct rtrs_nl_stats *stats, enum rtrs_nl_stat stat, u64 value)
{
	stats->there |= BIT(stat);
	stats->value[stat] = value;
}

/**
 * struct rtrs_nl_info - a session, path or device; zero or empty: does not apply
 * @session: name of the session
 * @policy: which path its requests take
 * @nr_paths: its paths
 * @nr_paths_up: of these connected
 * @path: name of the path
 * @state: state of path or device
 * @src: address of the client
 * @dst: address of the server
 * @hca_name: RDMA device
 * @hca_port: its port
 * @loss_reason: why the path was lost last, NULL: never
 * @loss_error: errno of that, not negative
 * @device: block device here
 * @device_path: the name it was asked for by
 * @access_mode: how it is open
 * @nsectors: its size
 * @stats: numbers
 */
struct rtrs_nl_info {
	char session[RTRS_NL_NAME_LEN];
	const char *policy;
	u32 nr_paths;
	u32 nr_paths_up;
	char path[RTRS_NL_NAME_LEN];
	const char *state;
	char src[RTRS_NL_ADDR_LEN];
	char dst[RTRS_NL_ADDR_LEN];
	char hca_name[RTRS_NL_DEV_LEN];
	u32 hca_port;
	const char *loss_reason;
	u32 loss_error;
	char device[RTRS_NL_DEV_LEN];
	char device_path[RTRS_NL_NAME_LEN];
	const char *access_mode;
	u64 nsectors;
	struct rtrs_nl_stats stats;
};

/**
 * struct rtrs_nl_word - an option of a request that changes something
 * @key: its name in sysfs
 * @value: as it is written there; a flag is "1"
 */
struct rtrs_nl_word {
	const char *key;
	const char *value;
};

/**
 * struct rtrs_nl_request - a request that changes something
 * @words: its options, in their order
 * @nr: how many
 * @report: for words if it fails, and for the option that they are about
 */
struct rtrs_nl_request {
	const struct rtrs_nl_word *words;
	unsigned int nr;
	struct rtrs_report *report;
};

/**
 * typedef rtrs_nl_change_t - do what a request asks for
 * @req: the request
 * @info: zero; filled with what there is now, unless nothing is
 *
 * Process context, no lock held, may sleep for as long as a write to sysfs may.
 *
 * Return: 0 or negative errno.
 */
typedef int (*rtrs_nl_change_t)(const struct rtrs_nl_request *req, struct rtrs_nl_info *info);

/**
 * struct rtrs_nl_part - what a module has to show, and to be done in it
 * @owner: the module; it is held while one of these runs
 * @get_session: session of number @sess, counted from 0
 * @get_path: path of number @nr of that session
 * @get_device: device of number @nr of that session
 * @map: map a device
 * @unmap: unmap it
 * @add_path: add a path to a session
 * @del_path: remove it
 *
 * Those that get fill @info, which is zero, and return 0; -ESRCH: the sessions end before @sess; -ENOENT: what it has
 * ends before @nr.  Process context, no lock held, may sleep.  NULL: the module has none of these.
 */
struct rtrs_nl_part {
	struct module *owner;
	int (*get_session)(unsigned int sess, struct rtrs_nl_info *info);
	int (*get_path)(unsigned int sess, unsigned int nr, struct rtrs_nl_info *info);
	int (*get_device)(unsigned int sess, unsigned int nr, struct rtrs_nl_info *info);
	rtrs_nl_change_t map;
	rtrs_nl_change_t unmap;
	rtrs_nl_change_t add_path;
	rtrs_nl_change_t del_path;
};

/**
 * struct rtrs_nl_news - something that happened; zero or NULL: does not apply
 * @event: what
 * @side: where
 * @session: name of the session, not always text that can be printed
 * @path: name of the path
 * @from: its state before
 * @to: its state after, or the step of a fence
 * @cause: event of the table of states
 * @reason: why, for people
 * @error: errno that goes with it, negative or not
 * @device: block device here
 * @device_path: the name it was asked for by
 * @access_mode: how it is open
 * @nsectors: its size
 * @moved: requests sent again
 * @failed: requests failed
 * @gap_ms: for how long the oldest one sent again, or overdue, had been waiting
 */
struct rtrs_nl_news {
	enum rtrs_nl_event event;
	enum rtrs_nl_side side;
	const char *session;
	const char *path;
	const char *from;
	const char *to;
	const char *cause;
	const char *reason;
	int error;
	const char *device;
	const char *device_path;
	const char *access_mode;
	u64 nsectors;
	u32 moved;
	u32 failed;
	u32 gap_ms;
};

const char *rtrs_nl_value(const struct rtrs_nl_request *req, const char *key);
const char *rtrs_nl_want(const struct rtrs_nl_request *req, const char *key);
void rtrs_nl_register(enum rtrs_nl_part_id id, const struct rtrs_nl_part *part);
void rtrs_nl_unregister(enum rtrs_nl_part_id id);
void rtrs_nl_changed(void);
bool rtrs_nl_listened(void);
void rtrs_nl_tell(const struct rtrs_nl_news *news);

#endif /* _RDMA_RTRS_NL_H */
