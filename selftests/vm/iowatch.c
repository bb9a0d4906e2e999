// SPDX-License-Identifier: GPL-2.0-only
/*
 * iowatch <disk> <session> - tell how I/O on a mapped device and its paths fares.
 *
 * Runs in the client. Times are CLOCK_MONOTONIC in milliseconds, as in
 * /proc/uptime. Lines on standard output:
 *
 *   S <ms> <bytes read> <bytes written> {<path> <state> <bytes read> <bytes written> <failovers>}...
 *		every REPORT_MS: the disk, then each path
 *   E <ms> <path> <state>
 *		a path changed its state; looked at every TICK_MS
 */

#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TICK_MS		10
#define REPORT_MS	200
#define MAX_PATHS	128
#define SECTOR		512

struct path {
	char name[256];
	int state_fd, stats_fd;
	char state[32];
};

static struct path paths[MAX_PATHS];
static int nr_paths;

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

__attribute__((format(printf, 1, 2)))
static int open_file(const char *format, ...)
{
	va_list args;
	char *name;
	int fd;

	va_start(args, format);
	if (vasprintf(&name, format, args) < 0)
		err(1, "vasprintf");
	va_end(args);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err(1, "%s", name);
	free(name);
	return fd;
}

/* Contents of a small attribute, read anew; ends the program if it is gone. */
static void read_attr(int fd, char *buf, size_t size)
{
	ssize_t len = pread(fd, buf, size - 1, 0);

	if (len < 0)
		err(1, "attribute");
	buf[len] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct path *)a)->name, ((const struct path *)b)->name);
}

static void find_paths(const char *session)
{
	struct dirent *entry;
	char name[512];
	DIR *dir;
	int i;

	snprintf(name, sizeof(name), "/sys/class/rtrs-client/%s/paths", session);
	dir = opendir(name);
	if (!dir)
		err(1, "%s", name);
	while ((entry = readdir(dir)) && nr_paths < MAX_PATHS)
		if (entry->d_name[0] != '.')
			snprintf(paths[nr_paths++].name, sizeof(paths->name), "%s", entry->d_name);
	closedir(dir);
	qsort(paths, nr_paths, sizeof(*paths), by_name);
	for (i = 0; i < nr_paths; i++) {
		paths[i].state_fd = open_file("%s/%s/state", name, paths[i].name);
		paths[i].stats_fd = open_file("%s/%s/stats/rdma", name, paths[i].name);
	}
}

static void look_at_state(struct path *path)
{
	char state[sizeof(path->state)];

	read_attr(path->state_fd, state, sizeof(state));
	if (!strcmp(state, path->state))
		return;
	memcpy(path->state, state, sizeof(state));
	printf("E %" PRIu64 " %s %s\n", now_ms(), path->name, path->state);
	fflush(stdout);
}

static void report_path(const struct path *path)
{
	uint64_t read_bytes, write_bytes, failovers;
	char buf[256];

	read_attr(path->stats_fd, buf, sizeof(buf));
	if (sscanf(buf, "%*u %" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64,
		   &read_bytes, &write_bytes, &failovers) != 3)
		errx(1, "cannot make sense of the statistics of %s: %s", path->name, buf);
	printf(" %s %s %" PRIu64 " %" PRIu64 " %" PRIu64, path->name, path->state,
	       read_bytes, write_bytes, failovers);
}

static void report(int disk_fd)
{
	uint64_t sectors_read, sectors_written;
	char buf[256];
	int i;

	read_attr(disk_fd, buf, sizeof(buf));
	if (sscanf(buf, "%*u %*u %" SCNu64 " %*u %*u %*u %" SCNu64,
		   &sectors_read, &sectors_written) != 2)
		errx(1, "cannot make sense of the disk's stat: %s", buf);
	printf("S %" PRIu64 " %" PRIu64 " %" PRIu64, now_ms(), sectors_read * SECTOR,
	       sectors_written * SECTOR);
	for (i = 0; i < nr_paths; i++)
		report_path(&paths[i]);
	putchar('\n');
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const struct timespec tick = { .tv_nsec = TICK_MS * 1000000 };
	uint64_t reported = 0;
	int disk_fd, i;

	if (argc != 3)
		errx(2, "usage: iowatch <disk> <session>");
	disk_fd = open_file("/sys/block/%s/stat", argv[1]);
	find_paths(argv[2]);
	for (;;) {
		for (i = 0; i < nr_paths; i++)
			look_at_state(&paths[i]);
		if (now_ms() - reported >= REPORT_MS) {
			report(disk_fd);
			reported = now_ms();
		}
		nanosleep(&tick, NULL);
	}
}
