// SPDX-License-Identifier: GPL-2.0-only
/*
 * Links: the verbs objects of one attempt to connect a path.
 *
 * A path that was lost connects anew with a new link at once.  The old one is destroyed beside it: that may
 * take its time, rdma_rxe of 6.1 was seen to wait 50 s for a queue pair.
 *
 * Ownership: the path has the link from its creation until it was torn down so far that no handler runs
 * and nothing of it is sent or received any more; from then on it belongs to the work that destroys it.
 */
#define pr_fmt(fmt) "rtrs-client: " fmt

#include <linux/slab.h>
#include <rdma/rtrs-job.h>

#include "clt.h"
#include "fault.h"

static struct workqueue_struct *rtrs_clt_link_wq;

/* Links that are not destroyed, for who waits for the last one. */
static DEFINE_SPINLOCK(rtrs_clt_links_lock);
static LIST_HEAD(rtrs_clt_links);
static DECLARE_WAIT_QUEUE_HEAD(rtrs_clt_links_wait);

static void rtrs_clt_link_free_conn(struct rtrs_clt_link *link, struct rtrs_clt_conn *cc)
{
	rtrs_conn_destroy_qp(&cc->conn);
	if (!cc->rsps)
		return;
	ib_dma_unmap_single(link->dev, cc->rsp_dma, cc->nr_rsps * sizeof(*cc->rsp_buf),
			    DMA_FROM_DEVICE);
	kvfree(cc->rsps);
	kfree(cc->rsp_buf);
}

/* Queue pairs, regions, the protection domain; last the CM ids, which hold the device. */
static void rtrs_clt_link_work(struct work_struct *work)
{
	struct rtrs_clt_link *link = container_of(work, struct rtrs_clt_link, work);
	struct rtrs_clt_path *path = link->path;
	u16 cid;

	for (cid = 0; cid < link->nr_conns; cid++)
		rtrs_clt_link_free_conn(link, &link->conns[cid]);
	rtrs_clt_mrs_free(&link->slot_mrs);
	rtrs_clt_mrs_free(&link->table_mr);
	rtrs_clt_mrs_free(&link->bounce_mrs);
	rtrs_clt_mrs_free(&link->shared_mrs);
	if (link->pd)
		ib_dealloc_pd(link->pd);
	for (cid = 0; cid < link->nr_conns; cid++)
		if (link->conns[cid].conn.cm_id)
			rdma_destroy_id(link->conns[cid].conn.cm_id);
	scoped_guard(spinlock, &rtrs_clt_links_lock)
		list_del(&link->entry);
	kvfree(link);

	wake_up_all(&rtrs_clt_links_wait);
	atomic_dec(&path->links);
	wake_up_all(&path->state_wq);
	kobject_put(&path->kobj);
}

/**
 * rtrs_clt_link_create() - give a path room for its connections
 * @path: path without a link
 *
 * Context: process, path mutex held.
 * Return: 0 or -ENOMEM.
 */
int rtrs_clt_link_create(struct rtrs_clt_path *path)
{
	u16 nr = path->sess->nr_conns;
	struct rtrs_clt_link *link;

	link = fault_here(alloc_conns) ? NULL : kvzalloc(struct_size(link, conns, nr), GFP_KERNEL);
	if (!link)
		return -ENOMEM;
	link->path = path;
	link->nr_conns = nr;
	INIT_WORK(&link->work, rtrs_clt_link_work);
	scoped_guard(spinlock, &rtrs_clt_links_lock)
		list_add_tail(&link->entry, &rtrs_clt_links);
	kobject_get(&path->kobj);
	atomic_inc(&path->links);
	path->link = link;
	path->conns = link->conns;
	return 0;
}

/**
 * rtrs_clt_link_release() - part a path from its link, which is destroyed in its own time
 * @path: the path, its queues drained, nothing of it mapped any more
 *
 * Context: process, path mutex held.
 */
