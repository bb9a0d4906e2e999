// SPDX-License-Identifier: GPL-2.0-only
/* Messages to the server of rtrs-perf, and the texts written to its client's files session and run. */
#include <linux/kernel.h>

#include "../../drivers/infiniband/ulp/rtrs-perf/proto/hist.h"
#include "../../drivers/infiniband/ulp/rtrs-perf/proto/msg.h"
#include "../../drivers/infiniband/ulp/rtrs-perf/proto/options.h"
#include "fuzz.h"

/* Is @str a string within @text, which has @size bytes? */
static bool within(const char *str, const char *text, size_t size)
{
	return str >= text && str < text + size && memchr(str, '\0', text + size - str);
}

/* A refused text has a key, and what would have been right in words that end. */
static void explained(const struct rtrs_perf_error *error)
{
	MUST(error->key && error->expected[0]);
	MUST(memchr(error->expected, '\0', sizeof(error->expected)));
}

static void fuzz_session(struct fuzz_in *in)
{
	struct rtrs_perf_session_opts opts;
	size_t size = in->len + 1;
	struct rtrs_perf_error error;
	char *text = fuzz_text(in);
	unsigned int i;

	if (!rtrs_perf_session_parse(text, &opts, &error)) {
		MUST(within(opts.sessname, text, size) && *opts.sessname);
		MUST(strlen(opts.sessname) <= RTRS_PERF_MAX_NAME && !strpbrk(opts.sessname, "/."));
		MUST(opts.nr_paths && opts.nr_paths <= RTRS_PERF_MAX_PATHS && opts.dest_port);
		for (i = 0; i < opts.nr_paths; i++)
			MUST(within(opts.paths[i], text, size));
	} else {
		explained(&error);
	}
	free(text);
}

static void fuzz_run(struct fuzz_in *in)
{
	struct rtrs_perf_limits limits = { .size = fuzz_take(in, 4), .depth = fuzz_take(in, 2) };
	struct rtrs_perf_run_opts opts;
	size_t size = in->len + 1;
	struct rtrs_perf_error error;
	char *text = fuzz_text(in);

	if (!rtrs_perf_run_parse(text, &limits, &opts, &error)) {
		MUST(opts.op == RTRS_PERF_READ || opts.op == RTRS_PERF_WRITE);
		MUST(opts.size && opts.size <= limits.size);
		MUST(opts.iterations && opts.iterations <= RTRS_PERF_MAX_ITERATIONS);
		/* One in flight is what a run has that says nothing. */
		MUST(opts.depth && (opts.depth == 1 || opts.depth <= limits.depth));
		MUST(within(opts.cpus, text, size) && *opts.cpus && strlen(opts.cpus) <= RTRS_PERF_MAX_NAME);
	} else {
		explained(&error);
	}
	free(text);
}

/* What is taken for a request is what our client would have sent for it, to the byte. */
static void fuzz_msg(struct fuzz_in *in)
{
	u32 data_len = fuzz_take(in, 4);
	bool write = fuzz_take(in, 1) & 1;
	struct rtrs_perf_msg msg;
	size_t len;
	void *usr = fuzz_block(in, 64, &len);

	if (!rtrs_perf_msg_check(usr, len, write, data_len)) {
		rtrs_perf_msg_put(&msg, write, data_len);
		MUST(len == sizeof(msg) && !memcmp(usr, &msg, len) && data_len);
	}
	free(usr);
}

/* A latency is in a bucket that begins with it or less, and the next one with more. */
static void fuzz_hist(struct fuzz_in *in)
{
	static struct rtrs_perf_hist hist;
	u64 ns = fuzz_take(in, 8), most = ns < RTRS_PERF_HIST_MAX_NS ? ns : RTRS_PERF_HIST_MAX_NS;
	u32 index = rtrs_perf_hist_index(ns);

	MUST(index < RTRS_PERF_HIST_BUCKETS && rtrs_perf_hist_from(index) <= most);
	MUST(index == RTRS_PERF_HIST_BUCKETS - 1 || rtrs_perf_hist_from(index + 1) > most);
	memset(&hist, 0, sizeof(hist));
	rtrs_perf_hist_add(&hist, ns);
	MUST(hist.nr == 1 && hist.count[index] == 1 && hist.min_ns == hist.max_ns);
}

/**
 * LLVMFuzzerTestOneInput() - one input
 * @data: its bytes
 * @size: how many
 *
 * Return: 0; what breaks a promise aborts.
 */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static void (*const targets[])(struct fuzz_in *in) = {
		fuzz_session, fuzz_run, fuzz_msg, fuzz_hist,
	};
	struct fuzz_in in = { data, size };
	u8 target = fuzz_take(&in, 1);

	if (size && target < sizeof(targets) / sizeof(targets[0]))
		targets[target](&in);
	return 0;
}
