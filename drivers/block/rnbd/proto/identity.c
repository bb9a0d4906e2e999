// SPDX-License-Identifier: GPL-2.0-only
/*
 * Client side of the identity of a disk.
 *
 * Operation
 *	A client that opens a device again compares what the server tells of the disk with what it told before.  There
 *	are three things to compare, from the strongest to the weakest:
 *	- the number of the disk in a run of the server: the same number is the same disk, whatever it is called now;
 *	- a name that the administrator gave, or, if one side has none, the name that the disk has of its own: these
 *	  hold over a reboot of the server, and wherever the disk is attached;
 *	- without names two numbers of one run: the disk was exchanged or set up again, and nobody knows which.
 *	Else nothing is known: the server rebooted and the disk has no name, or the server does not tell.
 *
 * Errors
 *	A text goes into messages and into sysfs, so what a peer sends as one is refused unless it is plain.
 */
#include "identity.h"

static bool rnbd_get_identity_text(const u8 *field, char *text)
{
	memcpy(text, field, RNBD_IDENTITY_LEN);
	if (!text[0])
		return true;
	return !text[RNBD_IDENTITY_LEN - 1] && rnbd_identity_is_valid(text);
}

/**
 * rnbd_get_identity() - read the identity from the answer to OPEN
 * @msg: the answer, in memory that was cleared before
 * @id: result; all 0 if the server does not tell
 *
 * Context: any.
 * Return: NULL, or what is wrong with it.
 */
const char *rnbd_get_identity(const struct rnbd_msg_open_rsp_id *msg, struct rnbd_identity *id)
{
	memset(id, 0, sizeof(*id));
	if (!msg->run)
		return NULL;
	id->run = le64_to_cpu(msg->run);
	id->disk = le64_to_cpu(msg->disk);
	id->partition = le32_to_cpu(msg->partition);
	if (id->disk && rnbd_get_identity_text(msg->given, id->given) &&
	    rnbd_get_identity_text(msg->own, id->own))
		return NULL;
	memset(id, 0, sizeof(*id));
	return "the identity of the disk is not valid";
}

/**
 * rnbd_identity_compare() - may what a name leads to now be used in the place of what it led to
 * @old: the disk that is in use
 * @now: the disk that the server has opened
 *
 * Context: any.
 * Return: what is known.
 */
enum rnbd_identity_verdict rnbd_identity_compare(const struct rnbd_identity *old,
						 const struct rnbd_identity *now)
{
	bool same;

	if (!old->run || !now->run)
		return RNBD_IDENTITY_UNKNOWN;
	if (old->run == now->run && old->disk == now->disk)
		return old->partition == now->partition ? RNBD_IDENTITY_SAME : RNBD_IDENTITY_OTHER;
	if (old->given[0] && now->given[0])
		same = !strcmp(old->given, now->given);
	else if (old->own[0] && now->own[0])
		same = !strcmp(old->own, now->own);
	else if (old->run == now->run)
		same = false;
	else
		return RNBD_IDENTITY_UNKNOWN;
	return same ? RNBD_IDENTITY_SAME : RNBD_IDENTITY_OTHER;
}

/**
 * rnbd_identity_learn() - take up what the server tells of the disk now
 * @id: what is known so far
 * @now: the same disk, as the server tells now; texts that it lacks are kept
 *
 * Context: any.
 */
void rnbd_identity_learn(struct rnbd_identity *id, const struct rnbd_identity *now)
{
	if (!now->run)
		return;
	id->run = now->run;
	id->disk = now->disk;
	id->partition = now->partition;
	if (now->given[0])
		strscpy(id->given, now->given, sizeof(id->given));
	if (now->own[0])
		strscpy(id->own, now->own, sizeof(id->own));
}

/**
 * rnbd_identity_text() - an identity for people
 * @id: the identity
 * @text: where to put it
 * @size: its size, RNBD_IDENTITY_TEXT_LEN is enough
 *
 * Context: any.
 */
void rnbd_identity_text(const struct rnbd_identity *id, char *text, size_t size)
{
	if (!id->run)
		scnprintf(text, size, "unknown");
	else if (id->given[0] || id->own[0])
		scnprintf(text, size, "%s", id->given[0] ? id->given : id->own);
	else if (id->partition)
		scnprintf(text, size, "disk%llu-part%u@%016llx", id->disk, id->partition, id->run);
	else
		scnprintf(text, size, "disk%llu@%016llx", id->disk, id->run);
}
