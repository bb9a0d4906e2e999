/* SPDX-License-Identifier: GPL-2.0-only */
/* Sessions: found or made by name, torn down with their last user, told when the link goes and comes. */
#ifndef _RNBD_CLT_SESS_H
#define _RNBD_CLT_SESS_H

#include "types.h"

/**
 * struct rnbd_clt_sess_params - how to reach a server
 * @name: name of the session
 * @paths: addresses
 * @nr_paths: how many; 0 is only good for a session that exists
 * @port: destination port
 * @nr_poll_queues: hardware queues for polled I/O; other than 0 only for a new session
 * @timing: how soon a new session notices that a path is lost
 * @timing_given: which of these somebody asked for, by enum rtrs_clt_timing_index; a session that exists
 *	must have them
 * @report: for words if it fails, NULL: nobody wants them
 */
struct rnbd_clt_sess_params {
	const char *name;
	const struct rtrs_addr *paths;
	unsigned int nr_paths;
	u16 port;
	u32 nr_poll_queues;
	const struct rtrs_clt_timing *timing;
	u32 timing_given;
	struct rtrs_report *report;
};

int rnbd_clt_sess_init_wq(void);
void rnbd_clt_sess_exit_wq(void);

struct rnbd_clt_sess *rnbd_clt_sess_get(const struct rnbd_clt_sess_params *params);
void rnbd_clt_sess_put(struct rnbd_clt_sess *sess);
void rnbd_clt_sess_cut(struct rnbd_clt_sess *sess);
struct rnbd_clt_sess *rnbd_clt_sess_get_nth(unsigned int nr);
struct rnbd_clt_dev *rnbd_clt_sess_any_dev(void);
struct rnbd_clt_dev *rnbd_clt_sess_find_dev(const char *disk);

void rnbd_clt_sess_queue_tell_work(struct rnbd_clt_dev *dev);
void rnbd_clt_sess_queue_link_work(struct rnbd_clt_dev *dev);
void rnbd_clt_sess_queue_open(struct rnbd_clt_dev *dev);

#endif /* _RNBD_CLT_SESS_H */
