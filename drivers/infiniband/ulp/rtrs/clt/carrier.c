// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the network devices below paths tell: a carrier that is lost ends a path at once, rather than after
 * the device's retries, and one that is back starts the next attempt at once, rather than when it is due.
 */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include <linux/netdevice.h>

#include "clt.h"

static void rtrs_clt_carrier_up(struct rtrs_clt_path *path)
{
	/* A first attempt takes its time, and somebody waits for its result. */
	if (!READ_ONCE(path->was_up))
		return;
	set_bit(0, &path->retry_now);
	if (!rtrs_clt_path_event(path, RTRS_CLT_EV_LINK_UP))
		clear_bit(0, &path->retry_now);
}

static void rtrs_clt_carrier_down(struct rtrs_clt_path *path)
{
	enum rtrs_clt_path_state state = rtrs_clt_path_state(path);

	if (state == RTRS_CLT_PATH_CONNECTED || state == RTRS_CLT_PATH_CONNECTING)
		rtrs_clt_path_error(path, -ENETDOWN);
}

static int rtrs_clt_carrier_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *ndev = netdev_notifier_info_to_dev(ptr);
	bool up = netif_running(ndev) && netif_carrier_ok(ndev);

	if (net_eq(dev_net(ndev), &init_net) &&
	    (event == NETDEV_UP || event == NETDEV_DOWN || event == NETDEV_CHANGE))
		rtrs_clt_each_path_on(ndev->ifindex, up ? rtrs_clt_carrier_up :
							  rtrs_clt_carrier_down);
	return NOTIFY_DONE;
}

static struct notifier_block rtrs_clt_carrier_nb = {
	.notifier_call = rtrs_clt_carrier_event,
};

/**
 * rtrs_clt_carrier_init() - begin to listen
 *
 * Context: module init.
 * Return: 0 or negative errno.
 */
int rtrs_clt_carrier_init(void)
{
	return register_netdevice_notifier(&rtrs_clt_carrier_nb);
}

/**
 * rtrs_clt_carrier_exit() - stop to listen; no callback runs after return
 *
 * Context: module exit.
 */
void rtrs_clt_carrier_exit(void)
{
	unregister_netdevice_notifier(&rtrs_clt_carrier_nb);
}
