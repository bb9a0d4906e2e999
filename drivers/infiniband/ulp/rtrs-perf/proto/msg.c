// SPDX-License-Identifier: GPL-2.0-only
#include "msg.h"

/**
 * rtrs_perf_msg_check() - is this a request of ours, and what the transport says it is
 * @usr: message, the peer's words
 * @usr_len: its length in bytes
 * @write: the transport brought data
 * @data_len: bytes of data, or of room for them
 *
 * A message that says another direction or length than the transport is refused: the payload of a WRITE
 * could be taken for room to answer in.
 *
 * Context: any.
 * Return: 0; -EMSGSIZE: of another length; -EPROTONOSUPPORT: of another ULP or version; -EINVAL: does not
 * go with the data.
 */
int rtrs_perf_msg_check(const void *usr, size_t usr_len, bool write, size_t data_len)
{
	struct rtrs_perf_msg msg;

	if (usr_len != sizeof(msg))
		return -EMSGSIZE;
	memcpy(&msg, usr, sizeof(msg));
	if (le32_to_cpu(msg.magic) != RTRS_PERF_MAGIC || le16_to_cpu(msg.version) != RTRS_PERF_VERSION)
		return -EPROTONOSUPPORT;
	if (le16_to_cpu(msg.write) != write || le32_to_cpu(msg.bytes) != data_len || !data_len)
		return -EINVAL;
	return 0;
}
