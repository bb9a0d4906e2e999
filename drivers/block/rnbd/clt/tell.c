// SPDX-License-Identifier: GPL-2.0-only
/* News of devices, for those who listen by netlink. */
#include "tell.h"
#include "../proto/opmap.h"

static struct rtrs_nl_news rnbd_clt_news(const struct rnbd_clt_dev *dev, enum rtrs_nl_event event,
					 const char *reason)
{
	return (struct rtrs_nl_news){
		.event = event,
		.side = RTRS_NL_SIDE_CLIENT,
		.session = dev->sess->name,
		.reason = reason,
		.device = dev->disk->disk_name,
		.device_path = dev->path,
		.access_mode = rnbd_access_mode_name(dev->access_mode),
		.nsectors = get_capacity(dev->disk),
	};
}

/**
 * rnbd_clt_tell() - tell what happened to a device
 * @dev: device with a disk
 * @event: what
 * @reason: why, or NULL
 * @error: negative errno that goes with it, or 0
 *
 * Context: any.
 */
void rnbd_clt_tell(const struct rnbd_clt_dev *dev, enum rtrs_nl_event event, const char *reason,
		   int error)
{
	struct rtrs_nl_news news = rnbd_clt_news(dev, event, reason);

	news.error = error;
	rtrs_nl_tell(&news);
}

/**
 * rnbd_clt_tell_slow() - tell that a device is slow, or that this is over
 * @dev: device with a disk
 * @event: which of the two
 * @reason: where its requests are, or NULL
 * @secs: for how long the oldest one has been waiting
 *
 * Context: any.
 */
void rnbd_clt_tell_slow(const struct rnbd_clt_dev *dev, enum rtrs_nl_event event, const char *reason,
			unsigned int secs)
{
	struct rtrs_nl_news news = rnbd_clt_news(dev, event, reason);

	news.gap_ms = secs * MSEC_PER_SEC;
	rtrs_nl_tell(&news);
}
