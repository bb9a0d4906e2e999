// SPDX-License-Identifier: GPL-2.0-only
/*
 * Path addresses: from text to socket address and back, and are two of them the same host.
 *
 * Operation
 *	The kernel's in4_pton() and in6_pton() take a NUL, a colon or any other character as the end of
 *	an address.  Here the text has a length and all of it has to be the address, so where the
 *	parser stopped counts as much as that it was content.
 */
#include "addr.h"
#include <rtrs/rtrs_format.h>

#define RTRS_IB_DEFAULT_PKEY	0xffff

static bool rtrs_addr_text_to_v4(const char *str, size_t len, u8 v4[4])
{
	const char *end;

	return len < INET_ADDRSTRLEN && in4_pton(str, len, v4, -1, &end) && end == str + len;
}

static bool rtrs_addr_text_to_v6(const char *str, size_t len, u8 v6[16])
{
	const char *end;

	return len < INET6_ADDRSTRLEN && in6_pton(str, len, v6, -1, &end) && end == str + len;
}

static int rtrs_addr_parse_ip(const char *str, size_t len, u16 port, struct sockaddr_storage *dst)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)dst;
	struct sockaddr_in *sin = (struct sockaddr_in *)dst;
	u8 raw[16];

	if (rtrs_addr_text_to_v4(str, len, raw)) {
		memset(dst, 0, sizeof(*dst));
		sin->sin_family = AF_INET;
		sin->sin_port = cpu_to_be16(port);
		memcpy(&sin->sin_addr, raw, sizeof(sin->sin_addr));
		return 0;
	}
	if (rtrs_addr_text_to_v6(str, len, raw)) {
		memset(dst, 0, sizeof(*dst));
		sin6->sin6_family = AF_INET6;
		sin6->sin6_port = cpu_to_be16(port);
		memcpy(&sin6->sin6_addr, raw, sizeof(sin6->sin6_addr));
		return 0;
	}
	return -EINVAL;
}

static int rtrs_addr_parse_gid(const char *str, size_t len, u16 port, struct sockaddr_storage *dst)
{
	struct sockaddr_ib *sib = (struct sockaddr_ib *)dst;
	u8 raw[16];

	if (!rtrs_addr_text_to_v6(str, len, raw))
		return -EINVAL;
	memset(dst, 0, sizeof(*dst));
	sib->sib_family = AF_IB;
	sib->sib_pkey = cpu_to_be16(RTRS_IB_DEFAULT_PKEY);
	memcpy(&sib->sib_addr, raw, sizeof(sib->sib_addr));
	sib->sib_sid = cpu_to_be64(RTRS_IB_SERVICE_ID | port);
	sib->sib_sid_mask = cpu_to_be64(U64_MAX);
	return 0;
}

/**
 * rtrs_addr_parse() - read one address
 * @str: "ip:" with an IPv4 or IPv6 address, or "gid:" with a GID; no NUL needed
 * @len: its length; all of it must be the address, a newline is not
 * @port: port in CPU order; for a GID part of the service id
 * @dst: filled on success
 *
 * API specification section 4.
 *
 * Context: any.
 * Return: 0; -EPROTONOSUPPORT: neither "ip:" nor "gid:"; -EINVAL: what follows is no address.
 */
int rtrs_addr_parse(const char *str, size_t len, u16 port, struct sockaddr_storage *dst)
{
	if (len >= 3 && !memcmp(str, "ip:", 3))
		return rtrs_addr_parse_ip(str + 3, len - 3, port, dst);
	if (len >= 4 && !memcmp(str, "gid:", 4))
		return rtrs_addr_parse_gid(str + 4, len - 4, port, dst);
	return -EPROTONOSUPPORT;
}

/**
 * rtrs_addr_split() - find source and destination in the text of a path
 * @str: "src,dst", "src@dst" or "dst"; no NUL needed
 * @len: its length
 * @src_len: length of the source, which starts at @str; 0 if there is none
 * @dst_off: where the destination starts; it goes up to @len
 *
 * The comma is looked for first (API specification section 4).
 *
 * Context: any.
 * Return: 1 with a source, 0 without; -EINVAL if one of two sides is empty.
 */
int rtrs_addr_split(const char *str, size_t len, size_t *src_len, size_t *dst_off)
{
	const char *sep = memchr(str, ',', len);
	size_t pos;

	if (!sep)
		sep = memchr(str, '@', len);
	if (!sep) {
		*src_len = 0;
		*dst_off = 0;
		return 0;
	}
	pos = sep - str;
	if (pos == 0 || pos + 1 == len)
		return -EINVAL;
	*src_len = pos;
	*dst_off = pos + 1;
	return 1;
}

/**
 * rtrs_addr_same_host() - are two addresses the same but for the port
 * @a: one address
 * @b: the other one
 *
 * Protocol section 2.6, last but one row.  Addresses of different families differ.
 *
 * Context: any.
 * Return: true if they are; false also for families other than IPv4, IPv6 and IB.
 */
bool rtrs_addr_same_host(const struct sockaddr *a, const struct sockaddr *b)
{
	if (a->sa_family != b->sa_family)
		return false;
	switch (a->sa_family) {
	case AF_INET:
		return !memcmp(&((const struct sockaddr_in *)a)->sin_addr,
			       &((const struct sockaddr_in *)b)->sin_addr,
			       sizeof(struct in_addr));
	case AF_INET6:
		return !memcmp(&((const struct sockaddr_in6 *)a)->sin6_addr,
			       &((const struct sockaddr_in6 *)b)->sin6_addr,
			       sizeof(struct in6_addr));
	case AF_IB:
		return !memcmp(&((const struct sockaddr_ib *)a)->sib_addr,
			       &((const struct sockaddr_ib *)b)->sib_addr,
			       sizeof(struct ib_addr));
	default:
		return false;
	}
}
EXPORT_SYMBOL_GPL(rtrs_addr_same_host);

/**
 * rtrs_addr_format() - write an address as text
 * @addr: the address
 * @buf: where to
 * @len: bytes of @buf; RTRS_ADDR_STR_LEN is enough for all
 *
 * API specification section 4: "ip:" with IPv4 or shortened IPv6, "gid:" with all eight groups.  What
 * this writes rtrs_addr_parse() reads.
 *
 * Context: any.
 * Return: characters written, without the NUL; cut to what @buf takes.
 */
int rtrs_addr_format(const struct sockaddr *addr, char *buf, size_t len)
{
	switch (addr->sa_family) {
	case AF_INET:
		return scnprintf(buf, len, "ip:%pI4",
				 &((const struct sockaddr_in *)addr)->sin_addr);
	case AF_INET6:
		return scnprintf(buf, len, "ip:%pI6c",
				 &((const struct sockaddr_in6 *)addr)->sin6_addr);
	case AF_IB:
		return scnprintf(buf, len, "gid:%pI6",
				 &((const struct sockaddr_ib *)addr)->sib_addr);
	default:
		return scnprintf(buf, len, "<unknown address family %u>", addr->sa_family);
	}
}
