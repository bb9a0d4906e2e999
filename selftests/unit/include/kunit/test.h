/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The part of KUnit that the tests of the pure code use, for user space.  Names, arguments and output
 * are those of the kernel, so that one test source serves both.
 */
#ifndef _UNIT_KUNIT_TEST_H
#define _UNIT_KUNIT_TEST_H

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>

#define KUNIT_PARAM_DESC_SIZE	128

#define GFP_KERNEL		0U

#define MODULE_LICENSE(license)		static_assert(sizeof(license) > 1)
#define MODULE_DESCRIPTION(text)	static_assert(sizeof(text) > 1)

enum kunit_status {
	KUNIT_SUCCESS,
	KUNIT_FAILURE,
	KUNIT_SKIPPED,
};

struct kunit_memory;

/**
 * struct kunit - a test case that runs
 * @priv: for the test
 * @param_value: the parameter of this run
 * @name: name of the case
 * @status: result so far
 * @skip_reason: why it was skipped
 * @memory: what kunit_kmalloc() gave out, freed at the end of the run
 */
struct kunit {
	void *priv;
	const void *param_value;
	/* private: */
	const char *name;
	enum kunit_status status;
	char skip_reason[128];
	struct kunit_memory *memory;
};

struct kunit_case {
	void (*run_case)(struct kunit *test);
	const char *name;
	const void *(*generate_params)(const void *prev, char *desc);
};

struct kunit_suite {
	const char name[256];
	int (*init)(struct kunit *test);
	void (*exit)(struct kunit *test);
	struct kunit_case *test_cases;
	/* private: */
	struct kunit_suite *next;
};

void kunit_register(struct kunit_suite *suite);
void *kunit_kmalloc(struct kunit *test, size_t size, gfp_t gfp);
void *kunit_kzalloc(struct kunit *test, size_t size, gfp_t gfp);

void kunit_mark_failed(struct kunit *test, const char *file, int line, bool fatal,
		       const char *expected);
