/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one door to sysfs, proc and dev. In all names the value of RNBD_ROOT comes first, so that the
 * tool can work on a captured tree.
 */
#ifndef RNBD_IO_H
#define RNBD_IO_H

#include <signal.h>

#include "rnbd.h"

#define PRINTF(fmt, first)	__attribute__((format(printf, fmt, first)))

char *io_path(const char *fmt, ...) PRINTF(1, 2);
bool io_exists(const char *fmt, ...) PRINTF(1, 2);
bool io_writable(const char *file);
char *io_read_file(const char *file, size_t *len);
char *io_read(const char *fmt, ...) PRINTF(1, 2);
long long io_read_number(long long otherwise, const char *fmt, ...) PRINTF(2, 3);
char *io_link(const char *fmt, ...) PRINTF(1, 2);
const char *path_base(const char *path);
struct words io_list(const char *fmt, ...) PRINTF(1, 2);
int io_write(const char *file, const char *text);
bool io_wait(unsigned int seconds, const char *file, const volatile sig_atomic_t *stop);
void io_wait_gone(unsigned int seconds, const char *file);

int klog_start(void);
struct words klog_since(int mark);

#endif
