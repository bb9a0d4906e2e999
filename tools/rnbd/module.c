// SPDX-License-Identifier: GPL-2.0-only
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "io.h"
#include "mem.h"
#include "module.h"

const char *module_remedy(const char *module)
{
	const char *known = io_read("/proc/sys/kernel/osrelease"), *release = known ? known : "unknown";
	const char *dep = mem_printf("/%s.ko", module);
	char line[4096];
	bool installed = false;
	FILE *file;

	file = fopen(io_path("/lib/modules/%s/modules.dep", release), "r");
	while (file && !installed && fgets(line, sizeof(line), file)) {
		line[strcspn(line, ":")] = '\0';
		installed = strstr(line, dep);
	}
	if (file)
		fclose(file);
	return installed ? mem_printf("modprobe %s", module) :
	       mem_printf("install the modules for kernel %s: package rtrs-dkms, or see README.md",
			  release);
}
