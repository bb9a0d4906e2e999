// SPDX-License-Identifier: GPL-2.0-only
/*
 * Words for the one who asked for something that was refused or failed.
 *
 * They are those of the kernel log.  Of several messages the first is kept: it is said where the fault is found,
 * the others by those who were told.
 */
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>
#include <rdma/rtrs.h>

/**
 * rtrs_report_set() - say why, unless that is said already
 * @report: where to, NULL: nobody wants to know
 * @fmt: format as of printk(); a newline at its end is dropped
 *
 * Context: any; one at a time.
 */
void rtrs_report_set(struct rtrs_report *report, const char *fmt, ...)
{
	va_list args;
	int len;

	if (!report || *report->text)
		return;
	va_start(args, fmt);
	len = vscnprintf(report->text, sizeof(report->text), fmt, args);
	va_end(args);
	if (len && report->text[len - 1] == '\n')
		report->text[len - 1] = '\0';
}
EXPORT_SYMBOL(rtrs_report_set);

/**
 * rtrs_report_blame() - say which option the words are about, unless that is said already
 * @report: where to, NULL: nobody wants to know
 * @key: name of the option, constant
 * @nr: which one, if it came several times; counted from 0
 *
 * Context: any; one at a time.
 */
void rtrs_report_blame(struct rtrs_report *report, const char *key, unsigned int nr)
{
	if (!report || report->key)
		return;
	report->key = key;
	report->nr = nr;
}
EXPORT_SYMBOL(rtrs_report_blame);
