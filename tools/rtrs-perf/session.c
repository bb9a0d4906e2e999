// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open a session, run, close it: writes to debugfs, and what is to be said if one is refused.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "io.h"
#include "mem.h"
#include "module.h"
#include "out.h"
#include "paths.h"
#include "perf.h"

#define PERF_SESSION	PERF_DIR "/session"
#define PERF_RUN	PERF_DIR "/run"
#define CLT_CLASS	"/sys/class/rtrs-client"

#define DEFAULT_PORT		1236
#define DEFAULT_ITERATIONS	1000
#define DEFAULT_DEPTH_BW	16
#define DEFAULT_DEPTH_LAT	1

/* Pause between two looks at how far a run is, growing. */
#define POLL_FIRST_MS	1
#define POLL_LAST_MS	200

/* Set by a signal. */
volatile int perf_interrupted;

/* What an errno means, and what to do about it. */
static const struct cause {
	int err;
	enum status status;
	const char *text;
	const char *next;
} causes[] = {
	{ EINVAL, ST_REFUSED, "a value is not allowed", "see the kernel's line, or dmesg" },
	{ EBUSY, ST_BUSY, "something is being measured", "wait for its end, or rtrs-perf stop" },
	{ EEXIST, ST_BUSY, "there is a session of this name", "give another --session" },
	{ ECONNRESET, ST_UNREACHABLE, "the server refused the connection, or nobody listens on its port",
	  "on the server: modprobe rtrs-perf-server; is --port right?" },
	{ ECONNREFUSED, ST_UNREACHABLE, "nobody listens on the server's port",
	  "on the server: modprobe rtrs-perf-server; is --port right?" },
	{ ETIMEDOUT, ST_UNREACHABLE, "the server does not answer",
	  "do firewalls let UDP port 4791 through? on the server: rnbd check server" },
	{ EHOSTUNREACH, ST_UNREACHABLE, "the address cannot be reached", "is the server up? ping; ip route get" },
	{ ENETUNREACH, ST_UNREACHABLE, "there is no route to the address", "ip route get the address" },
	{ ENODEV, ST_NOT_READY, "there is no RDMA device on the route", "rdma link show" },
	{ EADDRNOTAVAIL, ST_NOT_READY, "no RDMA device has the source address", "rdma link show" },
	{ ECONNABORTED, ST_UNREACHABLE, "all paths to the server were lost",
	  "dmesg says when and why; with several paths one may be lost" },
	{ ENOTCONN, ST_REFUSED, "the session was closed", "run it again" },
	{ ENOMEM, ST_REFUSED, "out of memory", "a smaller --size or --depth" },
	{ EPROTONOSUPPORT, ST_REFUSED, "what listens there is not rtrs-perf-server of this version",
	  "is --port right? the same version on both sides" },
	{ EMSGSIZE, ST_REFUSED, "what listens there is not rtrs-perf-server of this version",
	  "is --port right? the same version on both sides" },
};

static enum status explain(const char *what, int err, const struct words *kernel)
{
	const struct cause *cause = NULL;
	const char *name = strerrorname_np(err);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(causes); i++)
		if (causes[i].err == err)
			cause = &causes[i];
	fail(ST_REFUSED, "%s: %s (%s)", what, cause ? cause->text : strerror(err), name ? name : "unknown error");
	for (i = 0; kernel && i < kernel->nr; i++)
		detail("kernel", "%s", kernel->word[i]);
	detail("next", "%s", cause ? cause->next : "dmesg, on both sides");
	return cause ? cause->status : ST_REFUSED;
}

static enum status perf_write(const char *what, const char *file, const char *text)
{
	int mark = klog_start(), err = io_write(file, text);
	struct words kernel = klog_since(mark);

	return err ? explain(what, err, &kernel) : ST_OK;
}

static enum status check_module(void)
{
	if (io_exists(PERF_SESSION)) {
		if (!io_writable(PERF_SESSION)) {
			fail(ST_NOT_READY, "no permission to write " PERF_SESSION);
			detail("next", "run it as root");
			return ST_NOT_READY;
		}
		if (kernel_locked_down()) {
			fail(ST_NOT_READY, "this kernel is locked down: nobody may write " PERF_SESSION);
			detail("next", "boot without Secure Boot to measure RTRS; or measure a mapped device, with fio");
			return ST_NOT_READY;
		}
		return ST_OK;
	}
	if (io_exists("/sys/module/rtrs_perf_client")) {
		fail(ST_NOT_READY, "there is no " PERF_DIR);
		detail("next", "run it as root; mount -t debugfs debugfs /sys/kernel/debug");
		return ST_NOT_READY;
	}
	fail(ST_NOT_READY, "module " PERF_MODULE " is not loaded");
	detail("next", "%s", module_remedy(PERF_MODULE));
	return ST_NOT_READY;
}

