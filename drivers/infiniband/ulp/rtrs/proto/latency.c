// SPDX-License-Identifier: GPL-2.0-only
/* Where the time of a request went. */
#include "latency.h"

/* Take a part out of what is left of the total, and no more than that. */
static void rtrs_lat_take(u64 *part_ns, u64 *left_ns)
{
	*part_ns = min(*part_ns, *left_ns);
	*left_ns -= *part_ns;
}

/**
 * rtrs_lat_split() - what was on the wire is what was nowhere else
 * @part_ns: nanoseconds by enum rtrs_lat_part, all but RTRS_LAT_WIRE, which is filled in
 *
 * The parts add up to the total, whatever a peer says: what it says is shortened to what is left.
 *
 * Context: any.
 */
void rtrs_lat_split(u64 part_ns[RTRS_LAT_PARTS])
{
	u64 left_ns = part_ns[RTRS_LAT_TOTAL];

	rtrs_lat_take(&part_ns[RTRS_LAT_CLIENT], &left_ns);
	rtrs_lat_take(&part_ns[RTRS_LAT_DEVICE], &left_ns);
	rtrs_lat_take(&part_ns[RTRS_LAT_SERVER], &left_ns);
	part_ns[RTRS_LAT_WIRE] = left_ns;
}
EXPORT_SYMBOL_GPL(rtrs_lat_split);

/**
 * rtrs_lat_below_us() - what so many of a thousand times are below
 * @nr: how many times there are in each bucket, see rtrs_lat_bucket()
 * @per_mille: 1 to 1000
 *
 * Context: any.
 * Return: microseconds, the upper end of a bucket; 0 without any times, ~0 if nothing bounds the bucket.
 */
u64 rtrs_lat_below_us(const u64 nr[RTRS_LAT_BUCKETS], unsigned int per_mille)
{
	u64 sum = 0, rank;
	int i;

	for (i = 0; i < RTRS_LAT_BUCKETS; i++)
		sum += nr[i];
	if (!sum)
		return 0;
	rank = div_u64(sum * per_mille + 999, 1000);
	for (i = 0, sum = 0; i < RTRS_LAT_BUCKETS - 1; i++) {
		sum += nr[i];
		if (sum >= rank)
			return 1ULL << i;
	}
	return ~0ULL;
}
