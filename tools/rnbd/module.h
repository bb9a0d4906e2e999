/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel modules that are not there, and what a kernel that was booted with Secure Boot refuses. */
#ifndef RNBD_MODULE_H
#define RNBD_MODULE_H

#include <stdbool.h>

/* Such a kernel lets no file of debugfs be written, among other things. */
bool kernel_locked_down(void);
/* What to do about one that is not loaded. */
const char *module_remedy(const char *module);

#endif
