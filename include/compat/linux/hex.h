/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_LINUX_HEX_H
#define _COMPAT_LINUX_HEX_H

#ifdef HAVE_HEX_H
#include_next <linux/hex.h>
#else
#include <linux/kernel.h>
#endif

#endif /* _COMPAT_LINUX_HEX_H */
