// SPDX-License-Identifier: GPL-2.0-only
/*
 * Multipath policies: compare two paths, and the names of the policies in sysfs.
 */
#include "mp_policy.h"

/* So many requests in flight make a queue.  Of fewer it is chance whether a heartbeat waits for them. */
#define RTRS_MP_MANY		4

/* Heartbeats after which a path that is left out as slow is tried again. */
#define RTRS_MP_REMEMBER	8

/**
 * struct rtrs_mp_policy_name - how a policy is written
 * @text: as read from sysfs; starts with the long name
 * @long_len: length of the long name
 * @abbr: two letters
 * @digit: the value
 */
struct rtrs_mp_policy_name {
	const char *text;
	size_t long_len;
	const char *abbr;
	char digit;
};

#define RTRS_MP_NAME(_long, _abbr, _digit) {			\
	.text	  = _long " (" _abbr ": " #_digit ")",		\
	.long_len = sizeof(_long) - 1,				\
	.abbr	  = _abbr,					\
	.digit	  = '0' + (_digit),				\
}

static const struct rtrs_mp_policy_name rtrs_mp_policy_names[RTRS_MP_POLICY__NR] = {
	[RTRS_MP_ROUND_ROBIN]  = RTRS_MP_NAME("round-robin", "RR", 0),
	[RTRS_MP_MIN_INFLIGHT] = RTRS_MP_NAME("min-inflight", "MI", 1),
	[RTRS_MP_MIN_LATENCY]  = RTRS_MP_NAME("min-latency", "ML", 2),
	[RTRS_MP_SERVICE_TIME] = RTRS_MP_NAME("service-time", "ST", 3),
};

static bool rtrs_mp_less_inflight(const struct rtrs_mp_cand *a, const struct rtrs_mp_cand *b)
{
	return a->inflight < b->inflight;
}

static bool rtrs_mp_nearer(const struct rtrs_mp_cand *a, const struct rtrs_mp_cand *b)
{
	return a->rank != b->rank ? a->rank < b->rank : rtrs_mp_less_inflight(a, b);
}

/* How long one more request would take. */
static u64 rtrs_mp_expected(const struct rtrs_mp_cand *cand)
{
	u64 service_ns = min_t(u64, cand->service_ns, U32_MAX);

	return service_ns * ((u64)max(cand->inflight, 0) + 1);
}

static bool rtrs_mp_answers_first(const struct rtrs_mp_cand *a, const struct rtrs_mp_cand *b)
{
	u64 a_ns = rtrs_mp_expected(a);
	u64 b_ns = rtrs_mp_expected(b);

	return a_ns != b_ns ? a_ns < b_ns : rtrs_mp_less_inflight(a, b);
}

/*
 * Down at once, up by a quarter of the difference: what delays a heartbeat now and then, as a processor that
 * has other work, tells nothing about the path.
 */
static u64 rtrs_mp_idle(u64 idle_ns, u64 latency_ns)
{
	if (!idle_ns || latency_ns <= idle_ns)
		return latency_ns;
	return idle_ns + max_t(u64, (latency_ns - idle_ns) / 4, 1);
}

static bool rtrs_mp_more_than_twice(u64 ns, u64 than_ns)
{
	return ns > 2 * than_ns;
}

/**
 * rtrs_mp_beat_add() - account for a heartbeat
 * @beats: what is known of its path
 * @latency_ns: its round trip
 * @inflight: requests on the path when it was sent or when it was answered, whichever were more
 *
 * A heartbeat waits behind the requests of its path.  So one on a path with many cannot be held against one on a
 * path with none: the path that has work would always seem to be the slower one, and all requests would move
 * between two equal paths with each heartbeat, to fill one and let the other idle.  What is compared are idle paths,
 * and paths with work, of these by what each request in flight accounts for.
 *
 * Many requests that delay a heartbeat tell nothing of how near the path is, except that it is not further.
 *
 * Context: any; one caller at a time for @beats.
 */
void rtrs_mp_beat_add(struct rtrs_mp_beats *beats, u64 latency_ns, u32 inflight)
{
	latency_ns = max_t(u64, latency_ns, 1);
	beats->last_ns = latency_ns;
	if (inflight >= RTRS_MP_MANY) {
		beats->slowed = beats->idle_ns && rtrs_mp_more_than_twice(latency_ns, beats->idle_ns);
		beats->share_ns = max_t(u64, div_u64(latency_ns, inflight), 1);
		beats->left = RTRS_MP_REMEMBER;
	} else if (beats->left && !--beats->left) {
		beats->slowed = false;
		beats->share_ns = 0;
	}
	if (inflight < RTRS_MP_MANY || !beats->slowed)
		beats->idle_ns = rtrs_mp_idle(beats->idle_ns, latency_ns);
}
EXPORT_SYMBOL_GPL(rtrs_mp_beat_add);

static void rtrs_mp_shortest(u64 *shortest_ns, u64 ns)
{
	if (ns && (!*shortest_ns || ns < *shortest_ns))
		*shortest_ns = ns;
}

/**
 * rtrs_mp_nearest_add() - one more path to hold others against
 * @nearest: the paths so far
 * @beats: what is known of this one
 *
 * Context: any.
 */
void rtrs_mp_nearest_add(struct rtrs_mp_nearest *nearest, const struct rtrs_mp_beats *beats)
{
	rtrs_mp_shortest(&nearest->last_ns, beats->last_ns);
	rtrs_mp_shortest(&nearest->share_ns, beats->share_ns);
}
EXPORT_SYMBOL_GPL(rtrs_mp_nearest_add);

