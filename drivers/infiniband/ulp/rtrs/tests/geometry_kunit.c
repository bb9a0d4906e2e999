// SPDX-License-Identifier: GPL-2.0-only
/* Tests of queue depth, chunk size and work queue sizes (protocol sections 2.4, 2.7, 3 and 11). */
#include <kunit/test.h>
#include "../proto/geometry.h"

/* Bits needed to number @nr things, by counting. */
static u32 bits_to_number(u64 nr)
{
	u32 bits = 0;

	while (1ULL << bits < nr)
		bits++;
	return bits;
}

static void rtrs_geometry_mem_bits__each_queue_depth(struct kunit *test)
{
	u32 qd;

	for (qd = 1; qd <= 65535; qd++)
		KUNIT_ASSERT_EQ_MSG(test, rtrs_geometry_mem_bits(qd), 28 - bits_to_number(qd),
				    "queue depth %u", qd);
}

struct mem_bits_case {
	const char *name;
	u32 queue_depth;
	u32 mem_bits;
};

static const struct mem_bits_case mem_bits_cases[] = {
	{ "queue depth 0", 0, 28 },
	{ "queue depth 1", 1, 28 },
	{ "queue depth 2", 2, 27 },
	{ "queue depth 3", 3, 26 },
	{ "queue depth 128", 128, 21 },
	{ "queue depth 512", 512, 19 },
	{ "queue depth 513", 513, 18 },
	{ "queue depth 65535", 65535, 12 },
	{ "2^28, nothing left", 1U << 28, 0 },
	{ "more than the payload numbers", (1U << 28) + 1, 0 },
	{ "largest", 0xffffffff, 0 },
};

static void mem_bits_case_desc(const struct mem_bits_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(mem_bits, mem_bits_cases, mem_bits_case_desc);

static void rtrs_geometry_mem_bits__table(struct kunit *test)
{
	const struct mem_bits_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, rtrs_geometry_mem_bits(c->queue_depth), c->mem_bits);
}

struct fits_case {
	const char *name;
	u32 queue_depth;
	u64 chunk_size;
	bool fits;
};

static const struct fits_case fits_cases[] = {
	{ "default", 512, 131072, true },
	{ "512 x 512 KiB, all bits", 512, 524288, true },
	{ "512, a byte more", 512, 524289, false },
	{ "513 x 512 KiB", 513, 524288, false },
	{ "513 x 256 KiB", 513, 262144, true },
	{ "1 x 256 MiB", 1, 1 << 28, true },
	{ "1 x 256 MiB and a byte", 1, (1 << 28) + 1, false },
	{ "65535 x 4 KiB", 65535, 4096, true },
	{ "65535 x 4 KiB and a byte", 65535, 4097, false },
	{ "queue depth 0", 0, 8192, false },
	{ "queue depth 65536", 65536, 1, false },
	{ "chunk 0", 512, 0, false },
	{ "chunk 1", 512, 1, true },
	{ "chunk of 4 GiB and 8 KiB, not cut to 32 bits", 512, 0x100002000ULL, false },
	{ "largest", 0xffffffff, U64_MAX, false },
};

static void fits_case_desc(const struct fits_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(fits, fits_cases, fits_case_desc);

static void rtrs_geometry_fits_imm__table(struct kunit *test)
{
	const struct fits_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, rtrs_geometry_fits_imm(c->queue_depth, c->chunk_size), c->fits);
}

static void rtrs_geometry_fits_imm__rule_of_the_protocol(struct kunit *test)
{
	u32 qd, shift;
	u64 chunk;
	int delta;

	for (qd = 1; qd <= 65535; qd += qd < 2050 ? 1 : 997) {
		for (shift = 1; shift < 40; shift++) {
			for (delta = -1; delta <= 1; delta++) {
				chunk = (1ULL << shift) + delta;
				KUNIT_ASSERT_EQ_MSG(test, rtrs_geometry_fits_imm(qd, chunk),
						    bits_to_number(qd) + bits_to_number(chunk) <= 28,
						    "queue depth %u, chunk %llu", qd, chunk);
			}
		}
	}
}

struct check_rsp_case {
	const char *name;
	u32 queue_depth;
	u32 max_io_size;
	u32 max_hdr_size;
	int ret;
};

