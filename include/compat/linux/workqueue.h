/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_LINUX_WORKQUEUE_H
#define _COMPAT_LINUX_WORKQUEUE_H

#include_next <linux/workqueue.h>

/* Whatever is not unbound is bound. */
#ifndef HAVE_WQ_PERCPU
#define WQ_PERCPU	0
#endif

#ifndef HAVE_SYSTEM_DFL_WQ
#define system_dfl_wq	system_unbound_wq
#endif

#endif /* _COMPAT_LINUX_WORKQUEUE_H */
