/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _COMPAT_LINUX_FS_STRUCT_H
#define _COMPAT_LINUX_FS_STRUCT_H

#include_next <linux/fs_struct.h>

/* Kernel threads have init's root anyway. */
#ifndef HAVE_SCOPED_WITH_INIT_FS
#define scoped_with_init_fs()
#endif

#endif /* _COMPAT_LINUX_FS_STRUCT_H */
