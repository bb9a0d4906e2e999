// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands for mapped devices: unmap, remap, resize; and for exported ones: close.
 */
#include <string.h>

#include "act.h"
#include "mem.h"
#include "model.h"
#include "out.h"

static enum status device_write(const struct args *args, enum op op, const struct mapped *dev,
				const char *attr, const char *text)
{
	return act(args, op, mem_printf("/dev/%s", dev->disk), mem_printf("%s/%s", dev->dir, attr), text);
}

static enum status unmap_one(const struct args *args, const struct mapped *dev)
{
	return device_write(args, OP_UNMAP, dev, "unmap_device", args->force ? "force" : "normal");
}

static enum status remap_one(const struct args *args, const struct mapped *dev)
{
	if (args->all && (!dev->state || strcmp(dev->state, "closed")))
		return ST_OK;
	return device_write(args, OP_REMAP, dev, "remap_device", args->force ? "accept" : "1");
}

/* Do something to each device, go on after a failure, and end as the first one did. */
static enum status each_device(const struct args *args,
			       enum status (*one)(const struct args *args, const struct mapped *dev))
{
	struct mapped_list list = mapped_load();
	enum status status, first = ST_OK;
	const struct mapped *dev;
	size_t i, nr = args->all ? list.nr : args->words.nr;

	if (args->all == !!args->words.nr) {
		fail(ST_USAGE, "expected either devices or --all");
		return ST_USAGE;
	}
	for (i = 0; i < nr; i++) {
		status = ST_OK;
		dev = args->all ? &list.dev[i] : mapped_find(&list, args->words.word[i], &status);
		if (dev)
			status = one(args, dev);
		if (first == ST_OK)
			first = status;
	}
	return first;
}

enum status cmd_unmap(const struct args *args)
{
	return each_device(args, unmap_one);
}

enum status cmd_remap(const struct args *args)
{
	return each_device(args, remap_one);
}

enum status cmd_resize(const struct args *args)
{
	const char *size = args->words.word[1], *wrong;
	struct mapped_list list = mapped_load();
	enum status status = ST_OK;
	const struct mapped *dev;
	unsigned long long bytes;

	wrong = units_parse(size, &bytes);
	if (wrong)
		return fail(ST_USAGE, "size '%s' %s", size, wrong);
	dev = mapped_find(&list, args->words.word[0], &status);
	if (!dev)
		return status;
	if (bytes % 512)
		return fail(ST_USAGE, "size '%s' is not a multiple of 512 bytes", size);
	if ((long long)bytes < dev->bytes && !args->force) {
		fail(ST_USAGE, "/dev/%s has %s: %s would cut off data", dev->disk,
		     units_format(dev->bytes, NULL), size);
		detail("next", "shrink what is on it first, then rnbd resize --force");
		return ST_USAGE;
	}
	return device_write(args, OP_RESIZE, dev, "resize", mem_printf("%llu", bytes / 512));
}

static void close_unknown(const struct export_list *list, const char *device, const char *session)
{
	struct words names = { 0 };
	const char *name;
	size_t i;

	for (i = 0; i < list->nr; i++) {
		name = list->export[i].device;
		if (!words_have(&names, name))
			words_add(&names, name);
	}
	if (session)
		fail(ST_NOT_FOUND, "session %s does not have %s open", session, device);
	else
		fail(ST_NOT_FOUND, "no client has %s open", device);
	detail("next", names.nr ? "open are %s, see rnbd exports" :
	       "no client has any device open%s", words_join(&names, ", "));
}

enum status cmd_close(const struct args *args)
{
	const char *device = args->words.word[0];
	const char *session = args->words.nr > 1 ? args->words.word[1] : NULL;
	struct export_list list = exports_load();
	enum status status, first = ST_OK;
	const struct export *export;
	bool found = false;
	size_t i;

	if (args->all == !!session)
		return fail(ST_USAGE, "expected either a session or --all");
	if (!strncmp(device, "/dev/", 5))
		device += 5;
	if (!args->force && !args->dry_run) {
		fail(ST_USAGE, "%s: I/O of the clients would fail", device);
		detail("next", "rnbd close --force");
		return ST_USAGE;
	}
	for (i = 0; i < list.nr; i++) {
		export = &list.export[i];
		if (strcmp(export->device, device) || (session && strcmp(export->session, session)))
			continue;
		found = true;
		status = act(args, OP_CLOSE, mem_printf("%s of %s", device, export->session),
			     mem_printf("%s/force_close", export->dir), "1");
		if (first == ST_OK)
			first = status;
	}
	if (found)
		return first;
	close_unknown(&list, device, session);
	return ST_NOT_FOUND;
}
