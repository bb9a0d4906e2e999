// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "io.h"
#include "mem.h"
#include "out.h"
#include "paths.h"
#include "value.h"

#define LOOPBACK	"lo"

/* Every host takes this much in one piece. */
#define SMALL_PACKET	128

static bool trouble_set(struct trouble *trouble, enum status status, const char *text,
			const char *next)
{
	*trouble = (struct trouble){ status, text, next };
	return false;
}

enum status trouble_fail(const struct trouble *trouble, const char *what)
{
	fail(trouble->status, "%s: %s", what, trouble->text);
	detail("next", "%s", trouble->next);
	return trouble->status;
}

/* For something that goes on without. */
void trouble_warn(const struct trouble *trouble, const char *what)
{
	warn("%s: %s", what, trouble->text);
	detail("next", "%s", trouble->next);
}

/* What SoftRoCE can sit on: of a VLAN the adapter below, whose RDMA device then has the VLAN's addresses too. */
static const char *rxe_netdev(const char *netdev)
{
	const char *uevent = io_read("/sys/class/net/%s/uevent", netdev);
	struct words entries;
	size_t i;

	if (!uevent || !strstr(uevent, "DEVTYPE=vlan"))
		return netdev;
	entries = io_list("/sys/class/net/%s", netdev);
	for (i = 0; i < entries.nr; i++)
		if (!strncmp(entries.word[i], "lower_", strlen("lower_")))
			return rxe_netdev(entries.word[i] + strlen("lower_"));
	return netdev;
}

static bool no_rdma(const struct route *route, struct trouble *trouble)
{
	const char *dst = addr_text(&route->dst), *netdev = route->netdev, *rxe = rxe_netdev(netdev);

	if (!strcmp(netdev, LOOPBACK))
		return trouble_set(trouble, ST_NOT_READY,
				   mem_printf("%s is on %s, which cannot carry RDMA", dst, netdev),
				   "name an address of a network adapter");
	return trouble_set(trouble, ST_NOT_READY,
			   mem_printf("no RDMA device on the route to %s, which leaves by %s from %s",
				      dst, netdev, addr_text(&route->src)),
			   mem_printf("attach SoftRoCE: rdma link add rxe_%s type rxe netdev %s", rxe, rxe));
}

static bool route_source(struct route *route, const union addr *src, struct trouble *trouble)
{
	const char *dst = addr_text(&route->dst);
	int err;

	if (src && src->sa.sa_family != route->dst.sa.sa_family)
		return trouble_set(trouble, ST_USAGE,
				   mem_printf("source %s and destination %s are of different address families",
					      addr_text(src), dst),
				   "give two IPv4 or two IPv6 addresses");
	if (src) {
		route->src = *src;
	} else {
		err = net_source(&route->dst, &route->src);
		if (err)
			return trouble_set(trouble, ST_UNREACHABLE,
					   mem_printf("no route to %s: %s", dst, strerror(err)),
					   mem_printf("ip route get %s", dst));
	}
	route->netdev = net_interface(&route->src);
	if (!route->netdev)
		return trouble_set(trouble, ST_NOT_READY,
				   mem_printf("this host does not have the address %s",
					      addr_text(&route->src)),
				   "ip address show lists those it has");
	return true;
}

/* How to get from here, from src if it is given, to an address of the server. */
bool route_find(const union addr *dst, const union addr *src, struct route *route,
		struct trouble *trouble)
{
	bool local;

	*route = (struct route){ .dst = *dst };
	if (addr_link_local(dst))
		return trouble_set(trouble, ST_USAGE,
				   mem_printf("%s is link-local, which RTRS cannot use", addr_text(dst)),
				   "give another address of the server");
	if (!route_source(route, src, trouble))
		return false;
	/* A way within this host is RDMA all the same, by the device that has the address. */
	local = addr_equal(&route->src, dst);
	if (!rdma_find(local ? NULL : route->netdev, dst, &route->port))
		return no_rdma(route, trouble);
	if (route->port.iwarp)
		return trouble_set(trouble, ST_NOT_READY,
				   mem_printf("RDMA device %s on the route to %s is iWARP, which RTRS cannot use",
					      route->port.device, addr_text(dst)),
				   "use an InfiniBand or RoCE device, or SoftRoCE");
	if (!route->port.active)
		return trouble_set(trouble, ST_NOT_READY,
				   mem_printf("port %s of RDMA device %s on the route to %s is not active",
					      route->port.port, route->port.device, addr_text(dst)),
				   mem_printf("ip link set %s up; rdma link show", route->netdev));
	if (!rdma_has_address(&route->port, &route->src))
		return trouble_set(trouble, ST_NOT_READY,
				   mem_printf("RDMA device %s has no GID of the source address %s",
					      route->port.device, addr_text(&route->src)),
				   mem_printf("rdma link show; give the address to %s once more, or attach the device anew",
					      route->netdev));
	return true;
}

