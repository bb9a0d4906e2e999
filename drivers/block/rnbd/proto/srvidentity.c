// SPDX-License-Identifier: GPL-2.0-only
/*
 * Server side of the identity of a disk: what the disk calls itself, as text, and the message that tells it.
 */
#include "identity.h"

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
