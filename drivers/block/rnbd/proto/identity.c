// SPDX-License-Identifier: GPL-2.0-only
/*
 * Identity of a disk.
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

/**
 * rnbd_identity_is_valid() - is a text fit for an identity
 * @text: NUL-terminated text
 *
 * Context: any.
 * Return: true for 1 to RNBD_IDENTITY_LEN - 1 printable ASCII characters without blanks.
 */
bool rnbd_identity_is_valid(const char *text)
{
	size_t len = strlen(text), i;

	for (i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] >= 0x7f)
			return false;
	return len && len < RNBD_IDENTITY_LEN;
}

/**
 * rnbd_identity_set_uid() - take up the identifier that a disk has
 * @id: whose @own is set
 * @type: "naa", "eui" or "t10"
 * @uid: the identifier
 * @len: its length in bytes; 0: the disk has none
 *
 * Context: any.
 */
void rnbd_identity_set_uid(struct rnbd_identity *id, const char *type, const u8 *uid, unsigned int len)
{
	bool is_text = !strcmp(type, "t10");
	size_t pos;
	unsigned int i;

	if (!len)
		return;
	pos = scnprintf(id->own, sizeof(id->own), "%s.", type);
	for (i = 0; i < len; i++) {
		if (!is_text)
			pos += scnprintf(id->own + pos, sizeof(id->own) - pos, "%02x", uid[i]);
		else
			pos += scnprintf(id->own + pos, sizeof(id->own) - pos, "%c",
					 uid[i] <= ' ' || uid[i] >= 0x7f ? '_' : uid[i]);
	}
}

/**
 * rnbd_identity_set_partition() - it is not the whole disk
 * @id: identity of the disk
 * @partition: number of the partition, not 0
 * @uuid: of the partition, NULL: none
 *
 * Context: any.
 */
void rnbd_identity_set_partition(struct rnbd_identity *id, u32 partition, const char *uuid)
{
	size_t pos = strlen(id->own);

	id->partition = partition;
	if (pos)
		scnprintf(id->own + pos, sizeof(id->own) - pos, "-part%u", partition);
	else if (uuid && *uuid)
		scnprintf(id->own, sizeof(id->own), "partuuid.%s", uuid);
	if (id->own[0] && !rnbd_identity_is_valid(id->own))
		id->own[0] = '\0';
}

/**
 * rnbd_put_identity() - write an identity into the answer to OPEN
 * @data: the answer, sizeof(struct rnbd_msg_open_rsp_id) bytes; what protocol 2.0 has of it is left alone
 * @id: the identity
 *
 * Context: any.
 */
void rnbd_put_identity(void *data, const struct rnbd_identity *id)
{
	struct rnbd_msg_open_rsp_id msg = {
		.run	   = cpu_to_le64(id->run),
		.disk	   = cpu_to_le64(id->disk),
		.partition = cpu_to_le32(id->partition),
	};
	const size_t begin = sizeof(msg.rsp);

	strscpy((char *)msg.given, id->given, sizeof(msg.given));
	strscpy((char *)msg.own, id->own, sizeof(msg.own));
	memcpy(data + begin, (u8 *)&msg + begin, sizeof(msg) - begin);
}

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
