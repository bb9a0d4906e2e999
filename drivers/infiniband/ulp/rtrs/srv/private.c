// SPDX-License-Identifier: GPL-2.0-only
/*
 * Private memory of a slot: where data and user messages are copied to, out of the client's reach.
 *
 * Ownership: the request's owner; with a slot that is idle and takes no request, whoever has closed it.
 */
#include <linux/log2.h>
#include <linux/mm.h>

#include "fault.h"
#include "limits.h"
#include "rtrs-srv.h"

static void rtrs_srv_req_free_copy(struct rtrs_srv_req *req)
{
	if (!req->copy)
		return;
	free_pages_exact(req->copy, req->copy_size);
	rtrs_srv_limits_give_copy(req->path->peer, req->copy_size);
	req->copy = NULL;
	req->copy_size = 0;
}

/**
 * rtrs_srv_req_grow_copy() - make room for a copy of a WRITE's data
 * @req: the request, which has less
 * @len: bytes
 *
 * Kept for the slot's later requests.
 *
 * Context: any.
 * Return: false: there is no memory, or a limit forbids it.
 */
bool rtrs_srv_req_grow_copy(struct rtrs_srv_req *req, u32 len)
{
	void *copy;
	u32 size;

	size = max_t(u32, RTRS_SRV_COPY_BYTES, roundup_pow_of_two(len));
	if (!rtrs_srv_limits_take_copy(req->path->peer, size))
		return false;
	copy = fault_here(alloc_copy) ? NULL : alloc_pages_exact(size, GFP_NOIO | __GFP_NOWARN | __GFP_NORETRY);
	if (!copy) {
		rtrs_srv_limits_give_copy(req->path->peer, size);
		return false;
	}
	rtrs_srv_req_free_copy(req);
	req->copy = copy;
	req->copy_size = size;
	return true;
}

/**
 * rtrs_srv_req_get_usr_page() - make room for a long user message
 * @req: the request
 *
 * Kept for the slot's later requests.
 *
 * Context: any.
 * Return: the page, or NULL.
 */
void *rtrs_srv_req_get_usr_page(struct rtrs_srv_req *req)
{
	if (!req->usr_page)
		req->usr_page = fault_here(alloc_usr_page) ? NULL :
				(void *)__get_free_page(GFP_NOIO | __GFP_NOWARN);
	return req->usr_page;
}

/**
 * rtrs_srv_req_free_private() - free what a slot has kept
 * @req: its request, idle; nobody takes the slot
 *
 * Context: any.
 */
void rtrs_srv_req_free_private(struct rtrs_srv_req *req)
{
	free_page((unsigned long)req->usr_page);
	req->usr_page = NULL;
	rtrs_srv_req_free_copy(req);
}
