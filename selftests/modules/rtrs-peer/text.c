// SPDX-License-Identifier: GPL-2.0-only
/* Words of a command, text of an answer. */
#include <linux/ctype.h>
#include <linux/err.h>
#include <linux/hex.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "peer.h"

static __printf(2, 0) void peer_vsay(struct peer_cmd *cmd, const char *fmt, va_list args)
{
	cmd->len += vscnprintf(cmd->answer + cmd->len, PEER_ANSWER_BYTES - cmd->len, fmt, args);
}

/**
 * peer_say() - append to the answer
 * @cmd: the command
 * @fmt: format, and its arguments
 *
 * What does not fit is cut.
 *
 * Context: any.
 */
void peer_say(struct peer_cmd *cmd, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	peer_vsay(cmd, fmt, args);
	va_end(args);
}

/**
 * peer_say_hex() - append bytes to the answer, as hexadecimal digits
 * @cmd: the command
 * @data: the bytes
 * @len: how many; none are written as "-"
 *
 * Context: any.
 */
void peer_say_hex(struct peer_cmd *cmd, const void *data, size_t len)
{
	size_t room = PEER_ANSWER_BYTES - cmd->len - 1;

	if (!len) {
		peer_say(cmd, "-");
		return;
	}
	len = min(len, room / 2);
	bin2hex(cmd->answer + cmd->len, data, len);
	cmd->len += 2 * len;
	cmd->answer[cmd->len] = '\0';
}

/**
 * peer_error() - the command fails: say so in the answer
 * @cmd: the command; what its answer had is gone
 * @error: negative errno
 * @fmt: what failed, and arguments
 *
 * Context: any.
 * Return: @error.
 */
int peer_error(struct peer_cmd *cmd, int error, const char *fmt, ...)
{
	va_list args;

	cmd->len = 0;
	peer_say(cmd, "error %pe: %s: ", ERR_PTR(error), cmd->argv[0]);
	va_start(args, fmt);
	peer_vsay(cmd, fmt, args);
	va_end(args);
	return error;
}

/**
 * peer_get_u64() - a number
 * @cmd: the command
 * @what: name of the argument
 * @word: its text, decimal, or hexadecimal with 0x
 * @max: largest value allowed
 * @val: result
 *
 * Context: any.
 * Return: 0, or -EINVAL and the answer says why.
 */
int peer_get_u64(struct peer_cmd *cmd, const char *what, const char *word, u64 max, u64 *val)
{
	if (kstrtou64(word, 0, val) || *val > max)
		return peer_error(cmd, -EINVAL, "%s=%s: wants a number up to %llu", what, word,
				  max);
	return 0;
}

/**
 * peer_get_u32() - a number of 32 bits
 * @cmd: the command
 * @what: name of the argument
 * @word: its text, decimal, or hexadecimal with 0x
 * @max: largest value allowed
 * @val: result
 *
 * Context: any.
 * Return: 0, or -EINVAL and the answer says why.
 */
int peer_get_u32(struct peer_cmd *cmd, const char *what, const char *word, u32 max, u32 *val)
{
	u64 wide;
	int ret = peer_get_u64(cmd, what, word, max, &wide);

	if (!ret)
		*val = wide;
	return ret;
}

/**
 * peer_get_hex() - bytes
 * @cmd: the command
 * @what: name of the argument
 * @word: hexadecimal digits, two for each byte, or "-" for none
 * @data: result, the caller frees it; NULL if there are no bytes
 * @len: how many
 *
 * Context: process, may sleep.
 * Return: 0, or negative errno and the answer says why.
 */
int peer_get_hex(struct peer_cmd *cmd, const char *what, const char *word, u8 **data, size_t *len)
{
	size_t digits = strlen(word);

	*data = NULL;
	*len = 0;
	if (!strcmp(word, "-"))
		return 0;
	if (!digits || digits % 2)
		return peer_error(cmd, -EINVAL, "%s: %zu hexadecimal digits, wants two per byte or -",
				  what, digits);
	*data = kmalloc(digits / 2, GFP_KERNEL);
	if (!*data)
		return peer_error(cmd, -ENOMEM, "%s", what);
	if (hex2bin(*data, word, digits / 2)) {
		kfree(*data);
		*data = NULL;
		return peer_error(cmd, -EINVAL, "%s: not all are hexadecimal digits", what);
	}
	*len = digits / 2;
	return 0;
}

/**
 * peer_get_name() - is this a name
 * @cmd: the command
 * @what: name of the argument
 * @word: letters, digits, '-' and '_'; "all" is taken
 *
 * Context: any.
 * Return: 0, or -EINVAL and the answer says why.
 */
int peer_get_name(struct peer_cmd *cmd, const char *what, const char *word)
{
	const char *pos;

	for (pos = word; *pos; pos++)
		if (!isalnum(*pos) && *pos != '-' && *pos != '_')
			break;
	if (*pos || pos == word || pos - word >= PEER_NAME_LEN || !strcmp(word, "all"))
		return peer_error(cmd, -EINVAL, "%s=%s: wants a name of 1 to %d letters and digits, not all",
				  what, word, PEER_NAME_LEN - 1);
	return 0;
}
