// SPDX-License-Identifier: GPL-2.0-only
/* Messages of both sides of RNBD, and the text written to map_device, against every decoder. */
#include <linux/kernel.h>

#include "../../drivers/block/rnbd/proto/identity.h"
#include "../../drivers/block/rnbd/proto/negotiate.h"
#include "../../drivers/block/rnbd/proto/opmap.h"
#include "../../drivers/block/rnbd/proto/options.h"
#include "../../drivers/block/rnbd/proto/srvcheck.h"
#include "fuzz.h"

/* Is @str a string within @text, which has @size bytes? */
static bool within(const char *str, const char *text, size_t size)
{
	return str >= text && str < text + size && memchr(str, '\0', text + size - str);
}

static void fuzz_options(struct fuzz_in *in)
{
	unsigned int max_poll_queues = fuzz_take(in, 1), i;
	size_t size = in->len + 1;
	struct rnbd_options_error error = {};
	struct rnbd_options opts = {};
	char *text = fuzz_text(in);

	if (!rnbd_options_parse(text, max_poll_queues, &opts, &error)) {
		MUST(within(opts.sessname, text, size) && within(opts.device_path, text, size));
		MUST(*opts.sessname && *opts.device_path);
		MUST(strlen(opts.sessname) <= RNBD_OPT_MAX_NAME);
		MUST(strlen(opts.device_path) + strlen(opts.sessname) < 255);
		MUST(opts.nr_paths <= RNBD_OPT_MAX_PATHS);
		for (i = 0; i < opts.nr_paths; i++)
			MUST(within(opts.paths[i], text, size));
		MUST(opts.access_mode < RNBD_ACCESS__NR);
		MUST(opts.nr_poll_queues <= max_poll_queues);
	} else {
		MUST(error.key);
		MUST(memchr(error.expected, '\0', sizeof(error.expected)));
		MUST(error.expected[0]);
	}
	free(text);
}

static void fuzz_open_rsp(struct fuzz_in *in)
{
	struct rnbd_transport_limits transport = {
		.page_bytes = 4096U << fuzz_take(in, 1) % 5,
		.max_segments = 1 + fuzz_take(in, 2) % 512,
	};
	struct rnbd_dev_limits limits = {}, old;
	struct rnbd_msg_open_rsp rsp;
	const char *why = NULL;
	int ret;

	/* A session carries a page at least. */
	transport.max_io_bytes = transport.page_bytes + fuzz_take(in, 3);
	fuzz_fill(in, &rsp, sizeof(rsp));
	ret = rnbd_get_open_rsp(&rsp, &transport, &limits, &why);
	MUST(!ret || ret == -EPROTO || ret == -EINVAL);
	MUST(!ret || why);
	if (ret)
		return;
	MUST(limits.logical_block_bytes >= 512 && limits.logical_block_bytes <= transport.page_bytes);
	MUST(!(limits.logical_block_bytes & (limits.logical_block_bytes - 1)));
	MUST(!(limits.physical_block_bytes & (limits.physical_block_bytes - 1)));
	MUST(limits.physical_block_bytes >= limits.logical_block_bytes);
	MUST(limits.max_hw_sectors && (u64)limits.max_hw_sectors * 512 <= transport.max_io_bytes);
	MUST((u64)limits.max_hw_sectors * 512 % limits.logical_block_bytes == 0);
	MUST(limits.max_segments && limits.max_segments <= transport.max_segments);
	MUST(limits.write_cache || !limits.fua);
	MUST(!limits.discard_granularity == !limits.max_discard_sectors);
	MUST(!limits.discard_granularity || limits.discard_alignment < limits.discard_granularity);
	old = limits;
	MUST(!rnbd_limits_changed(&old, old.nsectors, &limits));
}

static void fuzz_identity(struct fuzz_in *in)
{
	char text[RNBD_IDENTITY_TEXT_LEN];
	struct rnbd_msg_open_rsp_id msg;
	struct rnbd_identity id, again;

	fuzz_fill(in, &msg, sizeof(msg));
	if (rnbd_get_identity(&msg, &id)) {
		MUST(!id.run && !id.given[0] && !id.own[0]);
		return;
	}
	MUST(!id.given[0] || rnbd_identity_is_valid(id.given));
	MUST(!id.own[0] || rnbd_identity_is_valid(id.own));
	rnbd_identity_text(&id, text, sizeof(text));
	MUST(rnbd_identity_is_valid(text));
	rnbd_put_identity(&msg, &id);
	MUST(!rnbd_get_identity(&msg, &again));
	MUST(rnbd_identity_compare(&id, &again) == (id.run ? RNBD_IDENTITY_SAME : RNBD_IDENTITY_UNKNOWN));
}

static void fuzz_sess_info_rsp(struct fuzz_in *in)
{
	struct rnbd_msg_sess_info rsp;
	u8 ver = 0xff;

	fuzz_fill(in, &rsp, sizeof(rsp));
	if (!rnbd_get_sess_info_rsp(&rsp, &ver))
		MUST(ver <= RNBD_PROTO_MAJOR && ver <= rsp.ver);
}

