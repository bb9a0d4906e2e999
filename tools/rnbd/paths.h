/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Choose the paths to a server.
 */
#ifndef RNBD_PATHS_H
#define RNBD_PATHS_H

#include "net.h"

#define MAX_PATHS	6

/* Largest packet of RoCE v2: 4096 bytes of data and all headers. */
#define ROCE_PACKET	4200

/* Why something is not possible. */
struct trouble {
	enum status status;
	const char *text;
	const char *next;
};

/* A route to an address of the server. */
struct route {
	union addr dst, src;
	const char *netdev;
	struct rdma_port port;
};

struct route_list {
	struct route *route;
	size_t nr;
};

bool route_find(const union addr *dst, const union addr *src, struct route *route,
		struct trouble *trouble);
const char *route_text(const struct route *route);
bool route_probe(const struct route *route, struct trouble *trouble);
bool server_addresses(const char *server, const struct args *args, struct addr_list *list,
		      struct trouble *trouble);
bool path_text(const char *given, const char **text, struct route *route, struct trouble *trouble);
enum status trouble_fail(const struct trouble *trouble, const char *what);
void trouble_warn(const struct trouble *trouble, const char *what);

#endif
