/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of /etc/rnbd/exports.d and /etc/rnbd/maps.d, and below /run/rnbd: sections [name] with lines
 * key = value. What is wrong with them is said at once, all of it; then nothing is done.
 */
#ifndef RNBD_CONFIG_H
#define RNBD_CONFIG_H

#include "rnbd.h"

enum config_kind {
	CONFIG_EXPORTS,
	CONFIG_MAPS,
};

struct entry {
	const char *key, *value;
	unsigned int line;
};

/* An export or a map. */
struct section {
	enum config_kind kind;
	const char *name;
	const char *file;
	unsigned int line;
	struct entry *entry;
	size_t nr;
};

struct config {
	struct section *section;
	size_t nr;
	bool wrong;
};

void config_load(struct config *config, enum config_kind kind);
void config_load_file(struct config *config, const char *file);
void config_check(struct config *config);
const struct section *config_find(const struct config *config, enum config_kind kind,
				  const char *name);
const char *config_value(const struct section *section, const char *key);
struct words config_values(const struct section *section, const char *key);
const char *config_session(const struct section *map);
struct words config_names(enum config_kind kind);
const char *config_dir(enum config_kind kind);

#endif