/* As map_device and add_path take it. */
const char *route_text(const struct route *route)
{
	return mem_printf("ip:%s@ip:%s", addr_text(&route->src), addr_text(&route->dst));
}

/*
 * Do packets arrive that are as large as the interface sends them? False also if nobody knows, as
 * the server does not answer to small ones; then there is no status.
 */
bool route_probe(const struct route *route, struct trouble *trouble)
{
	long long mtu = io_read_number(1500, "/sys/class/net/%s/mtu", route->netdev);
	long long bytes = mtu > ROCE_PACKET ? ROCE_PACKET : mtu;
	const char *dst = addr_text(&route->dst);
	int err = net_probe(&route->dst, SMALL_PACKET);

	if (err)
		return trouble_set(trouble, ST_OK,
				   mem_printf("%s does not answer a probe: %s", dst, strerror(err)),
				   mem_printf("ping %s", dst));
	err = net_probe(&route->dst, bytes);
	if (err)
		return trouble_set(trouble, ST_UNREACHABLE,
				   mem_printf("packets of %d bytes get to %s, of %lld do not, MTU of %s is %lld: %s",
					      SMALL_PACKET, dst, bytes, route->netdev, mtu, strerror(err)),
				   mem_printf("one MTU for %s, the server and all between: ip link set %s mtu ...",
					      route->netdev, route->netdev));
	trouble->text = mem_printf("packets of %lld bytes arrive", bytes);
	return true;
}

/* Addresses of a server, all of the family that comes first, as two of one adapter are no two paths. */
bool server_addresses(const char *server, const struct args *args, struct addr_list *list,
		      struct trouble *trouble)
{
	struct addr_list all = { 0 };
	int family = args->ipv4 ? AF_INET : args->ipv6 ? AF_INET6 : AF_UNSPEC;
	const char *why = net_resolve(server, family, &all);
	size_t i, j;

	if (why)
		return trouble_set(trouble, ST_NOT_READY,
				   mem_printf("cannot find the address of %s: %s", server, why),
				   mem_printf("getent ahosts %s; or give an address", quoted(server)));
	for (i = 0; i < all.nr; i++) {
		for (j = 0; j < list->nr && !addr_equal(&all.addr[i], &list->addr[j]); j++)
			;
		if (j == list->nr && all.addr[i].sa.sa_family == all.addr[0].sa.sa_family)
			*MEM_ADD(list->addr, list->nr) = all.addr[i];
	}
	return true;
}

static const char *without_ip(const char *text)
{
	return strncmp(text, "ip:", 3) ? text : text + 3;
}

/* Of a path with a GID, which is the kernel's business and has no route. */
static bool gid_path_text(const char *given, const char *sep, const char **text, struct route *route,
			  struct trouble *trouble)
{
	const char *dst = sep ? sep + 1 : given, *src = sep ? mem_copy(given, sep - given) : dst;
	const char *wrong = value_address(src) ? src : value_address(dst) ? dst : NULL;

	if (wrong)
		return trouble_set(trouble, ST_USAGE, mem_printf("'%s' is no address", wrong),
				   "expected [SRC@]DST, as gid:fe80::1@gid:fe80::2");
	*text = sep ? mem_printf("%s@%s", address_text(src), address_text(dst)) : address_text(dst);
	route->netdev = NULL;
	return true;
}

/* "[SRC@]DST" as people give it, for the kernel. */
bool path_text(const char *given, const char **text, struct route *route, struct trouble *trouble)
{
	const char *sep = strpbrk(given, "@,"), *dst = sep ? sep + 1 : given;
	const struct args any = { 0 };
	struct addr_list list = { 0 };
	union addr src;

	if (strstr(given, "gid:"))
		return gid_path_text(given, sep, text, route, trouble);
	if (sep && !addr_parse(without_ip(mem_copy(given, sep - given)), &src))
		return trouble_set(trouble, ST_USAGE,
				   mem_printf("'%.*s' is no address of this host", (int)(sep - given), given),
				   "expected [SRC@]DST, as 10.1.0.1@10.1.0.2");
	if (!*dst)
		return trouble_set(trouble, ST_USAGE, "the destination is missing",
				   "expected [SRC@]DST, as 10.1.0.1@10.1.0.2");
	if (!server_addresses(without_ip(dst), &any, &list, trouble) ||
	    !route_find(&list.addr[0], sep ? &src : NULL, route, trouble))
		return false;
	*text = route_text(route);
	return true;
}
