// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the devices below paths tell, network devices and RDMA devices: a link that is lost ends a path at
 * once, rather than after the queue pair's retries, and one that is back, or a device that was added, starts
 * the next attempt at once, rather than when it is due.
 *
 * A device that goes away needs nothing here: the CM tells each connection.
 */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include <linux/netdevice.h>
#include <linux/slab.h>

#include "clt.h"

static void rtrs_clt_carrier_up(struct rtrs_clt_path *path)
{
	/* Somebody waits for the result of the first attempt, which is made as long as there are none. */
	if (!READ_ONCE(path->attempts))
		return;
	rtrs_clt_path_event(path, RTRS_CLT_EV_LINK_UP);
}

static void rtrs_clt_carrier_down(struct rtrs_clt_path *path)
{
	enum rtrs_clt_path_state state = rtrs_clt_path_state(path);

	if (state == RTRS_CLT_PATH_CONNECTED || state == RTRS_CLT_PATH_CONNECTING)
		rtrs_clt_path_error(path, -ENETDOWN);
}

static void rtrs_clt_carrier_of_netdev(struct rtrs_clt_path *path, const void *arg)
{
	const struct net_device *ndev = arg;

	if (READ_ONCE(path->ifindex) != ndev->ifindex)
		return;
	if (netif_running(ndev) && netif_carrier_ok(ndev))
		rtrs_clt_carrier_up(path);
	else
		rtrs_clt_carrier_down(path);
}

static int rtrs_clt_carrier_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct net_device *ndev = netdev_notifier_info_to_dev(ptr);

	if (net_eq(dev_net(ndev), &init_net) &&
	    (event == NETDEV_UP || event == NETDEV_DOWN || event == NETDEV_CHANGE))
		rtrs_clt_each_path(rtrs_clt_carrier_of_netdev, ndev);
	return NOTIFY_DONE;
}

static struct notifier_block rtrs_clt_carrier_nb = {
	.notifier_call = rtrs_clt_carrier_event,
};

static void rtrs_clt_carrier_of_port(struct rtrs_clt_path *path, const void *arg)
{
	const struct ib_event *ev = arg;

	/* Where there is a network device it tells, and sooner: its news, told twice, would end an attempt. */
	if (READ_ONCE(path->ifindex) || READ_ONCE(path->dev_index) != ev->device->index ||
	    READ_ONCE(path->port) != ev->element.port_num)
		return;
	if (ev->event == IB_EVENT_PORT_ERR)
		rtrs_clt_carrier_down(path);
	else
		rtrs_clt_carrier_up(path);
}

static void rtrs_clt_port_event(struct ib_event_handler *handler, struct ib_event *ev)
{
	if (ev->event == IB_EVENT_PORT_ACTIVE || ev->event == IB_EVENT_PORT_ERR)
		rtrs_clt_each_path(rtrs_clt_carrier_of_port, ev);
}

/*
 * Which paths will go over a new device is not known before they have asked for a route.  One that is
 * connecting has found its device, or finds none at once.
 */
static void rtrs_clt_carrier_new_device(struct rtrs_clt_path *path, const void *arg)
{
	if (rtrs_clt_path_state(path) == RTRS_CLT_PATH_RECONNECTING && rtrs_clt_path_has_carrier(path))
		rtrs_clt_carrier_up(path);
}

static struct ib_client rtrs_clt_ib_client;

static int rtrs_clt_add_device(struct ib_device *dev)
{
	struct ib_event_handler *handler = kzalloc(sizeof(*handler), GFP_KERNEL);

	if (!handler)
		return -ENOMEM;
	INIT_IB_EVENT_HANDLER(handler, dev, rtrs_clt_port_event);
	ib_set_client_data(dev, &rtrs_clt_ib_client, handler);
	ib_register_event_handler(handler);
	/* The CM, on which this module depends, has the device already. */
	rtrs_clt_each_path(rtrs_clt_carrier_new_device, NULL);
	return 0;
}

static void rtrs_clt_remove_device(struct ib_device *dev, void *client_data)
{
	struct ib_event_handler *handler = client_data;

	ib_unregister_event_handler(handler);
	kfree(handler);
}

static struct ib_client rtrs_clt_ib_client = {
	.name = "rtrs_client",
	.add = rtrs_clt_add_device,
	.remove = rtrs_clt_remove_device,
};

/**
 * rtrs_clt_carrier_init() - begin to listen
 *
 * Context: module init.
 * Return: 0 or negative errno.
 */
int rtrs_clt_carrier_init(void)
{
	int ret;

	ret = register_netdevice_notifier(&rtrs_clt_carrier_nb);
	if (ret)
		return ret;
	ret = ib_register_client(&rtrs_clt_ib_client);
	if (ret)
		unregister_netdevice_notifier(&rtrs_clt_carrier_nb);
	return ret;
}

/**
 * rtrs_clt_carrier_exit() - stop to listen; no callback runs after return
 *
 * Context: module exit.
 */
void rtrs_clt_carrier_exit(void)
{
	ib_unregister_client(&rtrs_clt_ib_client);
	unregister_netdevice_notifier(&rtrs_clt_carrier_nb);
}