/* An I/O message, then the device it is for. */
static void fuzz_srv_io(const void *usr, size_t len, size_t data_len, u32 rules_bits)
{
	struct rnbd_srv_io_rules rules = {
		.nsectors = rules_bits >> 8,
		.logical_block_size = 512U << (rules_bits & 3),
		.ops = rules_bits >> 2 & 0x3f,
		.writable = rules_bits & 0x80,
	};
	struct rnbd_srv_io_req req = {};
	u64 sectors;

	if (rnbd_srv_get_io(usr, len, data_len, rules_bits & 1, 2, &req))
		return;
	MUST(len >= RNBD_SRV_MIN_IO_BYTES && req.op < RNBD_OP__NR);
	MUST(!rnbd_op_desc(req.op)->has_data || req.bytes == data_len);
	if (rnbd_srv_check_io(&req, &rules))
		return;
	sectors = req.bytes / 512;
	MUST(!rnbd_op_desc(req.op)->has_range ||
	     (sectors && req.sector <= rules.nsectors && sectors <= rules.nsectors - req.sector));
	MUST(!rnbd_op_desc(req.op)->has_range ||
	     !((req.sector * 512 | req.bytes) & (rules.logical_block_size - 1)));
	MUST(!rnbd_op_desc(req.op)->modifies || rules.writable);
	MUST(rules.ops & 1 << req.op);
}

static void fuzz_srv_open(const void *usr, size_t len, size_t data_len)
{
	struct rnbd_srv_open_req req;
	char path[4096];

	if (rnbd_srv_get_open(usr, len, data_len, &req)) {
		MUST(memchr(req.name, '\0', sizeof(req.name)));
		return;
	}
	MUST(data_len >= sizeof(struct rnbd_msg_open_rsp));
	MUST(req.access_mode < RNBD_ACCESS__NR);
	MUST(memchr(req.name, '\0', sizeof(req.name)) && req.name[0]);
	MUST(!strstr(req.name, ".."));
	if (!rnbd_srv_export_path(path, sizeof(path), "/export/%SESSNAME%", "sess", req.name)) {
		MUST(memchr(path, '\0', sizeof(path)));
		MUST(!strncmp(path, "/export/sess", 12) && !strstr(path, "//"));
		MUST(!strstr(path, ".."));
	}
}

static void fuzz_srv(struct fuzz_in *in)
{
	u32 rules_bits = fuzz_take(in, 4);
	size_t data_len = fuzz_take(in, 3), len;
	u32 device_id;
	u8 ver;
	void *usr = fuzz_block(in, SIZE_MAX, &len);

	switch (rnbd_srv_msg_type(usr, len)) {
	case RNBD_MSG_SESS_INFO:
		if (!rnbd_srv_get_sess_info(usr, len, data_len, &ver))
			MUST(ver <= RNBD_PROTO_MAJOR && data_len >= sizeof(struct rnbd_msg_sess_info));
		break;
	case RNBD_MSG_OPEN:
		fuzz_srv_open(usr, len, data_len);
		break;
	case RNBD_MSG_IO:
		fuzz_srv_io(usr, len, data_len, rules_bits);
		break;
	case RNBD_MSG_CLOSE:
		rnbd_srv_get_close(usr, len, &device_id);
		break;
	}
	free(usr);
}

static void fuzz_search_path(struct fuzz_in *in)
{
	size_t size = 1 + fuzz_take(in, 1);
	char *val = fuzz_text(in), *path = malloc(size), out[512];

	MUST(path);
	if (!rnbd_srv_search_path(path, size, val)) {
		MUST(memchr(path, '\0', size));
		if (!rnbd_srv_export_path(out, sizeof(out), path, "sess", "dev"))
			MUST(memchr(out, '\0', sizeof(out)) && !strstr(out, "//"));
	}
	free(path);
	free(val);
}

static void fuzz_limits(struct fuzz_in *in)
{
	struct rnbd_transport_limits transport = {
		.max_io_bytes = 126976, .max_segments = 31, .page_bytes = 4096,
	};
	struct rnbd_dev_limits limits = {};
	struct rnbd_msg_open_rsp rsp;
	struct rnbd_srv_limits lim = {
		.nsectors = fuzz_take(in, 8),
		.max_hw_sectors = fuzz_take(in, 4),
		.max_write_zeroes_sectors = fuzz_take(in, 4),
		.max_discard_sectors = fuzz_take(in, 4),
		.max_secure_erase_sectors = fuzz_take(in, 4),
		.discard_granularity = fuzz_take(in, 4),
		.discard_alignment = fuzz_take(in, 4),
		.physical_block_size = 512U << fuzz_take(in, 1) % 9,
		.logical_block_size = 512U << fuzz_take(in, 1) % 9,
		.max_segments = fuzz_take(in, 4),
		.write_cache = fuzz_take(in, 1) & 1,
		.fua = fuzz_take(in, 1) & 1,
	};
	const char *why = NULL;

	MUST(rnbd_srv_limits_ops(&lim) < 1 << RNBD_OP__NR);
	if (rnbd_srv_check_limits(&lim))
		return;
	/* What our server says of a device our client understands, or says why it does not. */
	memset(&rsp, 0, sizeof(rsp));
	rnbd_srv_put_open_rsp(&rsp, 7, &lim);
	if (!rnbd_get_open_rsp(&rsp, &transport, &limits, &why)) {
		MUST(limits.device_id == 7 && limits.nsectors == lim.nsectors);
		MUST(limits.logical_block_bytes == lim.logical_block_size);
	} else {
		MUST(why);
	}
}

/**
 * LLVMFuzzerTestOneInput() - one input
 * @data: its bytes
 * @size: how many
 *
 * Return: 0; what breaks a promise aborts.
 */
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static void (*const targets[])(struct fuzz_in *in) = {
		fuzz_options, fuzz_open_rsp, fuzz_sess_info_rsp, fuzz_srv, fuzz_search_path,
		fuzz_limits, fuzz_identity,
	};
	struct fuzz_in in = { data, size };
	u8 target = fuzz_take(&in, 1);

	if (size && target < sizeof(targets) / sizeof(targets[0]))
		targets[target](&in);
	return 0;
}
