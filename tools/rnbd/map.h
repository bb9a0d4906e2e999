/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Map devices of one server: with given paths or those that there are, all of them or none.
 */
#ifndef RNBD_MAP_H
#define RNBD_MAP_H

#include "paths.h"

#define CLT_MAP_DEVICE	"/sys/class/rnbd-client/ctl/map_device"

/* What there is to map, and how. The caller sets server and devices. */
struct request {
	const char *server;
	const char *session;
	bool session_exists;	/* from before */
	bool session_made;	/* by the first device */
	struct words devices;
	struct words paths;
	struct route_list routes;
	unsigned int wait;
};

enum status map_request(const struct args *args, struct request *req);
enum status map_check_modules(const struct args *args);
const char *map_default_session(const char *server);
const char *map_disk(const char *session, const char *device);

#endif
