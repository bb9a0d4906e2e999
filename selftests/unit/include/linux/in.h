/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _UNIT_LINUX_IN_H
#define _UNIT_LINUX_IN_H

#include <netinet/in.h>

#endif /* _UNIT_LINUX_IN_H */
