/* SPDX-License-Identifier: GPL-2.0-only */
/* Generic netlink family "rtrs": what its files share. */
#ifndef _RTRS_NL_H
#define _RTRS_NL_H

#include <net/genetlink.h>
#include <rdma/rtrs-nl.h>

/* parts.c */
const struct rtrs_nl_part *rtrs_nl_part_get(enum rtrs_nl_part_id id);
void rtrs_nl_part_put(const struct rtrs_nl_part *part);
u32 rtrs_nl_generation(void);

/* put.c */
int rtrs_nl_put_text(struct sk_buff *skb, int attr, const char *text);
int rtrs_nl_put_info(struct sk_buff *skb, enum rtrs_nl_side side, const struct rtrs_nl_info *info);

/* dump.c */
int rtrs_nl_start_sessions(struct netlink_callback *cb);
int rtrs_nl_start_paths(struct netlink_callback *cb);
int rtrs_nl_start_devices(struct netlink_callback *cb);
int rtrs_nl_dump(struct sk_buff *skb, struct netlink_callback *cb);

/* change.c */
int rtrs_nl_change(struct sk_buff *skb, struct genl_info *info);
int rtrs_nl_change_init(const struct genl_family *family);
void rtrs_nl_change_exit(void);

/* event.c */
void rtrs_nl_event_init(const struct genl_family *family);
void rtrs_nl_event_exit(void);

/* family.c */
int rtrs_nl_init(void);
void rtrs_nl_exit(void);

#endif /* _RTRS_NL_H */
