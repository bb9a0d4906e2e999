// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "io.h"
#include "mem.h"

/* Kernel log levels above this one are news, not reasons. */
#define KLOG_WARNING	4

static char *io_vpath(const char *fmt, va_list args)
{
	const char *root = getenv("RNBD_ROOT");

	return mem_printf("%s%s", root ? root : "", mem_vprintf(fmt, args));
}

#define IO_PATH(path, fmt) do {			\
	va_list args;				\
						\
	va_start(args, fmt);			\
	(path) = io_vpath(fmt, args);		\
	va_end(args);				\
} while (0)

char *io_path(const char *fmt, ...)
{
	char *path;

	IO_PATH(path, fmt);
	return path;
}

bool io_exists(const char *fmt, ...)
{
	struct stat st;
	char *path;

	IO_PATH(path, fmt);
	/* Not access(): where a cgroup closes device nodes, that says they are not there. */
	return stat(path, &st) == 0;
}

bool io_writable(const char *file)
{
	return access(io_path("%s", file), W_OK) == 0;
}

static char *io_read_path(const char *path, size_t *length)
{
	size_t size = 4096, len = 0;
	char *text = mem_alloc(size);
	ssize_t got;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	while ((got = read(fd, text + len, size - len - 1)) > 0) {
		len += got;
		if (len == size - 1)
			text = memcpy(mem_alloc(size *= 2), text, len);
	}
	close(fd);
	if (got < 0)
		return NULL;
	while (len && text[len - 1] == '\n')
		len--;
	text[len] = '\0';
	*length = len;
	return text;
}

/* The same for one whose length matters. */
char *io_read_file(const char *file, size_t *len)
{
	return io_read_path(io_path("%s", file), len);
}

/* Contents without the newline at the end; NULL if it cannot be read. */
char *io_read(const char *fmt, ...)
{
	size_t len;
	char *path;

	IO_PATH(path, fmt);
	return io_read_path(path, &len);
}

long long io_read_number(long long otherwise, const char *fmt, ...)
{
	char *path, *text, *end;
	long long number;
	size_t len;

	IO_PATH(path, fmt);
	text = io_read_path(path, &len);
	if (!text)
		return otherwise;
	number = strtoll(text, &end, 10);
	return end == text ? otherwise : number;
}

/* What a link points to, NULL if it is none. */
char *io_link(const char *fmt, ...)
{
	char target[PATH_MAX], *path;
	ssize_t len;

	IO_PATH(path, fmt);
	len = readlink(path, target, sizeof(target));
	return len < 0 || len == sizeof(target) ? NULL : mem_copy(target, len);
}

/* Last component of a path. */
const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Names in a directory, rnbd2 before rnbd10; none if there is no such directory. */
struct words io_list(const char *fmt, ...)
{
	struct words names = { 0 };
	struct dirent **entry;
	char *path;
	int i, nr;

	IO_PATH(path, fmt);
	nr = scandir(path, &entry, NULL, versionsort);
	for (i = 0; i < nr; i++) {
		if (entry[i]->d_name[0] != '.')
			words_add(&names, mem_printf("%s", entry[i]->d_name));
		free(entry[i]);
	}
	if (nr >= 0)
		free(entry);
	return names;
}

/* Returns 0 or an errno. Of more than a page sysfs would take the first one for the whole. */
int io_write(const char *file, const char *text)
{
	size_t len = strlen(text);
	ssize_t put;
	int fd, err;

	if (len > (size_t)sysconf(_SC_PAGESIZE))
		return E2BIG;
	fd = open(io_path("%s", file), O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	put = write(fd, text, len);
	err = put < 0 ? errno : put == (ssize_t)len ? 0 : EIO;
	close(fd);
	return err;
}

static bool wait_until(bool there, unsigned int seconds, const char *file, const volatile sig_atomic_t *stop)
{
	const struct timespec pause = { .tv_nsec = 20 * 1000 * 1000 };
	struct timespec now, end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += seconds;
	while (io_exists("%s", file) != there) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if ((stop && *stop) || now.tv_sec > end.tv_sec ||
		    (now.tv_sec == end.tv_sec && now.tv_nsec >= end.tv_nsec))
			return false;
		nanosleep(&pause, NULL);
	}
	return true;
}

/* Wait for a file that devtmpfs, or udev, makes; not any longer if *stop is set. */
bool io_wait(unsigned int seconds, const char *file, const volatile sig_atomic_t *stop)
{
	return wait_until(true, seconds, file, stop);
}

/* Wait for a file to be removed, or as long as that; which of them is for the caller to see. */
void io_wait_gone(unsigned int seconds, const char *file)
{
	wait_until(false, seconds, file, NULL);
}

/* A mark at the end of the kernel log, -1 if it cannot be read. */
int klog_start(void)
{
	int fd = open(io_path("/dev/kmsg"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && lseek(fd, 0, SEEK_END) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* A line "<level>,<number>,<time>,<flags>;<text>": the text, if it is a complaint of our modules. */
static const char *klog_complaint(const char *line)
{
	static const char *const modules[] = {
		"rnbd_client", "rnbd_server", "rtrs", "rdma_rxe",
	};
	const char *text = strchr(line, ';');
	size_t i;

	if (!text || (strtoul(line, NULL, 10) & 7) > KLOG_WARNING)
		return NULL;
	text++;
	for (i = 0; i < ARRAY_SIZE(modules); i++)
		if (!strncmp(text, modules[i], strlen(modules[i])))
			return text;
	return NULL;
}

/* What our modules have complained about since the mark. Closes it. */
struct words klog_since(int mark)
{
	struct words lines = { 0 };
	char buf[8192], *line, *rest;
	const char *text;
	ssize_t len;

	if (mark < 0)
		return lines;
	/* EPIPE: older records were overwritten, and the next read has the oldest there is. */
	while ((len = read(mark, buf, sizeof(buf) - 1)) > 0 || (len < 0 && errno == EPIPE)) {
		buf[len > 0 ? len : 0] = '\0';
		for (line = strtok_r(buf, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
			text = klog_complaint(line);
			if (text && !words_have(&lines, text))
				words_add(&lines, mem_printf("%s", text));
		}
	}
	close(mark);
	return lines;
}
