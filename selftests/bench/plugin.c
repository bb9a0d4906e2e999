// SPDX-License-Identifier: GPL-2.0-only
/*
 * plugin - count the guest's instructions by address, between two marks
 *
 * For QEMU's plugin interface, version 1, of which Debian packs no header: what is used of it is
 * declared here. Each translated block adds its length to a counter of its address whenever it
 * runs; all of user space shares one. The marks are no-ops of the guest that count.c knows too: the
 * first sets all counters to zero, the second has them written to the file given as out=, a line
 * "<address, hexadecimal> <instructions>" each.
 *
 * With several virtual CPUs, which run at a time, each has counters of its own. A mark of one of them does not
 * stop the others: what they are in the middle of may be counted or not.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct qemu_plugin_tb;
struct qemu_plugin_insn;

struct plugin_info {
	const char *target;
	int min_version;
	int version;
	bool system;
	int cpus;
	int max_cpus;
};

enum { INLINE_ADD_U64 = 0 };
enum { CALLBACK_NO_REGS = 0 };

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, void (*cb)(uint64_t id, struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, int op, void *counter, uint64_t add);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, void (*cb)(unsigned int cpu, void *data),
					  int flags, void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    void (*cb)(unsigned int cpu, void *data), int flags, void *data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);

EXPORT int qemu_plugin_version = 1;

struct block {
	uint64_t addr;
	struct block *next;
	uint64_t count[];	/* one for each virtual CPU */
};

/* A translated block, as with several virtual CPUs it is counted. */
struct run {
	struct block *block;
	uint64_t instructions;
};

#define BUCKETS (1 << 16)
static struct block *buckets[BUCKETS];
static pthread_mutex_t buckets_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int nr_cpus;
static const char *out_path;

/* nopl 0x52545201(%rax), nopl 0x52545202(%rax) */
static const unsigned char mark_start[] = { 0x0f, 0x1f, 0x80, 0x01, 0x52, 0x54, 0x52 };
static const unsigned char mark_end[] = { 0x0f, 0x1f, 0x80, 0x02, 0x52, 0x54, 0x52 };

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* Under buckets_lock. */
static struct block *block_of(uint64_t addr)
{
	struct block **bucket, *block;

	/* User space is the half without the sign. */
	if (!(addr >> 63))
		addr = 0;
	bucket = &buckets[(addr ^ addr >> 16) % BUCKETS];
	for (block = *bucket; block; block = block->next)
		if (block->addr == addr)
			return block;
	block = calloc(1, sizeof(*block) + nr_cpus * sizeof(*block->count));
	if (!block)
		fail("plugin");
	block->addr = addr;
	block->next = *bucket;
	*bucket = block;
	return block;
}

static void start(unsigned int cpu, void *data)
{
	struct block *block;
	int i;

	(void)cpu;
	(void)data;
	pthread_mutex_lock(&buckets_lock);
	for (i = 0; i < BUCKETS; i++)
		for (block = buckets[i]; block; block = block->next)
			memset(block->count, 0, nr_cpus * sizeof(*block->count));
	pthread_mutex_unlock(&buckets_lock);
}

static uint64_t sum(const struct block *block)
{
	uint64_t count = 0;
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpus; cpu++)
		count += block->count[cpu];
	return count;
}

static void end(unsigned int cpu, void *data)
{
	FILE *out = fopen(out_path, "w");
	struct block *block;
	int i;

	(void)cpu;
	(void)data;
	if (!out)
		fail(out_path);
	pthread_mutex_lock(&buckets_lock);
	for (i = 0; i < BUCKETS; i++)
		for (block = buckets[i]; block; block = block->next)
			if (sum(block))
				fprintf(out, "%" PRIx64 " %" PRIu64 "\n", block->addr, sum(block));
	pthread_mutex_unlock(&buckets_lock);
	if (fclose(out))
		fail(out_path);
}

static bool is_mark(const struct qemu_plugin_insn *insn, const unsigned char *mark)
{
	return qemu_plugin_insn_size(insn) == sizeof(mark_start) &&
	       !memcmp(qemu_plugin_insn_data(insn), mark, sizeof(mark_start));
}

static void ran(unsigned int cpu, void *data)
{
	const struct run *run = data;

	run->block->count[cpu] += run->instructions;
}

static void count(struct qemu_plugin_tb *tb, uint64_t instructions)
{
	struct block *block;
	struct run *run;

	pthread_mutex_lock(&buckets_lock);
	block = block_of(qemu_plugin_tb_vaddr(tb));
	pthread_mutex_unlock(&buckets_lock);
	if (nr_cpus == 1) {
		qemu_plugin_register_vcpu_tb_exec_inline(tb, INLINE_ADD_U64, &block->count[0], instructions);
		return;
	}
	/* Stays for ever, as the translation may. */
	run = malloc(sizeof(*run));
	if (!run)
		fail("plugin");
	run->block = block;
	run->instructions = instructions;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, ran, CALLBACK_NO_REGS, run);
}

static void translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t nr = qemu_plugin_tb_n_insns(tb), i;

	(void)id;
	count(tb, nr);
	for (i = 0; i < nr; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (is_mark(insn, mark_start))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, start, CALLBACK_NO_REGS, NULL);
		else if (is_mark(insn, mark_end))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, end, CALLBACK_NO_REGS, NULL);
	}
}

EXPORT int qemu_plugin_install(uint64_t id, const struct plugin_info *info, int argc, char **argv)
{
	if (!info->system || argc != 1 || strncmp(argv[0], "out=", 4)) {
		fprintf(stderr, "plugin: wanted a system and out=<file>\n");
		return 1;
	}
	out_path = strdup(argv[0] + 4);
	if (!out_path)
		return 1;
	nr_cpus = info->max_cpus;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
