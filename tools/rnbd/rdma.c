// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA devices, from sysfs alone: the tool has to run, and to say what is missing, where there is no
 * RDMA software at all.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "io.h"
#include "mem.h"
#include "net.h"

#define CLASS	"/sys/class/infiniband"

/* Any GID of a port that belongs to a netdev or, without one, is an address. */
static bool gids_have(const char *dir, const char *netdev, const union addr *addr)
{
	struct words nrs = io_list("%s/gids", dir);
	struct in6_addr want = { 0 }, gid;
	const char *text;
	size_t i;

	if (!netdev && addr->sa.sa_family == AF_INET) {
		memset(&want.s6_addr[10], 0xff, 2);
		memcpy(&want.s6_addr[12], &addr->in4.sin_addr, 4);
	} else if (!netdev) {
		want = addr->in6.sin6_addr;
	}
	for (i = 0; i < nrs.nr; i++) {
		text = io_read(netdev ? "%s/gid_attrs/ndevs/%s" : "%s/gids/%s", dir, nrs.word[i]);
		if (!text)
			continue;
		if (netdev ? !strcmp(text, netdev) :
		    inet_pton(AF_INET6, text, &gid) == 1 && !memcmp(&gid, &want, sizeof(gid)))
			return true;
	}
	return false;
}

static const char *port_dir(const struct rdma_port *port)
{
	return mem_printf(CLASS "/%s/ports/%s", port->device, port->port);
}

static bool port_has(const struct rdma_port *port, const char *netdev, const union addr *addr)
{
	const char *dir = port_dir(port);
	struct words devices;

	if (!netdev)
		return gids_have(dir, NULL, addr);
	if (port->netdev && !strcmp(port->netdev, netdev))
		return true;
	/* IP over InfiniBand: ports are counted from 0 here. */
	devices = io_list("/sys/class/net/%s/device/infiniband", netdev);
	if (words_have(&devices, port->device) &&
	    io_read_number(0, "/sys/class/net/%s/dev_port", netdev) + 1 == atoi(port->port))
		return true;
	return gids_have(dir, netdev, NULL);
}

struct rdma_list rdma_load(void)
{
	struct words devices = io_list(CLASS), ports;
	struct rdma_list list = { 0 };
	const char *type, *state, *netdev, *layer;
	struct rdma_port *port;
	size_t i, j;

	for (i = 0; i < devices.nr; i++) {
		type = io_read(CLASS "/%s/node_type", devices.word[i]);
		ports = io_list(CLASS "/%s/ports", devices.word[i]);
		for (j = 0; j < ports.nr; j++) {
			state = io_read(CLASS "/%s/ports/%s/state", devices.word[i], ports.word[j]);
			layer = io_read(CLASS "/%s/ports/%s/link_layer", devices.word[i],
					ports.word[j]);
			/* What a device in software sits on; others say it for each GID. */
			netdev = io_read(CLASS "/%s/parent", devices.word[i]);
			if (!netdev)
				netdev = io_read(CLASS "/%s/ports/%s/gid_attrs/ndevs/0",
						 devices.word[i], ports.word[j]);
			port = MEM_ADD(list.port, list.nr);
			*port = (struct rdma_port) {
				.device = devices.word[i],
				.port = ports.word[j],
				.netdev = netdev,
				.iwarp = type && *type == '4',
				.ethernet = layer && !strcmp(layer, "Ethernet"),
				.active = state && *state == '4',
			};
		}
	}
	return list;
}

/*
 * The port that carries what goes over an interface; or, for a route within this host, which has none
 * of use, the port that has the address.
 */
bool rdma_find(const char *netdev, const union addr *addr, struct rdma_port *port)
{
	struct rdma_list list = rdma_load();
	size_t i;

	for (i = 0; i < list.nr; i++) {
		if (!port_has(&list.port[i], netdev, addr))
			continue;
		*port = list.port[i];
		return true;
	}
	return false;
}

/* Over Ethernet an address can be used once there is a GID of it. */
bool rdma_has_address(const struct rdma_port *port, const union addr *addr)
{
	return !port->ethernet || gids_have(port_dir(port), NULL, addr);
}
