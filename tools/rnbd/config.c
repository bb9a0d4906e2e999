// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "config.h"
#include "io.h"
#include "map.h"
#include "mem.h"
#include "out.h"
#include "value.h"

#define BLANKS		" \t"
#define MAX_MAP_NAME	100

/* A key of a section. check says what was expected, as the functions of value.h. */
struct key {
	const char *name;
	bool required, repeats, of_session;
	const char *(*check)(const struct key *key, const char *value);
	long min, max;
};

static const char *check_number(const struct key *key, const char *value)
{
	return value_number(value, key->min, key->max);
}

static const char *check_access(const struct key *key, const char *value)
{
	(void)key;
	return value_access(value);
}

static const char *check_session(const struct key *key, const char *value)
{
	(void)key;
	return value_session(value);
}

static const char *check_word(const struct key *key, const char *value)
{
	(void)key;
	if (strpbrk(value, BLANKS) || strlen(value) > MAX_NAME)
		return mem_printf("expected 1 to %d characters without blanks", MAX_NAME);
	return NULL;
}

static const char *check_device(const struct key *key, const char *value)
{
	struct stat st;

	(void)key;
	if (*value != '/')
		return "expected an absolute path, as /dev/vg0/lv1";
	if (strpbrk(value, BLANKS))
		return "expected a path without blanks";
	if (stat(io_path("%s", value), &st))
		return mem_printf("expected a block device: %s", strerror(errno));
	if (!S_ISBLK(st.st_mode))
		return "expected a block device; losetup makes one of a file";
	return NULL;
}

static struct words split_blanks(const char *text)
{
	struct words words = { 0 };
	size_t len;

	for (text += strspn(text, BLANKS); *text; text += strspn(text, BLANKS)) {
		len = strcspn(text, BLANKS);
		words_add(&words, mem_copy(text, len));
		text += len;
	}
	return words;
}

static const char *check_clients(const struct key *key, const char *value)
{
	struct words clients = split_blanks(value);
	const char *why = NULL;
	size_t i;

	(void)key;
	if (clients.nr == 1 && !strcmp(clients.word[0], "any"))
		return NULL;
	for (i = 0; i < clients.nr && !why; i++)
		if (!strcmp(clients.word[i], "any"))
			why = "expected any alone, or addresses and names of sessions";
		else
			why = value_client(clients.word[i]);
	return why;
}

static const char *check_identity(const struct key *key, const char *value)
{
	(void)key;
	return value_identity(value);
}

static const struct key export_keys[] = {
	{ .name = "device", .required = true, .check = check_device },
	{ .name = "access", .check = check_access },
	{ .name = "clients", .required = true, .check = check_clients },
	{ .name = "identity", .check = check_identity },
};

#define TIMING_KEY(timing, least, most, otherwise) \
	{ .name = #timing, .of_session = true, .check = check_number, .min = least, .max = most },

static const struct key map_keys[] = {
	{ .name = "server", .required = true, .of_session = true, .check = check_word },
	{ .name = "export", .required = true, .check = check_word },
	{ .name = "session", .check = check_session },
	{ .name = "path", .repeats = true, .of_session = true, .check = check_word },
	{ .name = "port", .of_session = true, .check = check_number, .min = 1, .max = MAX_PORT },
	{ .name = "access", .check = check_access },
	{ .name = "poll_queues", .of_session = true, .check = check_number, .min = -1,
	  .max = MAX_POLL_QUEUES },
	{ .name = "no_path_timeout", .check = check_number, .min = -1, .max = MAX_NO_PATH_TIMEOUT },
	{ .name = "request_timeout", .check = check_number, .min = 0, .max = MAX_REQUEST_TIMEOUT },
	RTRS_CLT_TIMINGS(TIMING_KEY)
};

static const char *check_map_name(const char *name)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

	if (*name && *name != '.' && strlen(name) <= MAX_MAP_NAME && !name[strspn(name, allowed)])
		return NULL;
	return mem_printf("expected 1 to %d letters, digits, '_', '-' and '.', the first no '.'",
			  MAX_MAP_NAME);
}

