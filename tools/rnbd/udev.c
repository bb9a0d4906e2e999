// SPDX-License-Identifier: GPL-2.0-only
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "io.h"
#include "mem.h"
#include "udev.h"
#include "value.h"

/* "E:KEY=value" in what udev has stored of a device */
static const char *property(const char *data, const char *key)
{
	const char *line = mem_printf("\nE:%s=", key), *value = strstr(data, line);

	if (!value)
		return NULL;
	value += strlen(line);
	return mem_copy(value, strcspn(value, "\n"));
}

/*
 * A name that a device has wherever it is attached, and after a reboot; empty: none. Nothing that is stored on it, but for
 * its entry in a partition table: who has the device mapped can change that. A disk with a WWN tells it to the kernel, and
 * that is better than a serial number, which some virtual disks make of the place where they are attached.
 */
const char *udev_identity(const char *device)
{
	static const struct {
		const char *key, *prefix;
	} names[] = {
		{ "DM_UUID", "dm" },
		{ "ID_PART_ENTRY_UUID", "part" },
		{ "MD_UUID", "md" },
		{ "ID_SERIAL", "serial" },
	};
	const char *number, *data, *value, *name;
	char real[PATH_MAX];
	size_t i;

	if (!realpath(io_path("%s", device), real))
		return "";
	number = io_read("/sys/class/block/%s/dev", path_base(real));
	data = number ? io_read("/run/udev/data/b%s", number) : NULL;
	data = data ? mem_printf("\n%s", data) : NULL;
	if (!data || property(data, "ID_WWN"))
		return "";
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		value = property(data, names[i].key);
		name = value && *value ? mem_printf("%s.%s", names[i].prefix, value) : NULL;
		if (name && !value_identity(name))
			return name;
	}
	return "";
}
