/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Addresses, host names, routes; and the RDMA device that goes with a route.
 */
#ifndef RNBD_NET_H
#define RNBD_NET_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "rnbd.h"

union addr {
	struct sockaddr sa;
	struct sockaddr_in in4;
	struct sockaddr_in6 in6;
};

struct addr_list {
	union addr *addr;
	size_t nr;
};

bool addr_parse(const char *text, union addr *addr);
const char *addr_text(const union addr *addr);
bool addr_equal(const union addr *a, const union addr *b);
bool addr_link_local(const union addr *addr);

const char *net_resolve(const char *host, int family, struct addr_list *list);
int net_source(const union addr *dst, union addr *src);
const char *net_interface(const union addr *addr);
int net_probe(const union addr *dst, size_t bytes);

/* A port of an RDMA device. */
struct rdma_port {
	const char *device, *port;
	const char *netdev;		/* the interface it was found for, or its own */
	bool iwarp, ethernet, active;
};

struct rdma_list {
	struct rdma_port *port;
	size_t nr;
};

struct rdma_list rdma_load(void);
bool rdma_find(const char *netdev, const union addr *addr, struct rdma_port *port);
bool rdma_has_address(const struct rdma_port *port, const union addr *addr);

#endif
