// SPDX-License-Identifier: GPL-2.0-only
/* Several READ requests in one message (extension REQ_LIST). */
#include "wire.h"

/**
 * rtrs_list_table_bytes() - what comes before the first user message
 * @nr: number of requests
 *
 * Context: any.
 * Return: bytes of the list's head and its entries.
 */
size_t rtrs_list_table_bytes(u32 nr)
{
	return sizeof(struct rtrs_msg_req_list) + nr * sizeof(struct rtrs_msg_req_entry);
}
EXPORT_SYMBOL_GPL(rtrs_list_table_bytes);

/**
 * rtrs_list_put() - encode the head of a list
 * @list: message to fill
 * @nr: number of requests, 1 to RTRS_REQ_LIST_MAX
 * @len: bytes of the whole list, at most RTRS_REQ_LIST_MAX_BYTES
 *
 * Context: any.
 */
void rtrs_list_put(struct rtrs_msg_req_list *list, u32 nr, u32 len)
{
	list->type = cpu_to_le16(RTRS_MSG_REQ_LIST);
	list->nr = cpu_to_le16((u16)nr);
	list->len = cpu_to_le32(len);
}
EXPORT_SYMBOL_GPL(rtrs_list_put);

/**
 * rtrs_list_put_entry() - encode an entry of a list
 * @list: message with room for it
 * @i: number of the entry
 * @slot: slot of the request
 * @usr_len: bytes of its user message
 * @off: where its header would be in the slot's chunk
 *
 * Context: any.
 */
void rtrs_list_put_entry(struct rtrs_msg_req_list *list, u32 i, u32 slot, u32 usr_len, u32 off)
{
	list->entry[i] = (struct rtrs_msg_req_entry) {
		.slot = cpu_to_le16((u16)slot),
		.usr_len = cpu_to_le16((u16)usr_len),
		.off = cpu_to_le32(off),
	};
}
EXPORT_SYMBOL_GPL(rtrs_list_put_entry);

/**
 * rtrs_list_get_len() - how long a list is
 * @buf: private copy of its first bytes, any alignment
 * @avail: bytes from its start to the end of the chunk; @buf has the head if that fits
 * @len: gets the bytes of the whole list, at most @avail and RTRS_REQ_LIST_MAX_BYTES; on success only
 *
 * Context: any.
 * Return: 0, or -EPROTO: no list, the caller closes the path.
 */
int rtrs_list_get_len(const void *buf, size_t avail, u32 *len)
{
	struct rtrs_msg_req_list list;
	u32 nr;

	if (avail < sizeof(list))
		return -EPROTO;
	memcpy(&list, buf, sizeof(list));
	nr = le16_to_cpu(list.nr);
	if (le16_to_cpu(list.type) != RTRS_MSG_REQ_LIST || !nr || nr > RTRS_REQ_LIST_MAX ||
	    le32_to_cpu(list.len) > min_t(size_t, avail, RTRS_REQ_LIST_MAX_BYTES) ||
	    le32_to_cpu(list.len) < rtrs_list_table_bytes(nr))
		return -EPROTO;
	*len = le32_to_cpu(list.len);
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_list_get_len);

/**
 * rtrs_list_get() - begin to read a list
 * @buf: private copy of the list, any alignment
 * @len: its bytes, from rtrs_list_get_len()
 * @list: set on success, points into @buf
 *
 * Context: any.
 * Return: 0, or -EPROTO: no list, or of another length than it says.
 */
int rtrs_list_get(const void *buf, size_t len, struct rtrs_req_list *list)
{
	struct rtrs_msg_req_list head;
	u32 said;

	if (rtrs_list_get_len(buf, len, &said) || said != len)
		return -EPROTO;
	memcpy(&head, buf, sizeof(head));
	list->left = le16_to_cpu(head.nr);
	list->entry = (const u8 *)buf + sizeof(head);
	list->msg = (const u8 *)buf + rtrs_list_table_bytes(list->left);
	list->avail = len - rtrs_list_table_bytes(list->left);
	return 0;
}
EXPORT_SYMBOL_GPL(rtrs_list_get);

/* Bytes of the READ header at @hdr, or -EPROTO. */
static int rtrs_list_hdr_len(const void *hdr, size_t avail, u32 usr_len)
{
	struct rtrs_msg_read msg;
	size_t len = sizeof(msg);

	if (avail < len)
		return -EPROTO;
	memcpy(&msg, hdr, sizeof(msg));
	if (le16_to_cpu(msg.type) != RTRS_MSG_READ || le16_to_cpu(msg.usr_len) != usr_len ||
	    le16_to_cpu(msg.sg_cnt) > 1)
		return -EPROTO;
	len += le16_to_cpu(msg.sg_cnt) ? sizeof(struct rtrs_sg_desc) : 0;
	return avail < len ? -EPROTO : (int)len;
}

/**
 * rtrs_list_next() - decode and check the next request of a list
 * @list: from rtrs_list_get()
 * @req: the request; points into the list
 *
 * Context: any.
 * Return: 1: there was one; 0: there are no more, and nothing is behind them; -EPROTO: the list is broken,
 * the caller closes the path.
 */
int rtrs_list_next(struct rtrs_req_list *list, struct rtrs_list_req *req)
{
	struct rtrs_msg_req_entry entry;
	u32 usr_len;
	int len;

	if (!list->left)
		return list->avail ? -EPROTO : 0;
	memcpy(&entry, list->entry, sizeof(entry));
	usr_len = le16_to_cpu(entry.usr_len);
	if (usr_len > list->avail)
		return -EPROTO;
	req->slot = le16_to_cpu(entry.slot);
	req->off = le32_to_cpu(entry.off);
	req->usr = list->msg;
	len = rtrs_list_hdr_len(list->msg + usr_len, list->avail - usr_len, usr_len);
	if (len < 0)
		return len;
	req->error = rtrs_wire_get_io_hdr(list->msg + usr_len, len, req->off, &req->hdr);
	list->entry += sizeof(entry);
	list->msg += usr_len + len;
	list->avail -= usr_len + len;
	list->left--;
	return 1;
}
EXPORT_SYMBOL_GPL(rtrs_list_next);
