/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _RNBD_SRV_SESS_H
#define _RNBD_SRV_SESS_H

#include "srv.h"

struct seq_file;

int rnbd_srv_sessions_init(void);
void rnbd_srv_sessions_exit(void);
void rnbd_srv_sessions_show(struct seq_file *seq);

struct rnbd_srv_sess *rnbd_srv_sess_get_nth(unsigned int nr);
struct rnbd_srv_sess *rnbd_srv_sess_create(struct rtrs_srv_sess *rtrs);
void rnbd_srv_sess_destroy(struct rnbd_srv_sess *sess);
void rnbd_srv_sess_overdue(struct rnbd_srv_sess *sess, const struct rtrs_srv_op *id, unsigned int secs);
int rnbd_srv_sess_queue(struct rnbd_srv_sess *sess, struct rtrs_srv_op *id, void *data,
			size_t data_len, const void *usr, size_t usr_len);
int rnbd_srv_sess_io(struct rnbd_srv_sess *sess, struct rtrs_srv_op *id, void *data,
		     size_t data_len, const void *usr, size_t usr_len);
int rnbd_srv_sess_refuse_type(struct rnbd_srv_sess *sess, int type, size_t usr_len);

#endif /* _RNBD_SRV_SESS_H */
