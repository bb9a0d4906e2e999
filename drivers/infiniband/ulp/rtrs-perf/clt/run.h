/* SPDX-License-Identifier: GPL-2.0-only */
/* A measurement: threads that send requests and take the time. */
#ifndef _RTRS_PERF_RUN_H
#define _RTRS_PERF_RUN_H

#include <linux/cpumask.h>
#include <rdma/rtrs.h>

#include "../proto/hist.h"
#include "../proto/options.h"

struct rtrs_perf_run;

/**
 * struct rtrs_perf_result - how a run went
 * @op: what its requests did
 * @size: bytes of data of each
 * @iterations: how many requests it was to be
 * @depth: how many in flight for each CPU
 * @cpus: the CPUs
 * @stopped: it was told to stop, or a request failed
 * @error: of the first request that failed; 0: none did
 * @failed: how many failed
 * @elapsed_ns: from before the first request until after the last
 */
struct rtrs_perf_result {
	enum rtrs_perf_op op;
	u32 size;
	u32 iterations;
	u32 depth;
	const struct cpumask *cpus;
	bool stopped;
	int error;
	u64 failed;
	u64 elapsed_ns;
};

struct rtrs_perf_run *rtrs_perf_run_start(struct rtrs_clt_sess *sess,
					  const struct rtrs_perf_run_opts *opts,
					  const struct cpumask *cpus);
void rtrs_perf_run_stop(struct rtrs_perf_run *run);
void rtrs_perf_run_join(struct rtrs_perf_run *run);
void rtrs_perf_run_get(struct rtrs_perf_run *run);
void rtrs_perf_run_put(struct rtrs_perf_run *run);
int rtrs_perf_run_wait(struct rtrs_perf_run *run);
bool rtrs_perf_run_active(struct rtrs_perf_run *run);
u64 rtrs_perf_run_progress(struct rtrs_perf_run *run, u32 *iterations);
void rtrs_perf_run_result(struct rtrs_perf_run *run, struct rtrs_perf_result *result,
			  struct rtrs_perf_hist *hist);

#endif /* _RTRS_PERF_RUN_H */