static const struct check_rsp_case check_rsp_cases[] = {
	{ "default", 512, 126976, 4096, 0 },
	{ "chunk is no power of two", 512, 131072, 4096, 0 },
	{ "smallest chunk", 512, 4096, 4096, 0 },
	{ "a byte below the smallest chunk", 512, 4095, 4096, -EINVAL },
	{ "smallest header", 512, 131072, 64, 0 },
	{ "header a byte too small", 512, 131072, 63, -EINVAL },
	{ "no header", 512, 131072, 0, -EINVAL },
	{ "no data", 512, 0, 131072, -EINVAL },
	{ "one byte of data", 512, 1, 131071, 0 },
	{ "nothing", 0, 0, 0, -EINVAL },
	{ "queue depth 0", 0, 126976, 4096, -EINVAL },
	{ "queue depth 1", 1, 126976, 4096, 0 },
	{ "queue depth 16384, 16 KiB", 16384, 12288, 4096, 0 },
	{ "queue depth 16385, 16 KiB", 16385, 12288, 4096, -EINVAL },
	{ "queue depth 65535 leaves less than the smallest chunk", 65535, 4096, 4096, -EINVAL },
	{ "queue depth 65536", 65536, 4096, 4096, -EINVAL },
	{ "512, largest chunk", 512, 520192, 4096, 0 },
	{ "512, a byte more", 512, 520193, 4096, -EINVAL },
	{ "sum overflows 32 bits to a good chunk", 512, 0xffffffff, 131073, -EINVAL },
	{ "sum overflows 32 bits to 0", 512, 0xfffff000, 4096, -EINVAL },
	{ "both largest", 1, 0xffffffff, 0xffffffff, -EINVAL },
};

