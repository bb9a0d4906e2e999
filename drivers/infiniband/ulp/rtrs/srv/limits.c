// SPDX-License-Identifier: GPL-2.0-only
/*
 * What clients may take: sessions, connections and memory, each in all and by one address.
 *
 * Whoever reaches the port can connect, as protocol 2.0 knows no proof of identity.  So a client
 * must not be able to take all there is from the others, nor all clients together what the machine
 * needs itself.  A client is known by its address, without port; one with several addresses counts
 * as several.
 *
 * What is charged is charged before it is made, and given back when it is gone.  A limit that is
 * set below what is in use takes nothing away.
 *
 * By default all together are seven eighths of the machine's memory: chunks a half, queues a quarter, and copies
 * of WRITEs' data an eighth.
 */
#define pr_fmt(fmt) "rtrs-server: " fmt

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <rdma/rtrs.h>

#include "../proto/addr.h"
#include "../proto/geometry.h"
#include "fault.h"
#include "limits.h"

/**
 * struct rtrs_srv_peer - what one address has
 * @entry: in the list of all
 * @addr: the address
 * @used: by enum rtrs_srv_limit; the object is gone when all are 0
 * @copies: bytes of copies; of paths, whose memory is in @used
 */
struct rtrs_srv_peer {
	struct list_head entry;
	struct sockaddr_storage addr;
	u64 used[RTRS_SRV_LIMITS];
	atomic64_t copies;
};

/* A resource, and the names of its parameters. */
struct rtrs_srv_limit_desc {
	const char *what;
	u32 unit;
	int error;
	const char *param;
	const char *param_peer;
};

static const struct rtrs_srv_limit_desc rtrs_srv_limit_descs[RTRS_SRV_LIMITS] = {
	[RTRS_SRV_LIMIT_SESSIONS] = {
		"sessions", 1, -EUSERS, "max_sessions", "max_sessions_per_client",
	},
	[RTRS_SRV_LIMIT_CONNECTIONS] = {
		"connections", 1, -EUSERS, "max_connections", "max_connections_per_client",
	},
	[RTRS_SRV_LIMIT_MEMORY] = {
		"MiB", SZ_1M, -ENOBUFS, "max_memory_mb", "max_memory_mb_per_client",
	},
};

/* Guards all below but the parameters; innermost. */
static DEFINE_MUTEX(rtrs_srv_limits_mutex);
static LIST_HEAD(rtrs_srv_peers);
static u64 rtrs_srv_used[RTRS_SRV_LIMITS];

static atomic64_t rtrs_srv_copies;

static int rtrs_srv_limit_set(const char *val, const struct kernel_param *kp)
{
	unsigned int value;

	if (kstrtouint(val, 0, &value) || !value) {
		pr_err("parameter %s=%.*s is not valid, allowed is 1 to %u\n", kp->name,
		       (int)strcspn(val, "\n"), val, UINT_MAX);
		return -EINVAL;
	}
	WRITE_ONCE(*(unsigned int *)kp->arg, value);
	return 0;
}

static const struct kernel_param_ops rtrs_srv_limit_ops = {
	.set = rtrs_srv_limit_set,
	.get = param_get_uint,
};

#define RTRS_SRV_LIMIT_PARAM(name, var, desc)				\
	module_param_cb(name, &rtrs_srv_limit_ops, &(var), 0644);	\
	__MODULE_PARM_TYPE(name, "uint");				\
	MODULE_PARM_DESC(name, desc)

static unsigned int rtrs_srv_max[RTRS_SRV_LIMITS] = {
	[RTRS_SRV_LIMIT_SESSIONS] = 4096,
	/* Connections and memory: by the memory of the machine. */
};

static unsigned int rtrs_srv_max_peer[RTRS_SRV_LIMITS] = {
	[RTRS_SRV_LIMIT_SESSIONS] = 64,
};

/* What a connection's queues may take of an adapter, or of rdma_rxe, for each of their entries. */
#define RTRS_SRV_QUEUE_ENTRY_BYTES	384

/* Copies may take so much less than chunks. */
#define RTRS_SRV_COPIES_PART	4

/* So many connections any machine has room for, and no machine needs more. */
#define RTRS_SRV_CONNECTIONS_LEAST	128U
#define RTRS_SRV_CONNECTIONS_MOST	131072U

RTRS_SRV_LIMIT_PARAM(max_sessions, rtrs_srv_max[RTRS_SRV_LIMIT_SESSIONS],
		     "Sessions of all clients (default: 4096)");
