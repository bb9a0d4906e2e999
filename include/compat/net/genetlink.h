/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_NET_GENETLINK_H
#define _COMPAT_NET_GENETLINK_H

#include_next <net/genetlink.h>

/* Its result has family and attrs by these names too. */
#ifndef HAVE_GENL_INFO_DUMP
#define genl_info_dump(cb)	genl_dumpit_info(cb)
#endif

#endif /* _COMPAT_NET_GENETLINK_H */
