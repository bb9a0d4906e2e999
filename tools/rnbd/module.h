/* SPDX-License-Identifier: GPL-2.0-only */
/* Kernel modules that are not there. */
#ifndef RNBD_MODULE_H
#define RNBD_MODULE_H

/* What to do about one that is not loaded. */
const char *module_remedy(const char *module);

#endif
