/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which disk it is that a name of the server leads to: how it is told (srvidentity.c), compared and shown
 * (identity.c).  What both sides need is inline, so that no object is linked into two modules.
 */
#ifndef _RNBD_IDENTITY_H
#define _RNBD_IDENTITY_H

#include "proto_env.h"
#include <rnbd/rnbd_format.h>

/* Longest text of rnbd_identity_text(), with NUL. */
#define RNBD_IDENTITY_TEXT_LEN	RNBD_IDENTITY_LEN

/**
 * struct rnbd_identity - identity of a disk of the server
 * @run: number of the server's run, 0: the server does not tell which disk it is, and nothing else is set
 * @disk: number of the disk in that run; another number is another disk, or the same one set up again
 * @partition: number of the partition, 0: the whole disk
 * @given: what the server's administrator calls it, empty: nothing
 * @own: what the disk calls itself, empty: nothing that the server's kernel knows
 *
 * The texts are valid as of rnbd_identity_is_valid().
 */
struct rnbd_identity {
	u64 run;
	u64 disk;
	u32 partition;
	char given[RNBD_IDENTITY_LEN];
	char own[RNBD_IDENTITY_LEN];
};

/**
 * enum rnbd_identity_verdict - result of rnbd_identity_compare()
 * @RNBD_IDENTITY_SAME: the same disk
 * @RNBD_IDENTITY_OTHER: another disk
 * @RNBD_IDENTITY_UNKNOWN: cannot be told
 */
enum rnbd_identity_verdict {
	RNBD_IDENTITY_SAME,
	RNBD_IDENTITY_OTHER,
	RNBD_IDENTITY_UNKNOWN,
};

/**
 * rnbd_identity_is_valid() - is a text fit for an identity
 * @text: NUL-terminated text
 *
 * Context: any.
 * Return: true for 1 to RNBD_IDENTITY_LEN - 1 printable ASCII characters without blanks.
 */
static inline bool rnbd_identity_is_valid(const char *text)
{
	size_t len = strlen(text), i;

	for (i = 0; i < len; i++)
		if (text[i] <= ' ' || text[i] >= 0x7f)
			return false;
	return len && len < RNBD_IDENTITY_LEN;
}

void rnbd_identity_set_uid(struct rnbd_identity *id, const char *type, const u8 *uid, unsigned int len);
void rnbd_identity_set_partition(struct rnbd_identity *id, u32 partition, const char *uuid);

void rnbd_put_identity(void *data, const struct rnbd_identity *id);
const char *rnbd_get_identity(const struct rnbd_msg_open_rsp_id *msg, struct rnbd_identity *id);

enum rnbd_identity_verdict rnbd_identity_compare(const struct rnbd_identity *old,
						 const struct rnbd_identity *now);
void rnbd_identity_learn(struct rnbd_identity *id, const struct rnbd_identity *now);
void rnbd_identity_text(const struct rnbd_identity *id, char *text, size_t size);

#endif /* _RNBD_IDENTITY_H */