static const char *default_session(void)
{
	const char *host = io_read("/proc/sys/kernel/hostname");

	return mem_printf("perf-%.*s", (int)strcspn(host ? host : "", "./: \t"), host ? host : "");
}

static enum status given_paths(const struct perf_args *args, struct perf_session *sess)
{
	struct trouble trouble;
	struct route route;
	const char *text;
	size_t i;

	for (i = 0; i < args->paths.nr; i++) {
		if (!path_text(args->paths.word[i], &text, &route, &trouble))
			return trouble_fail(&trouble, mem_printf("--path=%s", args->paths.word[i]));
		if (words_have(&sess->paths, text))
			return fail(ST_USAGE, "--path=%s is given twice", args->paths.word[i]);
		words_add(&sess->paths, text);
	}
	return ST_OK;
}

/* One path for each address of the server that can be reached by RDMA. */
static enum status find_paths(const struct perf_args *args, struct perf_session *sess)
{
	struct addr_list list = { 0 };
	struct trouble trouble = { 0 };
	struct route route;
	size_t i;

	if (!server_addresses(args->server, &args->family, &list, &trouble))
		return trouble_fail(&trouble, args->server);
	for (i = 0; i < list.nr && sess->paths.nr < MAX_PATHS; i++) {
		if (route_find(&list.addr[i], NULL, &route, &trouble))
			words_add(&sess->paths, route_text(&route));
		else if (list.nr > 1)
			trouble_warn(&trouble, args->server);
	}
	return sess->paths.nr ? ST_OK : trouble_fail(&trouble, args->server);
}

/* "... max_io_size=126976 ..." */
static long long attr_of(const char *text, const char *key)
{
	const char *at = text ? strstr(text, key) : NULL;

	return at ? strtoll(at + strlen(key), NULL, 10) : 0;
}

static const char *first_cpu(void)
{
	const char *online = io_read("/sys/devices/system/cpu/online");

	return online ? mem_copy(online, strspn(online, "0123456789")) : "0";
}

/* What depends on the session: better said before the first run than in the middle. */
static enum status check_limits(const struct perf_args *args, const struct perf_session *sess)
{
	if (sess->depth > sess->queue_depth)
		return fail(ST_USAGE, "--depth=%lld: expected 1 to %lld, the queue depth of the session",
			    sess->depth, sess->queue_depth);
	if (args->size && args->bytes > (unsigned long long)sess->max_io_size)
		return fail(ST_USAGE, "--size=%s: expected 1 to %lld bytes, the most that a request of the session has",
			    args->size, sess->max_io_size);
	return ST_OK;
}

static enum status set_policy(const struct perf_args *args, struct perf_session *sess)
{
	const char *file = mem_printf(CLT_CLASS "/%s/mpath_policy", sess->name);
	enum status status = ST_OK;
	const char *now;

	if (args->policy)
		status = perf_write(mem_printf("--policy=%s", args->policy), file, args->policy);
	now = io_read("%s", file);
	sess->policy = now ? mem_copy(now, strcspn(now, " ")) : "unknown";
	return status;
}

static enum status connect_session(const struct perf_args *args, struct perf_session *sess)
{
	const char *line = mem_printf("sessname=%s", sess->name), *text;
	enum status status;

	line = mem_printf("%s dest_port=%s path=%s", line,
			  args->port ? args->port : mem_printf("%d", DEFAULT_PORT),
			  words_join(&sess->paths, " path="));
	status = perf_write(mem_printf("session %s", sess->name), PERF_SESSION, line);
	if (status != ST_OK)
		return status;
	sess->open = true;
	text = io_read(PERF_SESSION);
	sess->max_io_size = attr_of(text, "max_io_size=");
	sess->queue_depth = attr_of(text, "queue_depth=");
	if (!args->depth && sess->depth > sess->queue_depth)
		sess->depth = sess->queue_depth;
	return ST_OK;
}

