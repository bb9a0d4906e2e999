// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs KUnit suites in user space and prints KTAP.
 *
 * Usage: <program> [pattern]	run the cases whose "suite.case" matches the shell pattern
 *
 * The last line is "# totals: pass:<n> fail:<n> skip:<n>".  Exit status: 0 all passed, 1 a test failed.
 * What a sanitizer finds ends the program at once with another status.
 */
#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <kunit/test.h>

/* Deepest line: a parameter of a case of a suite. */
#define INDENT_CASE	"    "
#define INDENT_PARAM	"        "

/**
 * struct kunit_memory - one allocation of a test
 * @next: the one before it
 * @data: what the test got; of its own, so that a sanitizer sees both ends
 */
struct kunit_memory {
	struct kunit_memory *next;
	void *data;
};

/**
 * struct totals - results of some runs
 * @nr: number of runs by enum kunit_status
 */
struct totals {
	unsigned int nr[KUNIT_SKIPPED + 1];
};

static struct kunit_suite *suites;
static const char *pattern;
static jmp_buf abort_case;

void kunit_register(struct kunit_suite *suite)
{
	struct kunit_suite **pos = &suites;

	while (*pos && strcmp((*pos)->name, suite->name) < 0)
		pos = &(*pos)->next;
	suite->next = *pos;
	*pos = suite;
}

static void *must(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

void *kunit_kmalloc(struct kunit *test, size_t size, gfp_t gfp)
{
	struct kunit_memory *memory = must(malloc(sizeof(*memory)));

	(void)gfp;
	memory->data = must(malloc(size));
	memory->next = test->memory;
	test->memory = memory;
	return memory->data;
}

void *kunit_kzalloc(struct kunit *test, size_t size, gfp_t gfp)
{
	return memset(kunit_kmalloc(test, size, gfp), 0, size);
}

static void free_memory(struct kunit *test)
{
	struct kunit_memory *memory;

	while ((memory = test->memory)) {
		test->memory = memory->next;
		free(memory->data);
		free(memory);
	}
}

void kunit_mark_failed(struct kunit *test, const char *file, int line, bool fatal,
		       const char *expected)
{
	test->status = KUNIT_FAILURE;
	printf(INDENT_CASE "# %s: %s FAILED at %s:%d\n", test->name,
	       fatal ? "ASSERTION" : "EXPECTATION", file, line);
	printf(INDENT_CASE "#   Expected %s\n", expected);
}

void kunit_print_value(const char *text, long long value)
{
	printf(INDENT_CASE "#     %s == %lld (0x%llx)\n", text, value, value);
}

void kunit_print_string(const char *text, const char *value)
{
	printf(INDENT_CASE "#     %s == \"%s\"\n", text, value);
}

void kunit_print_message(const char *fmt, ...)
{
	va_list args;

	if (!strcmp(fmt, " "))
		return;
	va_start(args, fmt);
	printf(INDENT_CASE "#  ");
	vprintf(fmt, args);
	printf("\n");
	va_end(args);
}

void kunit_mark_skipped_reason(struct kunit *test, const char *reason)
{
	test->status = KUNIT_SKIPPED;
	strscpy(test->skip_reason, reason, sizeof(test->skip_reason));
}

void kunit_abort(void)
{
	longjmp(abort_case, 1);
}

/* One run of a case: without parameter, or with one of them. */
static enum kunit_status run_once(struct kunit_suite *suite, struct kunit_case *kcase,
				  const void *param, const char *indent, int number, const char *desc)
{
	struct kunit test = { .name = kcase->name, .param_value = param };
	bool failed;

	if (!setjmp(abort_case)) {
		if (suite->init && suite->init(&test))
			test.status = KUNIT_FAILURE;
		else
			kcase->run_case(&test);
	}
	if (suite->exit)
		suite->exit(&test);
	free_memory(&test);

	failed = test.status == KUNIT_FAILURE;
	printf("%s%s %d %s%s%s\n", indent, failed ? "not ok" : "ok", number, desc,
	       test.status == KUNIT_SKIPPED ? " # SKIP " : "", test.skip_reason);
	return test.status;
}

static bool all_passed(const struct totals *totals)
{
	return !totals->nr[KUNIT_FAILURE];
}

static void add_totals(struct totals *sum, const struct totals *totals)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sum->nr); i++)
		sum->nr[i] += totals->nr[i];
}

static struct totals run_params(struct kunit_suite *suite, struct kunit_case *kcase, int number)
{
	char desc[KUNIT_PARAM_DESC_SIZE] = "";
	struct totals totals = {};
	const void *param = NULL;
	int i;

	printf(INDENT_PARAM "KTAP version 1\n" INDENT_PARAM "# Subtest: %s\n", kcase->name);
	for (i = 1; (param = kcase->generate_params(param, desc)); i++)
		totals.nr[run_once(suite, kcase, param, INDENT_PARAM, i, desc)]++;
	/* A table without rows would pass unseen. */
	if (i == 1)
		totals.nr[KUNIT_FAILURE]++;
	printf(INDENT_CASE "%s %d %s\n", all_passed(&totals) ? "ok" : "not ok", number, kcase->name);
	return totals;
}

static bool case_selected(const struct kunit_suite *suite, const struct kunit_case *kcase)
{
	char name[512];

	snprintf(name, sizeof(name), "%s.%s", suite->name, kcase->name);
	return !pattern || !fnmatch(pattern, name, 0);
}

static int count_cases(const struct kunit_suite *suite)
{
	struct kunit_case *kcase;
	int nr = 0;

	for (kcase = suite->test_cases; kcase->run_case; kcase++)
		nr += case_selected(suite, kcase);
	return nr;
}

static struct totals run_suite(struct kunit_suite *suite, int number)
{
	struct totals totals = {}, one;
	struct kunit_case *kcase;
	int i = 0;

	printf(INDENT_CASE "KTAP version 1\n" INDENT_CASE "# Subtest: %s\n" INDENT_CASE "1..%d\n",
	       suite->name, count_cases(suite));
	for (kcase = suite->test_cases; kcase->run_case; kcase++) {
		if (!case_selected(suite, kcase))
			continue;
		one = (struct totals){};
		if (kcase->generate_params)
			one = run_params(suite, kcase, ++i);
		else
			one.nr[run_once(suite, kcase, NULL, INDENT_CASE, ++i, kcase->name)]++;
		add_totals(&totals, &one);
	}
	printf("%s %d %s\n", all_passed(&totals) ? "ok" : "not ok", number, suite->name);
	return totals;
}

int main(int argc, char **argv)
{
	struct totals totals = {}, one;
	struct kunit_suite *suite;
	int nr = 0;

	/* What was printed must be out when a sanitizer ends the program. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1)
		pattern = argv[1];
	for (suite = suites; suite; suite = suite->next)
		nr += count_cases(suite) > 0;
	printf("KTAP version 1\n1..%d\n", nr);
	nr = 0;
	for (suite = suites; suite; suite = suite->next) {
		if (!count_cases(suite))
			continue;
		one = run_suite(suite, ++nr);
		add_totals(&totals, &one);
	}
	printf("# totals: pass:%u fail:%u skip:%u\n", totals.nr[KUNIT_SUCCESS],
	       totals.nr[KUNIT_FAILURE], totals.nr[KUNIT_SKIPPED]);
	return all_passed(&totals) ? 0 : 1;
}