void kunit_print_value(const char *text, long long value);
void kunit_print_string(const char *text, const char *value);
void kunit_print_message(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void kunit_mark_skipped_reason(struct kunit *test, const char *reason);
void kunit_abort(void) __attribute__((noreturn));

#define kunit_test_suite(suite)						\
	static void __attribute__((constructor)) suite##_register(void)	\
	{								\
		kunit_register(&(suite));				\
	}								\
	static_assert(sizeof(suite) != 0)

#define KUNIT_CASE(_fn)			{ .run_case = _fn, .name = #_fn }
#define KUNIT_CASE_PARAM(_fn, _gen)	\
	{ .run_case = _fn, .name = #_fn, .generate_params = _gen }

#define KUNIT_ARRAY_PARAM(_name, _array, _get_desc)				\
	static const void *_name##_gen_params(const void *prev, char *desc)	\
	{									\
		typeof((_array)[0]) *next = (_array);				\
		void (*get_desc)(typeof(next), char *) = _get_desc;		\
										\
		if (prev)							\
			next = (typeof(next))prev + 1;				\
		if ((size_t)(next - (_array)) >= ARRAY_SIZE(_array))		\
			return NULL;						\
		if (get_desc)							\
			get_desc(next, desc);					\
		return next;							\
	}

#define kunit_skip(test, reason) do {			\
	kunit_mark_skipped_reason(test, reason);	\
	kunit_abort();					\
} while (0)

#define KUNIT_UNIT_BINARY(test, fatal, left, op, right, ...) do {		\
	const typeof(left) _left = (left);					\
	const typeof(right) _right = (right);					\
										\
	if (_left op _right)							\
		break;								\
	kunit_mark_failed(test, __FILE__, __LINE__, fatal,			\
			  #left " " #op " " #right);				\
	kunit_print_value(#left, (long long)_left);				\
	kunit_print_value(#right, (long long)_right);				\
	kunit_print_message(" " __VA_ARGS__);					\
	if (fatal)								\
		kunit_abort();							\
} while (0)

#define KUNIT_UNIT_BOOL(test, fatal, condition, wanted, ...) do {		\
	if ((!!(condition)) == (wanted))					\
		break;								\
	kunit_mark_failed(test, __FILE__, __LINE__, fatal,			\
			  #condition " to be " #wanted);			\
	kunit_print_message(" " __VA_ARGS__);					\
	if (fatal)								\
		kunit_abort();							\
} while (0)

#define KUNIT_UNIT_STR(test, fatal, left, op, right, ...) do {			\
	const char *_left = (left);						\
	const char *_right = (right);						\
										\
	if (strcmp(_left, _right) op 0)						\
		break;								\
	kunit_mark_failed(test, __FILE__, __LINE__, fatal,			\
			  #left " " #op " " #right);				\
	kunit_print_string(#left, _left);					\
	kunit_print_string(#right, _right);					\
	kunit_print_message(" " __VA_ARGS__);					\
	if (fatal)								\
		kunit_abort();							\
} while (0)

#define KUNIT_EXPECT_TRUE(t, c)			KUNIT_UNIT_BOOL(t, false, c, true)
#define KUNIT_EXPECT_FALSE(t, c)		KUNIT_UNIT_BOOL(t, false, c, false)
#define KUNIT_EXPECT_NULL(t, p)			KUNIT_UNIT_BOOL(t, false, (p) == NULL, true)
#define KUNIT_EXPECT_NOT_NULL(t, p)		KUNIT_UNIT_BOOL(t, false, (p) != NULL, true)
#define KUNIT_EXPECT_EQ(t, l, r)		KUNIT_UNIT_BINARY(t, false, l, ==, r)
#define KUNIT_EXPECT_NE(t, l, r)		KUNIT_UNIT_BINARY(t, false, l, !=, r)
#define KUNIT_EXPECT_LT(t, l, r)		KUNIT_UNIT_BINARY(t, false, l, <, r)
#define KUNIT_EXPECT_LE(t, l, r)		KUNIT_UNIT_BINARY(t, false, l, <=, r)
#define KUNIT_EXPECT_GT(t, l, r)		KUNIT_UNIT_BINARY(t, false, l, >, r)
#define KUNIT_EXPECT_GE(t, l, r)		KUNIT_UNIT_BINARY(t, false, l, >=, r)
#define KUNIT_EXPECT_STREQ(t, l, r)		KUNIT_UNIT_STR(t, false, l, ==, r)
#define KUNIT_EXPECT_STRNEQ(t, l, r)		KUNIT_UNIT_STR(t, false, l, !=, r)

#define KUNIT_EXPECT_TRUE_MSG(t, c, ...)	KUNIT_UNIT_BOOL(t, false, c, true, __VA_ARGS__)
#define KUNIT_EXPECT_FALSE_MSG(t, c, ...)	KUNIT_UNIT_BOOL(t, false, c, false, __VA_ARGS__)
#define KUNIT_EXPECT_EQ_MSG(t, l, r, ...)	\
	KUNIT_UNIT_BINARY(t, false, l, ==, r, __VA_ARGS__)
#define KUNIT_EXPECT_NE_MSG(t, l, r, ...)	\
	KUNIT_UNIT_BINARY(t, false, l, !=, r, __VA_ARGS__)
#define KUNIT_EXPECT_LT_MSG(t, l, r, ...)	\
	KUNIT_UNIT_BINARY(t, false, l, <, r, __VA_ARGS__)
#define KUNIT_EXPECT_LE_MSG(t, l, r, ...)	\
	KUNIT_UNIT_BINARY(t, false, l, <=, r, __VA_ARGS__)
#define KUNIT_EXPECT_GT_MSG(t, l, r, ...)	\
	KUNIT_UNIT_BINARY(t, false, l, >, r, __VA_ARGS__)
#define KUNIT_EXPECT_GE_MSG(t, l, r, ...)	\
	KUNIT_UNIT_BINARY(t, false, l, >=, r, __VA_ARGS__)
#define KUNIT_EXPECT_STREQ_MSG(t, l, r, ...)	\
	KUNIT_UNIT_STR(t, false, l, ==, r, __VA_ARGS__)

#define KUNIT_ASSERT_TRUE(t, c)			KUNIT_UNIT_BOOL(t, true, c, true)
#define KUNIT_ASSERT_FALSE(t, c)		KUNIT_UNIT_BOOL(t, true, c, false)
#define KUNIT_ASSERT_NULL(t, p)			KUNIT_UNIT_BOOL(t, true, (p) == NULL, true)
#define KUNIT_ASSERT_NOT_NULL(t, p)		KUNIT_UNIT_BOOL(t, true, (p) != NULL, true)
#define KUNIT_ASSERT_EQ(t, l, r)		KUNIT_UNIT_BINARY(t, true, l, ==, r)
#define KUNIT_ASSERT_NE(t, l, r)		KUNIT_UNIT_BINARY(t, true, l, !=, r)
#define KUNIT_ASSERT_LT(t, l, r)		KUNIT_UNIT_BINARY(t, true, l, <, r)
#define KUNIT_ASSERT_LE(t, l, r)		KUNIT_UNIT_BINARY(t, true, l, <=, r)
#define KUNIT_ASSERT_GT(t, l, r)		KUNIT_UNIT_BINARY(t, true, l, >, r)
#define KUNIT_ASSERT_GE(t, l, r)		KUNIT_UNIT_BINARY(t, true, l, >=, r)
#define KUNIT_ASSERT_STREQ(t, l, r)		KUNIT_UNIT_STR(t, true, l, ==, r)

#define KUNIT_ASSERT_TRUE_MSG(t, c, ...)	KUNIT_UNIT_BOOL(t, true, c, true, __VA_ARGS__)
#define KUNIT_ASSERT_FALSE_MSG(t, c, ...)	KUNIT_UNIT_BOOL(t, true, c, false, __VA_ARGS__)
#define KUNIT_ASSERT_EQ_MSG(t, l, r, ...)	\
	KUNIT_UNIT_BINARY(t, true, l, ==, r, __VA_ARGS__)
#define KUNIT_ASSERT_NE_MSG(t, l, r, ...)	\
	KUNIT_UNIT_BINARY(t, true, l, !=, r, __VA_ARGS__)
#define KUNIT_ASSERT_LT_MSG(t, l, r, ...)	\
	KUNIT_UNIT_BINARY(t, true, l, <, r, __VA_ARGS__)
#define KUNIT_ASSERT_LE_MSG(t, l, r, ...)	\
	KUNIT_UNIT_BINARY(t, true, l, <=, r, __VA_ARGS__)
#define KUNIT_ASSERT_GT_MSG(t, l, r, ...)	\
	KUNIT_UNIT_BINARY(t, true, l, >, r, __VA_ARGS__)
#define KUNIT_ASSERT_GE_MSG(t, l, r, ...)	\
	KUNIT_UNIT_BINARY(t, true, l, >=, r, __VA_ARGS__)
#define KUNIT_ASSERT_STREQ_MSG(t, l, r, ...)	\
	KUNIT_UNIT_STR(t, true, l, ==, r, __VA_ARGS__)

#endif /* _UNIT_KUNIT_TEST_H */