/**
 * rtrs_mp_rank() - is a path near, among others
 * @nearest: all of them, this one too
 * @beats: what is known of this one
 *
 * Up to twice as long is as near: heartbeats vary by that much.
 *
 * How near a path is when it is idle is held against what the others take with the work they have, for as long as
 * they have it nobody knows better.  A path that would be twice as slow even so is far.
 *
 * Context: any.
 * Return: its rank.  One path at least is neither far nor unknown if a heartbeat was answered on any.
 */
enum rtrs_mp_rank rtrs_mp_rank(const struct rtrs_mp_nearest *nearest, const struct rtrs_mp_beats *beats)
{
	if (!beats->last_ns)
		return RTRS_MP_UNKNOWN;
	if (rtrs_mp_more_than_twice(beats->idle_ns, nearest->last_ns))
		return RTRS_MP_FAR;
	if (beats->slowed && rtrs_mp_more_than_twice(beats->share_ns, nearest->share_ns))
		return RTRS_MP_SLOW;
	return RTRS_MP_NEAR;
}
EXPORT_SYMBOL_GPL(rtrs_mp_rank);

/**
 * rtrs_mp_service_add() - account for an answer
 * @service_ns: service time so far, 0 if there is none
 * @latency_ns: how long the request took
 * @inflight: requests in flight when it was sent, itself included; at least 1
 *
 * A path that serves one request after the other, as a slow wire does, takes longer the more are in
 * flight; one that is only far away takes as long for many as for one.  Time divided by requests in
 * flight tells both: it is the time between two answers.  Times the requests in flight it is what the
 * next one will take, of the first kind of path and of the second.
 *
 * Context: any.
 * Return: the new service time in nanoseconds, an average over about eight answers, never 0.
 */
u64 rtrs_mp_service_add(u64 service_ns, u64 latency_ns, u32 inflight)
{
	u64 sample = max_t(u64, div_u64(latency_ns, max_t(u32, inflight, 1)), 1);

	if (!service_ns)
		return sample;
	return max_t(u64, service_ns - service_ns / 8 + sample / 8, 1);
}
EXPORT_SYMBOL_GPL(rtrs_mp_service_add);

/**
 * rtrs_mp_service_aged() - what is left of a service time that no answer has confirmed
 * @service_ns: service time
 * @age_s: seconds since the last answer
 *
 * A path that was slow is not asked any more, so nobody would notice that it is not slow any more: its
 * time halves each second, until it is tried again.
 *
 * Context: any.
 * Return: nanoseconds.
 */
u64 rtrs_mp_service_aged(u64 service_ns, u32 age_s)
{
	return age_s < 64 ? service_ns >> age_s : 0;
}
EXPORT_SYMBOL_GPL(rtrs_mp_service_aged);

/**
 * rtrs_mp_better() - should the next request go to one path rather than to another
 * @policy: the policy of the session
 * @a: one path
 * @b: the other one, the best so far
 *
 * With service-time a path that was never measured wins, for only requests measure it; with min-latency it
 * loses, for heartbeats do it anyway.  Paths that are equal are compared by their requests in flight.
 *
 * Context: any.
 * Return: true if @a is strictly better than @b.  Never with round-robin, where the order of the
 * paths decides.
 */
bool rtrs_mp_better(enum rtrs_mp_policy policy, const struct rtrs_mp_cand *a,
		    const struct rtrs_mp_cand *b)
{
	switch (policy) {
	case RTRS_MP_MIN_INFLIGHT:
		return rtrs_mp_less_inflight(a, b);
	case RTRS_MP_MIN_LATENCY:
		return rtrs_mp_nearer(a, b);
	case RTRS_MP_SERVICE_TIME:
		return rtrs_mp_answers_first(a, b);
	case RTRS_MP_ROUND_ROBIN:
	case RTRS_MP_POLICY__NR:
		break;
	}
	return false;
}
EXPORT_SYMBOL_GPL(rtrs_mp_better);

static bool rtrs_mp_name_matches(const struct rtrs_mp_policy_name *name, const char *buf, size_t len)
{
	if (len == 1)
		return buf[0] == name->digit;
	if (len == 2)
		return !strncasecmp(buf, name->abbr, 2);
	return len >= name->long_len && !strncasecmp(buf, name->text, name->long_len);
}

/**
 * rtrs_mp_policy_parse() - read the name of a policy
 * @buf: NUL-terminated text, with or without one newline at its end
 *
 * Sysfs specification section 1: a digit, or the two letters, or a text that starts with the long
 * name, whatever the case.  So what was read from the file can be written back to it.
 *
 * Context: any.
 * Return: a value of enum rtrs_mp_policy, or -EINVAL.
 */
int rtrs_mp_policy_parse(const char *buf)
{
	size_t len = strlen(buf);
	int i;

	if (len && buf[len - 1] == '\n')
		len--;
	for (i = 0; i < RTRS_MP_POLICY__NR; i++)
		if (rtrs_mp_name_matches(&rtrs_mp_policy_names[i], buf, len))
			return i;
	return -EINVAL;
}
EXPORT_SYMBOL_GPL(rtrs_mp_policy_parse);

/**
 * rtrs_mp_policy_text() - name of a policy for a person
 * @policy: the policy
 *
 * Sysfs specification section 1.
 *
 * Context: any.
 * Return: the text without newline, "unknown" for a value that is no policy.
 */
const char *rtrs_mp_policy_text(enum rtrs_mp_policy policy)
{
	if ((unsigned int)policy >= RTRS_MP_POLICY__NR)
		return "unknown";
	return rtrs_mp_policy_names[policy].text;
}
EXPORT_SYMBOL_GPL(rtrs_mp_policy_text);
