/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one door to netlink: the family "rtrs" of the kernel, which mainline's modules do not have.
 */
#ifndef RNBD_NL_H
#define RNBD_NL_H

#include <libmnl/libmnl.h>
#include <stdint.h>

#include "../../include/uapi/rdma/rtrs_netlink.h"

#include "rnbd.h"

/* There is room for the attributes of all paths. */
#define NL_REQUEST_BYTES	16384

/* A family that is there, the number of its group of events, and a bit for each command. */
struct nl {
	struct mnl_socket *sock;
	unsigned int family, events;
	uint32_t commands;
};

/* What the kernel has answered to a request. */
struct nl_reply {
	int err;		/* 0 or an errno */
	const char *words;	/* NULL if there are none */
	bool blames;		/* some attribute, which is there or missing */
};

/* What came of waiting for an event. */
enum nl_news {
	NL_EVENT,
	NL_LOST,		/* some did not get here */
	NL_GONE,		/* the family went: rtrs-core was unloaded */
	NL_FAILED,		/* errno says why */
};

/* The attributes of a message, by their numbers; those that are not there are NULL. */
struct nl_message {
	const struct nlattr *attr[RTRS_NL_A_MAX + 1];
};

bool nl_open(struct nl *nl);
void nl_close(struct nl *nl);
bool nl_has(const struct nl *nl, unsigned int command);
struct nlmsghdr *nl_request(const struct nl *nl, unsigned int command);
bool nl_ask(struct nl *nl, const struct nlmsghdr *msg, struct nl_reply *reply);
bool nl_listen(struct nl *nl);
enum nl_news nl_next(struct nl *nl, struct nl_message *msg);

#endif