void rtrs_clt_link_release(struct rtrs_clt_path *path)
{
	struct rtrs_clt_link *link = path->link;

	path->link = NULL;
	path->conns = NULL;
	path->dev = NULL;
	path->pd = NULL;
	queue_work(rtrs_clt_link_wq, &link->work);
}

/**
 * rtrs_clt_mrs_alloc_array() - make room for regions
 * @mrs: the array, empty
 * @nr: how many there may be
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM; rtrs_clt_mrs_free() cleans up.
 */
int rtrs_clt_mrs_alloc_array(struct rtrs_clt_mrs *mrs, u32 nr)
{
	mrs->mr = kvcalloc(nr, sizeof(*mrs->mr), GFP_KERNEL);
	return mrs->mr ? 0 : -ENOMEM;
}

/**
 * rtrs_clt_mrs_add() - allocate regions
 * @mrs: the array, with room for them
 * @pd: protection domain
 * @nr: how many
 * @max_pages: 4 KiB pages each of them maps
 *
 * Context: process, may sleep.
 * Return: 0 or negative errno; rtrs_clt_mrs_free() cleans up.
 */
int rtrs_clt_mrs_add(struct rtrs_clt_mrs *mrs, struct ib_pd *pd, u32 nr, u32 max_pages)
{
	int ret = 0;

	for (; !ret && nr; nr--) {
		ret = rtrs_mr_alloc(&mrs->mr[mrs->nr], pd, max_pages);
		if (!ret)
			mrs->nr++;
	}
	return ret;
}

/**
 * rtrs_clt_mrs_alloc() - allocate an array of regions
 * @mrs: the array, empty
 * @pd: protection domain
 * @nr: how many
 * @max_pages: 4 KiB pages each of them maps
 *
 * Context: process, may sleep.
 * Return: 0 or negative errno; rtrs_clt_mrs_free() cleans up.
 */
int rtrs_clt_mrs_alloc(struct rtrs_clt_mrs *mrs, struct ib_pd *pd, u32 nr, u32 max_pages)
{
	return rtrs_clt_mrs_alloc_array(mrs, nr) ?: rtrs_clt_mrs_add(mrs, pd, nr, max_pages);
}

/**
 * rtrs_clt_mrs_free() - free regions
 * @mrs: the array, whole, in part or empty; no WR of it is in a queue
 *
 * Context: process, may sleep.
 */
void rtrs_clt_mrs_free(struct rtrs_clt_mrs *mrs)
{
	while (mrs->nr)
		rtrs_mr_free(&mrs->mr[--mrs->nr]);
	kvfree(mrs->mr);
	mrs->mr = NULL;
}

/**
 * rtrs_clt_link_init() - create what all links share
 *
 * Context: module init.
 * Return: 0 or -ENOMEM.
 */
int rtrs_clt_link_init(void)
{
	rtrs_clt_link_wq = alloc_workqueue("rtrs-client-link", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return rtrs_clt_link_wq ? 0 : -ENOMEM;
}

static bool rtrs_clt_links_destroyed(void)
{
	bool ret;

	spin_lock(&rtrs_clt_links_lock);
	ret = list_empty(&rtrs_clt_links);
	spin_unlock(&rtrs_clt_links_lock);
	return ret;
}

static void rtrs_clt_links_tell(unsigned int seconds)
{
	const struct rtrs_clt_link *link;

	spin_lock(&rtrs_clt_links_lock);
	list_for_each_entry(link, &rtrs_clt_links, entry)
		pr_warn("unloading waits for the device to destroy connections of session %s, path %s, %u s so far\n",
			link->path->sess->name, link->path->name, seconds);
	spin_unlock(&rtrs_clt_links_lock);
}

/**
 * rtrs_clt_link_exit() - undo rtrs_clt_link_init(), when the last link is destroyed
 *
 * Context: module exit, no session is left.
 */
void rtrs_clt_link_exit(void)
{
	rtrs_wait_slowly(rtrs_clt_links_wait, rtrs_clt_links_destroyed(), rtrs_clt_links_tell);
	destroy_workqueue(rtrs_clt_link_wq);
}
