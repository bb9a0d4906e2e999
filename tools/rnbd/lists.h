/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef RNBD_LISTS_H
#define RNBD_LISTS_H

#include "rnbd.h"

void print_mapped(const struct args *args, const struct words *disks);

#endif
