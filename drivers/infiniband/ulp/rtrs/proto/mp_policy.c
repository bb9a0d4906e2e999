// SPDX-License-Identifier: GPL-2.0-only
/*
 * Multipath policies: compare two paths, and the names of the policies in sysfs.
 */
#include "mp_policy.h"

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

static bool rtrs_mp_less_latency(const struct rtrs_mp_cand *a, const struct rtrs_mp_cand *b)
{
	bool a_known = a->latency_ns > 0;
	bool b_known = b->latency_ns > 0;

	if (a_known != b_known)
		return a_known;
	if (a_known && a->latency_ns != b->latency_ns)
		return a->latency_ns < b->latency_ns;
	return rtrs_mp_less_inflight(a, b);
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
 * With min-latency a path whose latency was never measured loses against one where it was; with
 * service-time it wins, for only requests measure it.  Paths that are equal are compared by their
 * requests in flight.
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
		return rtrs_mp_less_latency(a, b);
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