static void check_rsp_case_desc(const struct check_rsp_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(check_rsp, check_rsp_cases, check_rsp_case_desc);

static void rtrs_geometry_check_rsp__table(struct kunit *test)
{
	const struct check_rsp_case *c = test->param_value;
	struct rtrs_conn_rsp rsp = {
		.queue_depth = c->queue_depth,
		.max_io_size = c->max_io_size,
		.max_hdr_size = c->max_hdr_size,
	};

	KUNIT_EXPECT_EQ(test, rtrs_geometry_check_rsp(&rsp), c->ret);
	rsp.new_rkey = true;
	KUNIT_EXPECT_EQ(test, rtrs_geometry_check_rsp(&rsp), c->ret);
}

struct chunks_case {
	const char *name;
	u32 queue_depth;
	u32 pages_per_chunk;
	u32 max_pages;
	u32 chunks;
};

static const struct chunks_case chunks_cases[] = {
	{ "all fit", 512, 32, 16384, 512 },
	{ "half fit", 512, 32, 16383, 256 },
	{ "exactly one fits", 512, 32, 32, 1 },
	{ "not even one fits", 512, 32, 31, 0 },
	{ "no pages", 512, 32, 0, 0 },
	{ "three would fit, but do not divide", 512, 1, 3, 2 },
	{ "a prime", 509, 1, 508, 1 },
	{ "a prime, all fit", 509, 1, 509, 509 },
	{ "600 by 256", 600, 1, 256, 200 },
	{ "65535 by 255", 65535, 1, 255, 255 },
	{ "65535 by 254", 65535, 1, 254, 85 },
	{ "one slot", 1, 1, 0xffffffff, 1 },
	{ "no limit", 65535, 1, 0xffffffff, 65535 },
	{ "no slots", 0, 1, 100, 0 },
	{ "chunks without pages", 512, 0, 100, 0 },
	{ "product beyond 32 bits", 65535, 0x10002, 0xffffffff, 21845 },
};

static void chunks_case_desc(const struct chunks_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(chunks, chunks_cases, chunks_case_desc);

static void rtrs_geometry_chunks_per_mr__table(struct kunit *test)
{
	const struct chunks_case *c = test->param_value;

	KUNIT_EXPECT_EQ(test, rtrs_geometry_chunks_per_mr(c->queue_depth, c->pages_per_chunk,
							  c->max_pages), c->chunks);
}

static void rtrs_geometry_chunks_per_mr__largest_divisor(struct kunit *test)
{
	u32 qd, pages, max_pages, nr, bigger;

	for (qd = 1; qd <= 100; qd++) {
		for (pages = 1; pages <= 4; pages++) {
			for (max_pages = 0; max_pages <= 4 * 101; max_pages += 3) {
				nr = rtrs_geometry_chunks_per_mr(qd, pages, max_pages);
				KUNIT_ASSERT_EQ(test, nr == 0, max_pages < pages);
				KUNIT_ASSERT_LE(test, nr * pages, max_pages);
				KUNIT_ASSERT_TRUE(test, !nr || qd % nr == 0);
				for (bigger = nr + 1; bigger <= qd; bigger++)
					KUNIT_ASSERT_TRUE_MSG(test, qd % bigger ||
							      bigger * pages > max_pages,
							      "%u of %u x %u in %u",
							      bigger, qd, pages, max_pages);
			}
		}
	}
}

struct wrs_case {
	const char *name;
	u32 queue_depth;
	u32 max_qp_wr;
	u32 service_send;
	u32 service_recv;
	u32 clt_send;
	u32 clt_send_registers;
	u32 clt_recv;
	u32 srv_send;
	u32 srv_recv;
};

static const struct wrs_case wrs_cases[] = {
	{ "default", 512, 16384, 254, 1026, 254, 1601, 1537, 254, 513 },
	{ "one slot", 1, 16384, 254, 1026, 6, 6, 4, 6, 2 },
	{ "two slots", 2, 16384, 254, 1026, 9, 9, 7, 7, 3 },
	{ "a slot less than the most", 63, 16384, 254, 1026, 253, 253, 190, 190, 64 },
	{ "a slot more", 64, 16384, 254, 1026, 254, 257, 193, 193, 65 },
	{ "the server's, too", 85, 16384, 254, 1026, 254, 320, 256, 254, 86 },
	{ "largest queue depth", 65535, 0xffffffff, 254, 1026, 254, 196670, 196606, 254, 65536 },
	{ "device limit of 1024", 512, 1024, 254, 1024, 254, 1024, 1024, 254, 513 },
	{ "device limit just enough", 512, 254, 254, 254, 254, 254, 254, 254, 254 },
	{ "device limit too low", 512, 253, 253, 253, 253, 253, 253, 253, 253 },
	{ "device limit of 1", 512, 1, 1, 1, 1, 1, 1, 1, 1 },
	{ "receives of the service just fit", 16, 1026, 254, 1026, 65, 65, 49, 49, 17 },
	{ "just do not fit", 16, 1025, 254, 1025, 65, 65, 49, 49, 17 },
};

static void wrs_case_desc(const struct wrs_case *c, char *desc)
{
	strscpy(desc, c->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(wrs, wrs_cases, wrs_case_desc);

static void rtrs_geometry_wrs__io(struct kunit *test)
{
	const struct wrs_case *c = test->param_value;
	u32 qd = c->queue_depth, max = c->max_qp_wr;

	KUNIT_EXPECT_EQ(test, rtrs_geometry_clt_send_wrs(false, qd, max, false), c->clt_send);
	KUNIT_EXPECT_EQ(test, rtrs_geometry_clt_send_wrs(false, qd, max, true), c->clt_send_registers);
	KUNIT_EXPECT_EQ(test, rtrs_geometry_clt_recv_wrs(false, qd, max), c->clt_recv);
	KUNIT_EXPECT_EQ(test, rtrs_geometry_srv_send_wrs(false, qd, max), c->srv_send);
	KUNIT_EXPECT_EQ(test, rtrs_geometry_srv_recv_wrs(false, qd, max), c->srv_recv);
}

static void rtrs_geometry_wrs__service(struct kunit *test)
{
	const struct wrs_case *c = test->param_value;
	u32 qd = c->queue_depth, max = c->max_qp_wr;

	KUNIT_EXPECT_EQ(test, rtrs_geometry_clt_send_wrs(true, qd, max, false), c->service_send);
	KUNIT_EXPECT_EQ(test, rtrs_geometry_clt_send_wrs(true, qd, max, true), c->service_send);
	KUNIT_EXPECT_EQ(test, rtrs_geometry_clt_recv_wrs(true, qd, max), c->service_recv);
	KUNIT_EXPECT_EQ(test, rtrs_geometry_srv_send_wrs(true, qd, max), c->service_send);
	KUNIT_EXPECT_EQ(test, rtrs_geometry_srv_recv_wrs(true, qd, max), c->service_recv);
}

static struct kunit_case rtrs_geometry_cases[] = {
	KUNIT_CASE(rtrs_geometry_mem_bits__each_queue_depth),
	KUNIT_CASE_PARAM(rtrs_geometry_mem_bits__table, mem_bits_gen_params),
	KUNIT_CASE_PARAM(rtrs_geometry_fits_imm__table, fits_gen_params),
	KUNIT_CASE(rtrs_geometry_fits_imm__rule_of_the_protocol),
	KUNIT_CASE_PARAM(rtrs_geometry_check_rsp__table, check_rsp_gen_params),
	KUNIT_CASE_PARAM(rtrs_geometry_chunks_per_mr__table, chunks_gen_params),
	KUNIT_CASE(rtrs_geometry_chunks_per_mr__largest_divisor),
	KUNIT_CASE_PARAM(rtrs_geometry_wrs__io, wrs_gen_params),
	KUNIT_CASE_PARAM(rtrs_geometry_wrs__service, wrs_gen_params),
	{}
};

static struct kunit_suite rtrs_geometry_suite = {
	.name = "rtrs_geometry",
	.test_cases = rtrs_geometry_cases,
};

kunit_test_suite(rtrs_geometry_suite);

MODULE_DESCRIPTION("KUnit tests of the RTRS session geometry");
MODULE_LICENSE("GPL");
