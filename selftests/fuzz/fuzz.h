/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the fuzz targets share. The first byte of an input says which decoder the rest is for; numbers that
 * a decoder wants beside the message come next, then the message, in a block of memory of its own of
 * exactly its length.
 */
#ifndef _FUZZ_H
#define _FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <linux/string.h>
#include <linux/types.h>

/* A promise of the code under test that must hold whatever the input is. */
#define MUST(cond)								\
do {										\
	if (!(cond)) {								\
		fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond); \
		abort();							\
	}									\
} while (0)

/**
 * struct fuzz_in - the part of an input that was not taken yet
 * @data: its bytes
 * @len: how many
 */
struct fuzz_in {
	const u8 *data;
	size_t len;
};

/* @bytes of the input as a little-endian number; what is missing counts as 0. */
static inline u64 fuzz_take(struct fuzz_in *in, size_t bytes)
{
	u64 value = 0;
	size_t i;

	for (i = 0; i < bytes && in->len; i++) {
		value |= (u64)*in->data++ << 8 * i;
		in->len--;
	}
	return value;
}

/* The next bytes, at most @max, copied to a block of @len; to be freed. */
static inline void *fuzz_block(struct fuzz_in *in, size_t max, size_t *len)
{
	u8 *block;

	*len = in->len < max ? in->len : max;
	block = malloc(*len);
	MUST(block || !*len);
	if (*len)
		memcpy(block, in->data, *len);
	in->data += *len;
	in->len -= *len;
	return block;
}

/* All that is left as text; to be freed. */
static inline char *fuzz_text(struct fuzz_in *in)
{
	char *text = malloc(in->len + 1);

	MUST(text);
	if (in->len)
		memcpy(text, in->data, in->len);
	text[in->len] = '\0';
	in->len = 0;
	return text;
}

/* As many bytes as @obj has from the input, the rest 0: how the ULP gets an answer. */
static inline void fuzz_fill(struct fuzz_in *in, void *obj, size_t size)
{
	size_t len = in->len < size ? in->len : size;

	memset(obj, 0, size);
	if (len)
		memcpy(obj, in->data, len);
	in->data += len;
	in->len -= len;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

#endif /* _FUZZ_H */
