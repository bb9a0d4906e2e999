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
