// SPDX-License-Identifier: GPL-2.0-only
/* News of devices, for those who listen by netlink. */
#include "tell.h"
#include "../proto/opmap.h"

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
	struct rtrs_nl_news news = {
		.event = event,
		.side = RTRS_NL_SIDE_CLIENT,
		.session = dev->sess->name,
		.reason = reason,
		.error = error,
		.device = dev->disk->disk_name,
		.device_path = dev->path,
		.access_mode = rnbd_access_mode_name(dev->access_mode),
		.nsectors = get_capacity(dev->disk),
	};

	rtrs_nl_tell(&news);
}
