/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _UNIT_LINUX_SOCKET_H
#define _UNIT_LINUX_SOCKET_H

#include <sys/socket.h>

#endif /* _UNIT_LINUX_SOCKET_H */