/*
 * What there is to know of a kind of files. The second directory is gone after a reboot: for a cluster, which
 * says anew then what is to be where.
 */
static const struct kind {
	const char *dir[2];
	const char *one;
	const struct key *keys;
	size_t nr_keys;
	const char *(*check_name)(const char *name);
} kinds[] = {
	[CONFIG_EXPORTS] = { { "/etc/rnbd/exports.d", "/run/rnbd/exports.d" }, "export", export_keys,
			     ARRAY_SIZE(export_keys), value_export },
	[CONFIG_MAPS] = { { "/etc/rnbd/maps.d", "/run/rnbd/maps.d" }, "map", map_keys,
			  ARRAY_SIZE(map_keys), check_map_name },
};

const char *config_dir(enum config_kind kind)
{
	return kinds[kind].dir[0];
}

static void wrong(struct config *config, const char *file, unsigned int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

static void wrong(struct config *config, const char *file, unsigned int line, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = mem_vprintf(fmt, args);
	va_end(args);
	config->wrong = true;
	fail(ST_USAGE, "%s:%u: %s", file, line, text);
}

static struct words key_names(const struct kind *kind)
{
	struct words names = { 0 };
	size_t i;

	for (i = 0; i < kind->nr_keys; i++)
		words_add(&names, kind->keys[i].name);
	return names;
}

static void unknown_key(struct config *config, const struct section *section,
			const struct entry *entry)
{
	const struct kind *kind = &kinds[section->kind];
	struct words names = key_names(kind);
	const char *near = nearest(entry->key, &names);

	if (near)
		wrong(config, section->file, entry->line, "%s = %s: unknown key; did you mean %s?",
		      entry->key, entry->value, near);
	else
		wrong(config, section->file, entry->line, "%s = %s: unknown key", entry->key,
		      entry->value);
	detail("next", "keys of such a file are %s", words_join(&names, ", "));
}

const char *config_value(const struct section *section, const char *key)
{
	size_t i;

	for (i = 0; i < section->nr; i++)
		if (!strcmp(section->entry[i].key, key))
			return section->entry[i].value;
	return NULL;
}

/* Of a key that repeats, or has several words. */
struct words config_values(const struct section *section, const char *key)
{
	struct words values = { 0 }, some;
	size_t i, j;

	for (i = 0; i < section->nr; i++) {
		if (strcmp(section->entry[i].key, key))
			continue;
		some = split_blanks(section->entry[i].value);
		for (j = 0; j < some.nr; j++)
			words_add(&values, some.word[j]);
	}
	return values;
}

const struct section *config_find(const struct config *config, enum config_kind kind,
				  const char *name)
{
	size_t i;

	for (i = 0; i < config->nr; i++)
		if (config->section[i].kind == kind && !strcmp(config->section[i].name, name))
			return &config->section[i];
	return NULL;
}

static void check_entry(struct config *config, const struct section *section,
			const struct entry *entry)
{
	const struct kind *kind = &kinds[section->kind];
	const struct key *key = kind->keys;
	const char *why;

	while (key < kind->keys + kind->nr_keys && strcmp(key->name, entry->key))
		key++;
	if (key == kind->keys + kind->nr_keys) {
		unknown_key(config, section, entry);
		return;
	}
	if (!key->repeats && config_value(section, entry->key) != entry->value) {
		wrong(config, section->file, entry->line, "%s = %s: expected %s once in [%s]", entry->key,
		      entry->value, entry->key, section->name);
		return;
	}
	why = key->check(key, entry->value);
	if (why)
		wrong(config, section->file, entry->line, "%s = %s: %s", entry->key, entry->value, why);
}

static void check_section(struct config *config, const struct section *section)
{
	const struct kind *kind = &kinds[section->kind];
	const char *why = kind->check_name(section->name);
	const struct section *first;
	size_t i;

	if (why)
		wrong(config, section->file, section->line, "[%s]: %s", section->name, why);
	first = config_find(config, section->kind, section->name);
	if (first != section)
		wrong(config, section->file, section->line, "[%s]: two %ss of one name, the other is %s:%u",
		      section->name, kind->one, first->file, first->line);
	for (i = 0; i < section->nr; i++)
		check_entry(config, section, &section->entry[i]);
	for (i = 0; i < kind->nr_keys; i++)
		if (kind->keys[i].required && !config_value(section, kind->keys[i].name))
			wrong(config, section->file, section->line, "[%s]: %s is missing", section->name,
			      kind->keys[i].name);
}

/* Session of a map. */
const char *config_session(const struct section *map)
{
	const char *session = config_value(map, "session"), *server = config_value(map, "server");

	return session || !server ? session : map_default_session(server);
}

/* Two maps over one session agree in what belongs to the session. */
static void check_same_session(struct config *config, const struct section *a,
			       const struct section *b)
{
	const char *in_a, *in_b;
	struct words values;
	size_t i;

	if (!strcmp(config_value(a, "export"), config_value(b, "export")))
		wrong(config, b->file, b->line, "[%s]: export and session are those of [%s], %s:%u", b->name,
		      a->name, a->file, a->line);
	for (i = 0; i < ARRAY_SIZE(map_keys); i++) {
		if (!map_keys[i].of_session)
			continue;
		values = config_values(a, map_keys[i].name);
		in_a = words_join(&values, " ");
		values = config_values(b, map_keys[i].name);
		in_b = words_join(&values, " ");
		if (*in_a && *in_b && strcmp(in_a, in_b))
			wrong(config, b->file, b->line, "[%s]: %s = %s: [%s], %s:%u, has %s for the same session",
			      b->name, map_keys[i].name, in_b, a->name, a->file, a->line, in_a);
	}
}

static void check_sessions(struct config *config)
{
	const struct section *a, *b;

	for (b = config->section; b < config->section + config->nr; b++)
		for (a = config->section; a < b; a++)
			if (a->kind == CONFIG_MAPS && b->kind == CONFIG_MAPS &&
			    !strcmp(config_session(a), config_session(b)))
				check_same_session(config, a, b);
}

/* All that can be said without the kernel. */
void config_check(struct config *config)
{
	size_t i;

	for (i = 0; i < config->nr; i++)
		check_section(config, &config->section[i]);
	/* Only of sections that are complete. */
	if (!config->wrong)
		check_sessions(config);
}

static char *trim(char *text)
{
	size_t len;

	text += strspn(text, BLANKS);
	len = strlen(text);
	while (len && strchr(BLANKS, text[len - 1]))
		len--;
	text[len] = '\0';
	return text;
}

/* A file's sections, while it is read. */
struct reader {
	struct config *config;
	const char *file;
	enum config_kind kind;
	struct section *section;
};

static void read_head(struct reader *reader, char *text, unsigned int line)
{
	size_t len = strlen(text);
	struct section *section;

	if (text[len - 1] != ']') {
		wrong(reader->config, reader->file, line, "%s: expected [name]", text);
		return;
	}
	section = MEM_ADD(reader->config->section, reader->config->nr);
	*section = (struct section){
		.kind = reader->kind,
		.name = trim(mem_copy(text + 1, len - 2)),
		.file = reader->file,
		.line = line,
	};
	reader->section = section;
}

static void read_entry(struct reader *reader, char *text, unsigned int line)
{
	char *value = strchr(text, '=');
	struct entry entry = { .line = line };

	if (!value) {
		wrong(reader->config, reader->file, line, "%s: expected key = value, or [name]", text);
		return;
	}
	*value++ = '\0';
	entry.key = trim(text);
	entry.value = trim(value);
	if (!*entry.key || !*entry.value)
		wrong(reader->config, reader->file, line, "%s = %s: expected key = value, neither empty",
		      entry.key, entry.value);
	else if (!reader->section)
		wrong(reader->config, reader->file, line, "%s = %s: expected [name] before it", entry.key,
		      entry.value);
	else
		*MEM_ADD(reader->section->entry, reader->section->nr) = entry;
}

static void read_line(struct reader *reader, char *text, unsigned int line)
{
	const char *c;

	for (c = text; *c; c++) {
		if (!iscntrl((unsigned char)*c) || *c == '\t')
			continue;
		wrong(reader->config, reader->file, line,
		      *c == '\r' ? "a carriage return: expected lines that end as in Unix" :
		      "a control character: expected text");
		return;
	}
	text = trim(text);
	if (*text == '[')
		read_head(reader, text, line);
	else if (*text && *text != '#')
		read_entry(reader, text, line);
}

static void read_file(struct config *config, enum config_kind kind, const char *file)
{
	struct reader reader = { .config = config, .file = file, .kind = kind };
	unsigned int line = 1;
	char *text, *end;
	size_t len;

	text = io_read_file(file, &len);
	if (!text) {
		config->wrong = true;
		fail(ST_USAGE, "%s: cannot be read: %s", file, strerror(errno));
		return;
	}
	if (strlen(text) < len) {
		config->wrong = true;
		fail(ST_USAGE, "%s: a character NUL in it: expected text", file);
		return;
	}
	for (; (end = strchr(text, '\n')); text = end + 1) {
		*end = '\0';
		read_line(&reader, text, line++);
	}
	read_line(&reader, text, line);
}

static void load_dir(struct config *config, enum config_kind kind, const char *dir)
{
	struct words names = io_list("%s", dir);
	const char *dot;
	size_t i;

	for (i = 0; i < names.nr; i++) {
		dot = strrchr(names.word[i], '.');
		if (dot && !strcmp(dot, ".conf"))
			read_file(config, kind, mem_printf("%s/%s", dir, names.word[i]));
	}
}

/* All *.conf of a kind. */
void config_load(struct config *config, enum config_kind kind)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds[kind].dir); i++)
		load_dir(config, kind, kinds[kind].dir[i]);
}