RTRS_SRV_LIMIT_PARAM(max_sessions_per_client, rtrs_srv_max_peer[RTRS_SRV_LIMIT_SESSIONS],
		     "Sessions of one address (default: 64)");
RTRS_SRV_LIMIT_PARAM(max_connections, rtrs_srv_max[RTRS_SRV_LIMIT_CONNECTIONS],
		     "Connections of all clients (default: a quarter of the machine's memory for their queues, at most 32768)");
RTRS_SRV_LIMIT_PARAM(max_connections_per_client, rtrs_srv_max_peer[RTRS_SRV_LIMIT_CONNECTIONS],
		     "Connections of one address (default: an eighth of the machine's memory for their queues, at most 16384)");
RTRS_SRV_LIMIT_PARAM(max_memory_mb, rtrs_srv_max[RTRS_SRV_LIMIT_MEMORY],
		     "MiB for the buffers of all clients (default: half of the machine's)");
RTRS_SRV_LIMIT_PARAM(max_memory_mb_per_client, rtrs_srv_max_peer[RTRS_SRV_LIMIT_MEMORY],
		     "MiB for the buffers of one address (default: a quarter of the machine's)");

/**
 * rtrs_srv_limits_init() - give the limits that depend on the machine's memory their defaults
 * @queue_depth: slots of a session
 *
 * Context: process; module load, parameters are set.
 */
void __init rtrs_srv_limits_init(u32 queue_depth)
{
	unsigned int mb = max_t(u64, div_u64((u64)totalram_pages() * PAGE_SIZE, SZ_1M), 4);
	u32 entries = rtrs_geometry_srv_send_wrs(false, queue_depth, U32_MAX) +
		      rtrs_geometry_srv_recv_wrs(false, queue_depth, U32_MAX);
	u32 room = clamp_t(u64, div_u64((u64)mb * SZ_1M, entries * RTRS_SRV_QUEUE_ENTRY_BYTES),
			   RTRS_SRV_CONNECTIONS_LEAST, RTRS_SRV_CONNECTIONS_MOST);

	if (!rtrs_srv_max[RTRS_SRV_LIMIT_CONNECTIONS])
		rtrs_srv_max[RTRS_SRV_LIMIT_CONNECTIONS] = room / 4;
	if (!rtrs_srv_max_peer[RTRS_SRV_LIMIT_CONNECTIONS])
		rtrs_srv_max_peer[RTRS_SRV_LIMIT_CONNECTIONS] = room / 8;
	if (!rtrs_srv_max[RTRS_SRV_LIMIT_MEMORY])
		rtrs_srv_max[RTRS_SRV_LIMIT_MEMORY] = mb / 2;
	if (!rtrs_srv_max_peer[RTRS_SRV_LIMIT_MEMORY])
		rtrs_srv_max_peer[RTRS_SRV_LIMIT_MEMORY] = mb / 4;
}

static struct rtrs_srv_peer *rtrs_srv_peer_get(const struct sockaddr_storage *addr)
{
	struct rtrs_srv_peer *peer;

	lockdep_assert_held(&rtrs_srv_limits_mutex);
	list_for_each_entry(peer, &rtrs_srv_peers, entry)
		if (rtrs_addr_same_host((const struct sockaddr *)&peer->addr,
					(const struct sockaddr *)addr))
			return peer;
	peer = fault_here(alloc_peer) ? NULL : kzalloc(sizeof(*peer), GFP_KERNEL);
	if (!peer)
		return NULL;
	peer->addr = *addr;
	list_add_tail(&peer->entry, &rtrs_srv_peers);
	return peer;
}

static void rtrs_srv_peer_put(struct rtrs_srv_peer *peer)
{
	enum rtrs_srv_limit limit;

	lockdep_assert_held(&rtrs_srv_limits_mutex);
	for (limit = 0; limit < RTRS_SRV_LIMITS; limit++)
		if (peer->used[limit])
			return;
	list_del(&peer->entry);
	kfree(peer);
}

