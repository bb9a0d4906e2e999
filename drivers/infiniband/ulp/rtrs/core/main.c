// SPDX-License-Identifier: GPL-2.0-only
/* rtrs-core: what client and server share; address helpers of the ULP interface. */
#define pr_fmt(fmt) "rtrs: " fmt

#include <linux/module.h>
#include <rdma/rtrs.h>

#include "../proto/addr.h"
#include "../verbs/cq.h"
#include "../verbs/fault.h"
#include "job.h"
#include "nl.h"

MODULE_DESCRIPTION("RTRS (RDMA Transport) core");
MODULE_LICENSE("GPL");

/**
 * sockaddr_to_str() - format one address
 * @addr: IPv4, IPv6 or AF_IB address
 * @buf: result, "ip:..." or "gid:...", NUL terminated
 * @len: size of @buf
 *
 * API specification section 4.
 *
 * Context: any.
 * Return: length of the text without NUL.
 */
int sockaddr_to_str(const struct sockaddr *addr, char *buf, size_t len)
{
	return rtrs_addr_format(addr, buf, len);
}
EXPORT_SYMBOL(sockaddr_to_str);

/**
 * rtrs_addr_to_str() - format a pair of addresses
 * @addr: the pair; without source only the destination is written
 * @buf: result, "src@dst", NUL terminated
 * @len: size of @buf
 *
 * API specification section 4.
 *
 * Context: any.
 * Return: length of the text without NUL.
 */
int rtrs_addr_to_str(const struct rtrs_addr *addr, char *buf, size_t len)
{
	int n = 0;

	if (addr->src) {
		n = rtrs_addr_format((struct sockaddr *)addr->src, buf, len);
		n += scnprintf(buf + n, len - n, "@");
	}
	return n + rtrs_addr_format((struct sockaddr *)addr->dst, buf + n, len - n);
}
EXPORT_SYMBOL(rtrs_addr_to_str);

/**
 * rtrs_addr_to_sockaddr() - parse "[src,]dst" or "[src@]dst"
 * @str: the text, NUL terminated
 * @len: its length
 * @port: port of the destination; the source gets 0
 * @addr: storage for both; @src is set to NULL if the text has no source
 *
 * API specification section 4.
 *
 * Context: any.
 * Return: 0; -EINVAL for a bad source or number; -EPROTONOSUPPORT for a destination without "ip:" or
 * "gid:".
 */
int rtrs_addr_to_sockaddr(const char *str, size_t len, u16 port, struct rtrs_addr *addr)
{
	size_t src_len, dst_off;
	int ret;

	len = strnlen(str, len);
	ret = rtrs_addr_split(str, len, &src_len, &dst_off);
	if (ret < 0)
		return ret;
	if (!ret)
		addr->src = NULL;
	else if (rtrs_addr_parse(str, src_len, 0, addr->src))
		return -EINVAL;
	return rtrs_addr_parse(str + dst_off, len - dst_off, port, addr->dst);
}
EXPORT_SYMBOL(rtrs_addr_to_sockaddr);

static int __init rtrs_core_init(void)
{
	int ret = rtrs_cq_init();

	if (ret)
		return ret;
	ret = rtrs_nl_init();
	if (ret) {
		pr_err("cannot register netlink family rtrs: error %d\n", ret);
		rtrs_cq_exit();
		return ret;
	}
	rtrs_fault_init();
	return 0;
}

static void __exit rtrs_core_exit(void)
{
	rtrs_fault_exit();
	rtrs_nl_exit();
	rtrs_jobs_exit();
	rtrs_cq_exit();
}

module_init(rtrs_core_init);
module_exit(rtrs_core_exit);
