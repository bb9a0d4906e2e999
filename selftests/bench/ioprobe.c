// SPDX-License-Identifier: GPL-2.0-only
/*
 * ioprobe <block device> - read and write all the time, and tell how it went.
 *
 * JOBS threads, each with a block of its own, one request at a time, past the page
 * cache, reads and writes in turn. A line on standard output for what is out of
 * the ordinary, and one every REPORT_MS; times are CLOCK_MONOTONIC in milliseconds, as in
 * /proc/uptime:
 *
 *   L <ms> <took>	a request ended without error that took SLOW_MS or longer
 *   E <ms> <took> <errno>	a request failed; its thread goes on after PAUSE_MS
 *   G <ms> <length>	a request ended without error, the first one of all threads in <length>
 *			ms, SLOW_MS or longer
 *   N <ms> <requests> <errors>	how many there were so far
 */

#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define JOBS		8
#define BLOCK		4096
#define SLOW_MS		20
#define PAUSE_MS	5
#define REPORT_MS	100

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;	/* of what follows, and of the output */
static uint64_t requests, errors, last_good;
static int fd;

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ULL + ts.tv_nsec / 1000000;
}

static void pause_ms(unsigned int ms)
{
	struct timespec ts = { .tv_nsec = ms * 1000000L };

	nanosleep(&ts, NULL);
}

static void ended(uint64_t begun, int error)
{
	uint64_t now;

	pthread_mutex_lock(&lock);
	now = now_ms();
	requests++;
	if (error) {
		errors++;
		printf("E %" PRIu64 " %" PRIu64 " %d\n", now, now - begun, error);
	} else {
		if (now - begun >= SLOW_MS)
			printf("L %" PRIu64 " %" PRIu64 "\n", now, now - begun);
		if (now - last_good >= SLOW_MS)
			printf("G %" PRIu64 " %" PRIu64 "\n", now, now - last_good);
		last_good = now;
	}
	pthread_mutex_unlock(&lock);
}

static void *job(void *arg)
{
	off_t place = (uintptr_t)arg * BLOCK;
	uint64_t begun;
	ssize_t len;
	void *data;
	bool write;

	if (posix_memalign(&data, BLOCK, BLOCK))
		errx(1, "no memory");
	for (write = true; ; write = !write) {
		begun = now_ms();
		len = write ? pwrite(fd, data, BLOCK, place) : pread(fd, data, BLOCK, place);
		ended(begun, len == BLOCK ? 0 : len < 0 ? errno : EIO);
		if (len != BLOCK)
			pause_ms(PAUSE_MS);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	uintptr_t i;

	if (argc != 2)
		errx(2, "usage: ioprobe <block device>");
	fd = open(argv[1], O_RDWR | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		err(1, "%s", argv[1]);
	last_good = now_ms();
	for (i = 0; i < JOBS; i++)
		if (pthread_create(&thread, NULL, job, (void *)i))
			errx(1, "no thread");
	for (;;) {
		pthread_mutex_lock(&lock);
		printf("N %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", now_ms(), requests, errors);
		if (fflush(stdout))
			exit(0);	/* nobody listens any more */
		pthread_mutex_unlock(&lock);
		pause_ms(REPORT_MS);
	}
}
