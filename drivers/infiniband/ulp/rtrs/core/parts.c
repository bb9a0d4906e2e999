// SPDX-License-Identifier: GPL-2.0-only
/*
 * Modules with a part in the netlink family.
 *
 * Ownership: a part stays registered from its module's init to its exit.  Whoever calls into it holds the
 * module, which he gets under the mutex: once the exit has begun nobody does any more, and who did before has
 * kept it from beginning.
 */
#include <linux/atomic.h>
#include <linux/module.h>
#include <linux/mutex.h>

#include "nl.h"

static DEFINE_MUTEX(rtrs_nl_parts_mutex);
static const struct rtrs_nl_part *rtrs_nl_parts[RTRS_NL_PARTS];

/* Counts what came and went; tells a dump that it is not of one moment. */
static atomic_t rtrs_nl_changes = ATOMIC_INIT(0);

/**
 * rtrs_nl_register() - show what a module has
 * @id: the module
 * @part: what it has; stays until rtrs_nl_unregister()
 *
 * Context: module init, may sleep.
 */
void rtrs_nl_register(enum rtrs_nl_part_id id, const struct rtrs_nl_part *part)
{
	mutex_lock(&rtrs_nl_parts_mutex);
	rtrs_nl_parts[id] = part;
	mutex_unlock(&rtrs_nl_parts_mutex);
	rtrs_nl_changed();
}
EXPORT_SYMBOL(rtrs_nl_register);

/**
 * rtrs_nl_unregister() - undo rtrs_nl_register()
 * @id: the module
 *
 * Context: module exit, or init that failed before the module was live; may sleep.
 */
void rtrs_nl_unregister(enum rtrs_nl_part_id id)
{
	mutex_lock(&rtrs_nl_parts_mutex);
	rtrs_nl_parts[id] = NULL;
	mutex_unlock(&rtrs_nl_parts_mutex);
	rtrs_nl_changed();
}
EXPORT_SYMBOL(rtrs_nl_unregister);

/**
 * rtrs_nl_part_get() - hold a module and its part
 * @id: the module
 *
 * Context: process, may sleep.
 * Return: the part for rtrs_nl_part_put(), NULL if the module is not there, or not for long.
 */
const struct rtrs_nl_part *rtrs_nl_part_get(enum rtrs_nl_part_id id)
{
	const struct rtrs_nl_part *part;

	mutex_lock(&rtrs_nl_parts_mutex);
	part = rtrs_nl_parts[id];
	if (part && !try_module_get(part->owner))
		part = NULL;
	mutex_unlock(&rtrs_nl_parts_mutex);
	return part;
}

/**
 * rtrs_nl_part_put() - undo rtrs_nl_part_get()
 * @part: the part
 *
 * Context: any.
 */
void rtrs_nl_part_put(const struct rtrs_nl_part *part)
{
	module_put(part->owner);
}

/**
 * rtrs_nl_changed() - a session, path or device came or went
 *
 * A dump that is under way tells that it may have missed it.
 *
 * Context: any.
 */
void rtrs_nl_changed(void)
{
	atomic_inc(&rtrs_nl_changes);
}
EXPORT_SYMBOL(rtrs_nl_changed);

/**
 * rtrs_nl_generation() - a number that is another one after each change
 *
 * Context: any.
 * Return: the number, not 0, which netlink takes for none.
 */
u32 rtrs_nl_generation(void)
{
	return (u32)atomic_read(&rtrs_nl_changes) ?: 1;
}