/* Find the paths and connect; perf_close() afterwards, if sess->open. */
enum status perf_open(const struct perf_args *args, struct perf_session *sess)
{
	enum status status = check_module();
	const char *there;

	if (status != ST_OK)
		return status;
	there = io_read(PERF_SESSION);
	if (there && *there) {
		fail(ST_BUSY, "something is being measured: %s", there);
		detail("next", "wait for its end, or rtrs-perf stop");
		return ST_BUSY;
	}
	sess->name = args->session ? args->session : default_session();
	sess->cpus = args->cpus ? args->cpus : first_cpu();
	sess->depth = args->depth ? atoll(args->depth) : args->latency ? DEFAULT_DEPTH_LAT : DEFAULT_DEPTH_BW;
	sess->iterations = args->iterations ? atoll(args->iterations) : DEFAULT_ITERATIONS;
	status = args->paths.nr ? given_paths(args, sess) : find_paths(args, sess);
	if (status == ST_OK)
		status = connect_session(args, sess);
	if (status == ST_OK)
		status = check_limits(args, sess);
	return status == ST_OK ? set_policy(args, sess) : status;
}

/* The sixth number of stats/rdma, of all paths */
static long long failovers(const struct perf_session *sess)
{
	struct words paths = io_list(CLT_CLASS "/%s/paths", sess->name);
	long long nr, sum = 0;
	const char *text;
	size_t i;

	for (i = 0; i < paths.nr; i++) {
		text = io_read(CLT_CLASS "/%s/paths/%s/stats/rdma", sess->name, paths.word[i]);
		if (text && sscanf(text, "%*s %*s %*s %*s %*s %lld", &nr) == 1)
			sum += nr;
	}
	return sum;
}

static void progress(const char *text, long long size)
{
	long long done, total;

	if (sscanf(text, "running %lld of %lld", &done, &total) == 2 && total)
		fprintf(stderr, "\r%9lld %11lld  %3lld %%", size, done, 100 * done / total);
}

/* Not io_read(): that keeps what it has read, and a run may take days. */
static bool still_running(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (fd < 0)
		return false;
	len = read(fd, text, size - 1);
	close(fd);
	text[len < 0 ? 0 : len] = '\0';
	return !strncmp(text, "running", strlen("running"));
}

static void wait_for_end(long long size)
{
	struct timespec pause = { .tv_nsec = POLL_FIRST_MS * 1000000L };
	bool tty = isatty(STDERR_FILENO), shown = false;
	const char *path = io_path(PERF_RUN);
	char text[80];

	while (still_running(path, text, sizeof(text))) {
		if (tty)
			progress(text, size);
		shown = tty;
		if (perf_interrupted)
			io_write(PERF_DIR "/stop", "1");
		nanosleep(&pause, NULL);
		if (pause.tv_nsec < POLL_LAST_MS * 1000000L)
			pause.tv_nsec *= 2;
	}
	if (shown)
		fprintf(stderr, "\r%*s\r", 30, "");
}

/* One size. */
enum status perf_run(const struct perf_args *args, const struct perf_session *sess, long long size,
		     struct perf_result *result)
{
	const char *what = mem_printf("%s of %lld bytes", args->write ? "write" : "read", size), *text;
	long long before = failovers(sess);
	enum status status;

	status = perf_write(what, PERF_RUN,
			    mem_printf("op=%s size=%lld iterations=%lld depth=%lld cpus=%s",
				       args->write ? "write" : "read", size, sess->iterations, sess->depth,
				       sess->cpus));
	if (status != ST_OK)
		return status;
	wait_for_end(size);
	text = io_read(PERF_DIR "/result");
	if (!text || !perf_stats(text, io_read(PERF_DIR "/histogram"), result))
		return explain(what, ENOTCONN, NULL);
	result->failovers = failovers(sess) - before;
	if (result->error)
		return explain(mem_printf("%s, after %lld requests", what, result->done), -result->error, NULL);
	if (strcmp(result->state, "done"))
		return fail(ST_REFUSED, "%s: stopped after %lld of %lld requests", what, result->done,
			    result->iterations);
	return ST_OK;
}

/* Nobody is to find the session open. */
enum status perf_close(void)
{
	enum status status = check_module();

	return status == ST_OK ? perf_write("close", PERF_DIR "/close", "1") : status;
}
