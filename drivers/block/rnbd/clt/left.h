/* SPDX-License-Identifier: GPL-2.0-only */
/* What the server may have open although nobody has it mapped any more. */
#ifndef _RNBD_CLT_LEFT_H
#define _RNBD_CLT_LEFT_H

#include "types.h"

struct rnbd_clt_left *rnbd_clt_left_alloc(struct rnbd_clt_sess *sess, const char *path);
void rnbd_clt_left_keep_slot(struct rnbd_clt_left *left, struct rnbd_clt_slot *slot,
			     struct rtrs_clt_sess *rtrs, struct rtrs_permit *permit);
void rnbd_clt_left_put_slots(struct rnbd_clt_left *left);
void rnbd_clt_left_put_all_slots(struct rnbd_clt_sess *sess);
void rnbd_clt_left_free(struct rnbd_clt_left *left);
void rnbd_clt_left_keep(struct rnbd_clt_left *left);
void rnbd_clt_left_queue(struct rnbd_clt_sess *sess, unsigned long delay);
void rnbd_clt_left_work(struct work_struct *work);
void rnbd_clt_left_drop_all(struct rnbd_clt_sess *sess);

#endif /* _RNBD_CLT_LEFT_H */