static bool is_in(const char *file, const char *dir)
{
	const char *base = path_base(file);
	size_t len = strlen(dir);

	if ((size_t)(base - file) <= len || strncmp(base - 1 - len, dir, len))
		return false;
	return base - 1 - len == file || base[-2 - (ssize_t)len] == '/';
}

/* One file; what it has, exports or maps, tells the directory's name. */
void config_load_file(struct config *config, const char *file)
{
	if (is_in(file, "maps.d")) {
		read_file(config, CONFIG_MAPS, file);
	} else if (is_in(file, "exports.d")) {
		read_file(config, CONFIG_EXPORTS, file);
	} else {
		config->wrong = true;
		fail(ST_USAGE, "%s: expected a file in a directory exports.d or maps.d", file);
	}
}

static void add_names(struct words *names, const char *dir)
{
	struct words files = io_list("%s", dir);
	char *text, *at, *end;
	size_t i;

	for (i = 0; i < files.nr; i++) {
		text = io_read("%s/%s", dir, files.word[i]);
		for (at = text; at && (at = strchr(at, '[')); at++) {
			end = strpbrk(at, "]\n");
			if (end && *end == ']' && (at == text || at[-1] == '\n'))
				words_add(names, mem_copy(at + 1, end - at - 1));
		}
	}
}

/* Names of all sections of a kind, for those who complete a word. */
struct words config_names(enum config_kind kind)
{
	struct words names = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds[kind].dir); i++)
		add_names(&names, kinds[kind].dir[i]);
	return names;
}
