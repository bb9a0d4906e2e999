// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mem.h"
#include "net.h"

/* Where traceroute probes too: nobody listens there, and who does gets a packet of zeros. */
#define PROBE_PORT		33434
#define PROBE_TIMEOUT_MS	1000

static socklen_t addr_len(const union addr *addr)
{
	return addr->sa.sa_family == AF_INET6 ? sizeof(addr->in6) : sizeof(addr->in4);
}

bool addr_parse(const char *text, union addr *addr)
{
	memset(addr, 0, sizeof(*addr));
	addr->sa.sa_family = AF_INET;
	if (inet_pton(AF_INET, text, &addr->in4.sin_addr) == 1)
		return true;
	addr->sa.sa_family = AF_INET6;
	return inet_pton(AF_INET6, text, &addr->in6.sin6_addr) == 1;
}

const char *addr_text(const union addr *addr)
{
	char text[INET6_ADDRSTRLEN];

	if (addr->sa.sa_family == AF_INET6)
		inet_ntop(AF_INET6, &addr->in6.sin6_addr, text, sizeof(text));
	else
		inet_ntop(AF_INET, &addr->in4.sin_addr, text, sizeof(text));
	return mem_printf("%s", text);
}

bool addr_equal(const union addr *a, const union addr *b)
{
	if (a->sa.sa_family != b->sa.sa_family)
		return false;
	if (a->sa.sa_family == AF_INET6)
		return !memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr, sizeof(a->in6.sin6_addr));
	return a->in4.sin_addr.s_addr == b->in4.sin_addr.s_addr;
}

bool addr_link_local(const union addr *addr)
{
	return addr->sa.sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&addr->in6.sin6_addr);
}

/* All addresses of a host; NULL, or why there are none. */
const char *net_resolve(const char *host, int family, struct addr_list *list)
{
	const struct addrinfo hints = { .ai_family = family, .ai_socktype = SOCK_DGRAM };
	struct addrinfo *found, *ai;
	union addr *addr;
	int err;

	err = getaddrinfo(host, NULL, &hints, &found);
	if (err)
		return err == EAI_SYSTEM ? strerror(errno) : gai_strerror(err);
	for (ai = found; ai; ai = ai->ai_next) {
		if (ai->ai_family != AF_INET && ai->ai_family != AF_INET6)
			continue;
		addr = MEM_ADD(list->addr, list->nr);
		memcpy(addr, ai->ai_addr, ai->ai_addrlen);
	}
	freeaddrinfo(found);
	return list->nr ? NULL : "no address";
}

static int net_connect(const union addr *dst)
{
	union addr to = *dst;
	int sock, err;

	if (to.sa.sa_family == AF_INET6)
		to.in6.sin6_port = htons(PROBE_PORT);
	else
		to.in4.sin_port = htons(PROBE_PORT);
	sock = socket(to.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return -errno;
	if (!connect(sock, &to.sa, addr_len(&to)))
		return sock;
	err = -errno;
	close(sock);
	return err;
}

/* The source address that routing picks for a destination. Returns 0 or an errno. */
int net_source(const union addr *dst, union addr *src)
{
	socklen_t len = sizeof(*src);
	int sock = net_connect(dst), err = 0;

	if (sock < 0)
		return -sock;
	memset(src, 0, sizeof(*src));
	if (getsockname(sock, &src->sa, &len))
		err = errno;
	close(sock);
	return err;
}

/* The interface that has an address, NULL if none has. */
const char *net_interface(const union addr *addr)
{
	const char *name = NULL;
	struct ifaddrs *all, *ifa;

	if (getifaddrs(&all))
		return NULL;
	for (ifa = all; ifa && !name; ifa = ifa->ifa_next)
		if (ifa->ifa_addr && addr_equal((const union addr *)ifa->ifa_addr, addr))
			name = mem_printf("%s", ifa->ifa_name);
	freeifaddrs(all);
	return name;
}

static int net_set_probe(int sock, int family)
{
	/* Set "do not fragment" and go by the interface's MTU, not by what was learnt on the way. */
	const int how = IP_PMTUDISC_PROBE;

	if (family == AF_INET6)
		return setsockopt(sock, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &how, sizeof(how));
	return setsockopt(sock, IPPROTO_IP, IP_MTU_DISCOVER, &how, sizeof(how));
}

/*
 * Does an IP packet of so many bytes get through in one piece? A host answers one for a port where
 * nobody listens. Returns 0 if it does, EMSGSIZE, ETIMEDOUT without an answer, or another errno.
 */
int net_probe(const union addr *dst, size_t bytes)
{
	size_t headers = dst->sa.sa_family == AF_INET6 ? 48 : 28;
	struct pollfd wait = { .events = POLLIN };
	int sock = net_connect(dst), err;
	char *data = mem_alloc(bytes);
	ssize_t done = -1;

	if (sock < 0)
		return -sock;
	wait.fd = sock;
	if (!net_set_probe(sock, dst->sa.sa_family))
		done = send(sock, data, bytes - headers, 0);
	if (done >= 0 && poll(&wait, 1, PROBE_TIMEOUT_MS) == 0)
		err = ETIMEDOUT;
	else if (done >= 0 && recv(sock, data, 1, 0) >= 0)
		err = 0;
	else
		err = errno == ECONNREFUSED ? 0 : errno;
	close(sock);
	return err;
}
