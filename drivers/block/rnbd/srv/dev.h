/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _RNBD_SRV_DEV_H
#define _RNBD_SRV_DEV_H

#include "srv.h"

/**
 * struct rnbd_srv_msg - a SESS_INFO, OPEN or CLOSE that waits for its turn or for its answer
 * @entry: in the queue or the OPENs of the session, or in close_ops of a device
 * @sess: an OPEN's session, on which it holds a count
 * @work: runs an OPEN
 * @open: what an OPEN asks for
 * @started: Q: @work is queued or runs
 * @id: the transport's request
 * @data: result area
 * @data_len: bytes at @data
 * @usr_len: bytes in @usr
 * @usr: private copy of the user message
 */
struct rnbd_srv_msg {
	struct list_head entry;
	struct rnbd_srv_sess *sess;
	struct work_struct work;
	struct rnbd_srv_open_req open;
	bool started;
	struct rtrs_srv_op *id;
	void *data;
	size_t data_len;
	size_t usr_len;
	u8 usr[sizeof(struct rnbd_msg_open)];
};

/**
 * struct rnbd_srv_opened - what the answer to an OPEN tells
 * @id: handle of the device
 * @lim: its limits
 * @identity: which disk it is
 */
struct rnbd_srv_opened {
	u32 id;
	struct rnbd_srv_limits lim;
	struct rnbd_identity identity;
};

int rnbd_srv_devs_init(const char *search_path, const struct kobj_type *type);
void rnbd_srv_devs_exit(void);

int rnbd_srv_dev_open(struct rnbd_srv_sess *sess, const struct rnbd_srv_open_req *req,
		      struct rnbd_srv_opened *opened, enum rnbd_srv_verdict *verdict);
bool rnbd_srv_dev_reopen(struct rnbd_srv_sess *sess, const struct rnbd_srv_open_req *req,
			 struct rnbd_srv_opened *opened, enum rnbd_srv_verdict *verdict);
bool rnbd_srv_dev_close(struct rnbd_srv_sess *sess, u32 id, struct rnbd_srv_msg *msg);
void rnbd_srv_dev_close_all(struct rnbd_srv_sess *sess);
struct rnbd_srv_dev *rnbd_srv_dev_get_io(struct rnbd_srv_sess *sess, u32 id);

void rnbd_srv_dev_hold(struct rnbd_srv_dev *dev);
void rnbd_srv_dev_unhold(struct rnbd_srv_dev *dev);
int rnbd_srv_dev_force_close(struct rnbd_srv_dev *dev);
void rnbd_srv_dev_free(struct rnbd_srv_dev *dev);

#endif /* _RNBD_SRV_DEV_H */
