// SPDX-License-Identifier: GPL-2.0-only
/*
 * iowatch <disk> <session> - tell how I/O on a mapped device and its paths fares.
 *
 * Runs in the client. Every TICK_MS the disk's counters and the states of the
 * session's paths are read; times are CLOCK_MONOTONIC in milliseconds, as in
 * /proc/uptime. Lines on standard output:
 *
 *   S <ms> <read IOs> <read sectors> <written IOs> <written sectors> <in flight>
 *     <gap ms> {<path> <state> <bytes read> <bytes written> <failovers>}...
 *		every REPORT_MS. The gap is the longest time, within or reaching
 *		into this interval, in which requests were in flight and none ended.
 *   E <ms> <path> <state>
 *		a path changed its state
 *   P <ms> <us>
 *		the slowest probe that ended since the line before, when it started
 *		and how long it took. A probe is one direct read of 4 KiB; the next
 *		starts PROBE_PAUSE_MS after the last has ended.
 */

#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
#include <linux/fs.h>

#define TICK_MS		10
#define REPORT_MS	200
#define PROBE_PAUSE_MS	20
#define PROBE_BYTES	4096
#define MAX_PATHS	128

struct disk {
	int fd;
	uint64_t read_ios, read_sectors, write_ios, write_sectors, inflight;
};

struct path {
	char name[256];
	int state_fd, stats_fd;
	char state[32];
	uint64_t read_bytes, write_bytes, failovers;
};

static struct disk disk;
static struct path paths[MAX_PATHS];
static int nr_paths;

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ULL + ts.tv_nsec / 1000;
}

static void sleep_ms(long ms)
{
	struct timespec ts = { .tv_nsec = ms * 1000000 };

	nanosleep(&ts, NULL);
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

static void read_disk(void)
{
	char buf[256];

	read_attr(disk.fd, buf, sizeof(buf));
	if (sscanf(buf, "%" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64,
		   &disk.read_ios, &disk.read_sectors, &disk.write_ios,
		   &disk.write_sectors, &disk.inflight) != 5)
		errx(1, "cannot make sense of the disk's stat: %s", buf);
}

static void read_path_stats(struct path *path)
{
	char buf[256];

	read_attr(path->stats_fd, buf, sizeof(buf));
	if (sscanf(buf, "%*u %" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64,
		   &path->read_bytes, &path->write_bytes, &path->failovers) != 3)
		errx(1, "cannot make sense of the statistics of %s: %s", path->name, buf);
}

static void read_path_state(struct path *path)
{
	char state[sizeof(path->state)];

	read_attr(path->state_fd, state, sizeof(state));
	if (!strcmp(state, path->state))
		return;
	memcpy(path->state, state, sizeof(state));
	printf("E %" PRIu64 " %s %s\n", now_us() / 1000, path->name, path->state);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct path *)a)->name, ((const struct path *)b)->name);
}

static void find_paths(const char *session)
{
	char name[512];
	struct dirent *entry;
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

static void report(uint64_t gap_ms)
{
	int i;

	printf("S %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
	       now_us() / 1000, disk.read_ios, disk.read_sectors, disk.write_ios,
	       disk.write_sectors, disk.inflight, gap_ms);
	for (i = 0; i < nr_paths; i++) {
		read_path_stats(&paths[i]);
		printf(" %s %s %" PRIu64 " %" PRIu64 " %" PRIu64, paths[i].name, paths[i].state,
		       paths[i].read_bytes, paths[i].write_bytes, paths[i].failovers);
	}
	putchar('\n');
	fflush(stdout);
}

static void watch(void)
{
	uint64_t progress = now_us(), reported = 0, gap = 0, done = 0;
	int i;

	for (;;) {
		uint64_t now;

		read_disk();
		now = now_us();
		if (now - progress > gap)
			gap = now - progress;
		if (disk.read_ios + disk.write_ios != done || !disk.inflight)
			progress = now;
		done = disk.read_ios + disk.write_ios;
		for (i = 0; i < nr_paths; i++)
			read_path_state(&paths[i]);
		if (now - reported >= REPORT_MS * 1000) {
			report(gap / 1000);
			reported = now;
			gap = 0;
		}
		sleep_ms(TICK_MS);
	}
}

/* Child: reads here and there, so that the backing store matters, not a cache. */
static void probe(const char *name)
{
	int fd = open_file("/dev/%s", name);
	uint64_t size, begun, took, worst = 0, worst_begun = 0, reported = now_us();
	void *buf;

	if (fcntl(fd, F_SETFL, O_DIRECT) < 0 || ioctl(fd, BLKGETSIZE64, &size) < 0 ||
	    posix_memalign(&buf, PROBE_BYTES, PROBE_BYTES))
		err(1, "/dev/%s", name);
	for (;;) {
		off_t pos = (off_t)(random() % (long)(size / PROBE_BYTES)) * PROBE_BYTES;

		begun = now_us();
		if (pread(fd, buf, PROBE_BYTES, pos) != PROBE_BYTES)
			err(1, "/dev/%s: read at %jd", name, (intmax_t)pos);
		took = now_us() - begun;
		if (took >= worst) {
			worst = took;
			worst_begun = begun;
		}
		if (now_us() - reported >= REPORT_MS * 1000) {
			printf("P %" PRIu64 " %" PRIu64 "\n", worst_begun / 1000, worst);
			fflush(stdout);
			reported = now_us();
			worst = 0;
		}
		sleep_ms(PROBE_PAUSE_MS);
	}
}

int main(int argc, char **argv)
{
	if (argc != 3)
		errx(2, "usage: iowatch <disk> <session>");
	disk.fd = open_file("/sys/block/%s/stat", argv[1]);
	find_paths(argv[2]);
	fflush(stdout);
	switch (fork()) {
	case -1:
		err(1, "fork");
	case 0:
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		probe(argv[1]);
	}
	/* On one busy virtual CPU a late look at the counters would be taken for a gap. */
	if (sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 }))
		err(1, "sched_setscheduler");
	watch();
}
