/* SPDX-License-Identifier: GPL-2.0-only */
/* What udev knows of block devices. */
#ifndef RNBD_UDEV_H
#define RNBD_UDEV_H

const char *udev_identity(const char *device);

#endif
