/* SPDX-License-Identifier: GPL-2.0-only */
/* Control messages: claim, send, wait, release. */
#ifndef _RNBD_CLT_MSG_H
#define _RNBD_CLT_MSG_H

#include "types.h"

int rnbd_clt_msg_init_wq(void);
void rnbd_clt_msg_exit_wq(void);

int rnbd_clt_msg_init(struct rnbd_clt_msg *msg, struct rnbd_clt_sess *sess,
		      void (*done)(struct rnbd_clt_msg *msg));
void rnbd_clt_msg_exit(struct rnbd_clt_msg *msg);
int rnbd_clt_msg_claim(struct rnbd_clt_msg *msg, const bool *stop, unsigned long timeout);
int rnbd_clt_msg_send(struct rnbd_clt_msg *msg, const bool *stop);
int rnbd_clt_msg_wait(struct rnbd_clt_msg *msg, const bool *stop, unsigned long timeout);
void rnbd_clt_msg_forget_past(const struct rnbd_clt_msg *msg);
void rnbd_clt_msg_release(struct rnbd_clt_msg *msg);

#endif /* _RNBD_CLT_MSG_H */
