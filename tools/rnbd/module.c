// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "io.h"
#include "mem.h"
#include "module.h"

#define DKMS_CERTIFICATE	"/var/lib/dkms/mok.pub"
/* What shim found enrolled when the machine was booted, certificates as they are in their files. */
#define MOK_LIST		"/sys/firmware/efi/mok-variables/MokListRT"

/* Taken for granted where it cannot be looked up: units of systemd do not see /lib/modules. */
static bool installed(const char *module, const char *release)
{
	FILE *file = fopen(io_path("/lib/modules/%s/modules.dep", release), "r");
	const char *dep = mem_printf("/%s.ko", module);
	char line[4096];
	bool found = false;

	if (!file)
		return errno != ENOENT;
	while (!found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, ":")] = '\0';
		found = strstr(line, dep);
	}
	fclose(file);
	return found;
}

bool kernel_locked_down(void)
{
	const char *lockdown = io_read("/sys/kernel/security/lockdown");

	return lockdown && !strstr(lockdown, "[none]");
}

/* Does this kernel load nothing but what is signed with a key it knows? */
static bool signed_only(void)
{
	const char *enforce = io_read("/sys/module/module/parameters/sig_enforce");

	return kernel_locked_down() || (enforce && *enforce == 'Y');
}

/* Of the key that DKMS signs with. */
static const char *dkms_certificate(void)
{
	const char *text = io_read("/etc/dkms/framework.conf"), *line, *name = "mok_certificate=";

	for (line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, strlen(name))) {
			line += strlen(name);
			line += strspn(line, "\"'");
			return mem_copy(line, strcspn(line, "\"' \t\n"));
		}
	}
	return DKMS_CERTIFICATE;
}

enum answer {
	UNKNOWN,
	NO,
	YES,
};

static enum answer enrolled(const char *certificate)
{
	size_t list_len, len;
	char *list = io_read_file(MOK_LIST, &list_len), *data = io_read_file(certificate, &len);

	if (!list || !data)
		return UNKNOWN;
	return memmem(list, list_len, data, len) ? YES : NO;
}

const char *module_remedy(const char *module)
{
	const char *known = io_read("/proc/sys/kernel/osrelease"), *release = known ? known : "unknown";
	const char *certificate = dkms_certificate(), *load = mem_printf("modprobe %s", module);

	if (!installed(module, release))
		return mem_printf("install the modules for kernel %s: package rtrs-dkms, or see README.md",
				  release);
	if (!signed_only())
		return load;
	switch (enrolled(certificate)) {
	case YES:
		return load;
	case NO:
		return mem_printf("mokutil --import %s; boot, choose \"Enroll MOK\" at the console; then %s",
				  certificate, load);
	default:
		return mem_printf("%s; this kernel wants it signed with a key it knows: see install.rst, Secure Boot",
				  load);
	}
}