static int rtrs_srv_limit_check(const struct rtrs_srv_peer *peer, enum rtrs_srv_limit limit,
				u64 amount)
{
	const struct rtrs_srv_limit_desc *desc = &rtrs_srv_limit_descs[limit];
	u32 max = READ_ONCE(rtrs_srv_max[limit]);
	u32 max_peer = READ_ONCE(rtrs_srv_max_peer[limit]);

	if (peer->used[limit] + amount > (u64)max_peer * desc->unit) {
		char text[RTRS_ADDR_STR_LEN];

		sockaddr_to_str((const struct sockaddr *)&peer->addr, text, sizeof(text));
		pr_warn_ratelimited("client %s has %llu %s, %s=%u allows no more\n", text,
				    div_u64(peer->used[limit], desc->unit), desc->what,
				    desc->param_peer, max_peer);
		return desc->error;
	}
	if (rtrs_srv_used[limit] + amount > (u64)max * desc->unit) {
		pr_warn_ratelimited("all clients have %llu %s, %s=%u allows no more\n",
				    div_u64(rtrs_srv_used[limit], desc->unit), desc->what,
				    desc->param, max);
		return desc->error;
	}
	return 0;
}

/**
 * rtrs_srv_limits_charge() - a client is about to get something
 * @addr: its address
 * @limit: what it gets
 * @amount: how much of it, not 0; bytes of memory
 *
 * Context: process, may sleep.
 * Return: the peer, to be charged until rtrs_srv_limits_uncharge(); or an ERR_PTR: -EUSERS or
 * -ENOBUFS if a limit forbids it, with a message that names it, -ENOMEM.
 */
struct rtrs_srv_peer *rtrs_srv_limits_charge(const struct sockaddr_storage *addr,
					     enum rtrs_srv_limit limit, u64 amount)
{
	struct rtrs_srv_peer *peer;
	int ret;

	mutex_lock(&rtrs_srv_limits_mutex);
	peer = rtrs_srv_peer_get(addr);
	if (!peer) {
		ret = -ENOMEM;
		goto out_unlock;
	}
	ret = rtrs_srv_limit_check(peer, limit, amount);
	if (ret) {
		rtrs_srv_peer_put(peer);
		goto out_unlock;
	}
	peer->used[limit] += amount;
	rtrs_srv_used[limit] += amount;

out_unlock:
	mutex_unlock(&rtrs_srv_limits_mutex);
	return ret ? ERR_PTR(ret) : peer;
}

/**
 * rtrs_srv_limits_uncharge() - undo rtrs_srv_limits_charge(), in whole or in parts
 * @peer: what it returned; not to be touched after unless charged with something else
 * @limit: what was charged
 * @amount: how much is given back
 *
 * Context: process, may sleep.
 */
void rtrs_srv_limits_uncharge(struct rtrs_srv_peer *peer, enum rtrs_srv_limit limit, u64 amount)
{
	mutex_lock(&rtrs_srv_limits_mutex);
	peer->used[limit] -= amount;
	rtrs_srv_used[limit] -= amount;
	rtrs_srv_peer_put(peer);
	mutex_unlock(&rtrs_srv_limits_mutex);
}

/**
 * rtrs_srv_limits_take_copy() - a WRITE's data are about to be copied
 * @peer: the client, charged with memory
 * @bytes: of the copy
 *
 * Who is refused does without, by a message more for the adapter, so nothing is said.
 *
 * Context: any.
 * Return: true, to be given back by rtrs_srv_limits_give_copy(); false: neither the client's part nor that of all
 * is to be exceeded.
 */
bool rtrs_srv_limits_take_copy(struct rtrs_srv_peer *peer, u32 bytes)
{
	u64 max = (u64)READ_ONCE(rtrs_srv_max[RTRS_SRV_LIMIT_MEMORY]) * (SZ_1M / RTRS_SRV_COPIES_PART);
	u64 max_peer = (u64)READ_ONCE(rtrs_srv_max_peer[RTRS_SRV_LIMIT_MEMORY]) * (SZ_1M / RTRS_SRV_COPIES_PART);

	if (atomic64_add_return(bytes, &peer->copies) <= max_peer) {
		if (atomic64_add_return(bytes, &rtrs_srv_copies) <= max)
			return true;
		atomic64_sub(bytes, &rtrs_srv_copies);
	}
	atomic64_sub(bytes, &peer->copies);
	return false;
}

/**
 * rtrs_srv_limits_give_copy() - undo rtrs_srv_limits_take_copy()
 * @peer: the client, still charged with memory
 * @bytes: as many as were taken
 *
 * Context: any.
 */
void rtrs_srv_limits_give_copy(struct rtrs_srv_peer *peer, u32 bytes)
{
	atomic64_sub(bytes, &rtrs_srv_copies);
	atomic64_sub(bytes, &peer->copies);
}
