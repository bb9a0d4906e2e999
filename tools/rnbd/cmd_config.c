// SPDX-License-Identifier: GPL-2.0-only
/*
 * rnbd config: check the files of /etc/rnbd, and make the kernel's state what they say. Only what
 * differs is changed; what was changed before something failed is undone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "io.h"
#include "map.h"
#include "mem.h"
#include "model.h"
#include "module.h"
#include "out.h"
#include "udev.h"
#include "undo.h"
#include "value.h"

#define EXPORT_DEVICE	SRV_CTL "/export_device"
#define UNEXPORT_DEVICE	SRV_CTL "/unexport_device"

enum status cmd_config_check(const struct args *args)
{
	struct config config = { 0 };
	size_t i;

	for (i = 0; i < args->words.nr; i++)
		config_load_file(&config, args->words.word[i]);
	if (!args->words.nr) {
		config_load(&config, CONFIG_EXPORTS);
		config_load(&config, CONFIG_MAPS);
	}
	config_check(&config);
	if (config.wrong)
		return ST_USAGE;
	for (i = 0; i < config.nr; i++)
		printf("ok    %s: %s\n", config.section[i].file, config.section[i].name);
	return ST_OK;
}

/* All of a kind, and right, or the end. */
static enum status load(struct config *config, enum config_kind kind)
{
	config_load(config, kind);
	config_check(config);
	if (!config->wrong)
		return ST_OK;
	detail("next", "correct it; rnbd config check says if it is right, and nothing was changed");
	return ST_USAGE;
}

static bool module_has_identity(void)
{
	const char *usage = io_read(EXPORT_DEVICE);

	return usage && strstr(usage, "identity=");
}

/* As the files have it, and as the kernel would show it: addresses first. */
static struct declared declared_of(const struct section *section)
{
	const char *access = config_value(section, "access");
	const char *identity = config_value(section, "identity");
	const char *device = config_value(section, "device");
	struct words values = config_values(section, "clients"), clients = { 0 };
	size_t i;

	for (i = 0; i < values.nr; i++)
		if (client_is_address(values.word[i]))
			words_add(&clients, address_text(values.word[i]));
	for (i = 0; i < values.nr; i++)
		if (!client_is_address(values.word[i]) && strcmp(values.word[i], "any"))
			words_add(&clients, values.word[i]);
	return (struct declared){
		.name = section->name,
		.device = device,
		.access_mode = access ? access : "rw",
		.clients = words_join(&clients, ","),
		.identity = identity ? identity : module_has_identity() ? udev_identity(device) : "",
	};
}

static const char *export_line(const struct declared *export)
{
	return mem_printf("name=%s device=%s access_mode=%s%s%s%s%s", export->name, export->device,
			  export->access_mode, *export->clients ? " clients=" : "", export->clients,
			  *export->identity ? " identity=" : "", export->identity);
}

static const char *unexport_line(const char *name)
{
	return mem_printf("name=%s", name);
}

static const struct declared *find_declared(const struct declared_list *list, const char *name)
{
	size_t i;

	for (i = 0; i < list->nr; i++)
		if (!strcmp(list->declared[i].name, name))
			return &list->declared[i];
	return NULL;
}

static void say(const struct args *args, const char *done, const char *name)
{
	if (!args->dry_run)
		printf("%s %s\n", done, name);
}

static enum status export_one(const struct args *args, const struct declared *want,
			      const struct declared *have, struct undo_list *undo)
{
	const char *what = mem_printf("export %s", want->name);
	enum status status;

	if (have && !strcmp(export_line(want), export_line(have)))
		return ST_OK;
	status = act(args, OP_EXPORT, what, EXPORT_DEVICE, export_line(want));
	if (status != ST_OK)
		return status;
	say(args, have ? "changed" : "exported", want->name);
	if (have)
		undo_note(undo, what, EXPORT_DEVICE, export_line(have));
	else
		undo_note(undo, what, UNEXPORT_DEVICE, unexport_line(want->name));
	return ST_OK;
}

/* Who has it open keeps it. */
static void warn_of_users(const struct args *args, const char *name)
{
	struct export_list list = exports_load();
	const char *session;
	size_t i;

	for (i = 0; i < list.nr && !args->dry_run; i++) {
		if (!list.export[i].device_path || strcmp(list.export[i].device_path, name))
			continue;
		session = list.export[i].session;
		warn("session %s keeps %s open", session, name);
		/* Somebody may copy this to a shell, and the client has chosen the name. */
		detail("next", "rnbd close --force %s %s%s takes it away", quoted(list.export[i].device),
		       *session == '-' ? "-- " : "", quoted(session));
	}
}

static enum status unexport_one(const struct args *args, const struct declared *have,
				struct undo_list *undo)
{
	const char *what = mem_printf("export %s", have->name);
	enum status status;

	status = act(args, OP_UNEXPORT, what, UNEXPORT_DEVICE, unexport_line(have->name));
	if (status != ST_OK)
		return status;
	say(args, "unexported", have->name);
	undo_note(undo, what, EXPORT_DEVICE, export_line(have));
	warn_of_users(args, have->name);
	return ST_OK;
}

static enum status check_server(void)
{
	if (!module_loaded("rnbd-server")) {
		fail(ST_NOT_READY, "module rnbd-server is not loaded");
		detail("next", "%s", module_remedy("rnbd-server"));
		return ST_NOT_READY;
	}
	if (!io_exists(EXPORT_DEVICE)) {
		fail(ST_NOT_READY, "the module rnbd-server that is loaded has no list of exports");
		detail("next", "load this project's modules instead of mainline's");
		return ST_NOT_READY;
	}
	return ST_OK;
}

/* Make the kernel's list this one. */
static enum status set_exports(const struct args *args, const struct declared_list *want)
{
	struct declared_list have = declared_load();
	struct undo_list undo = { 0 };
	enum status status;
	size_t i;

	status = check_server();
	if (status != ST_OK)
		return status;
	for (i = 0; i < want->nr && status == ST_OK; i++)
		status = export_one(args, &want->declared[i],
				    find_declared(&have, want->declared[i].name), &undo);
	for (i = 0; i < have.nr && status == ST_OK; i++)
		if (!find_declared(want, have.declared[i].name))
			status = unexport_one(args, &have.declared[i], &undo);
	if (status != ST_OK && !args->dry_run)
		undo_all(&undo);
	return status;
}

static void warn_of_search_path(void)
{
	const char *only = io_read(SRV_PARAM "/exports_only");
	const char *dir = io_read(SRV_PARAM "/dev_search_path");

	if (!only || *only != 'N' || !dir || !io_list("%s", dir).nr)
		return;
	warn("nothing is exported by name: clients can open what is below dev_search_path");
	detail("next", "modprobe rnbd-server exports_only=Y");
}

static enum status apply_exports(const struct args *args)
{
	struct declared_list want = { 0 };
	struct config config = { 0 };
	enum status status;
	size_t i;

	status = load(&config, CONFIG_EXPORTS);
	for (i = 0; i < config.nr && status == ST_OK; i++)
		*MEM_ADD(want.declared, want.nr) = declared_of(&config.section[i]);
	if (status == ST_OK)
		status = set_exports(args, &want);
	if (status == ST_OK && !want.nr)
		warn_of_search_path();
	return status;
}

/* A map of the files in the place of options. */
static struct args map_args(const struct args *args, const struct section *map)
{
	struct args map_args = *args;
	enum timing nr;

	map_args.session = config_session(map);
	map_args.paths = config_values(map, "path");
	map_args.port = config_value(map, "port");
	map_args.access = config_value(map, "access");
	map_args.poll_queues = config_value(map, "poll_queues");
	map_args.no_path_timeout = config_value(map, "no_path_timeout");
	map_args.request_timeout = config_value(map, "request_timeout");
	for (nr = 0; nr < NR_TIMINGS; nr++)
		map_args.timing[nr] = config_value(map, timings[nr].name);
	return map_args;
}

/* A file of sysfs that has a number. */
static enum status set_number(const struct args *args, const char *what, const char *file,
			      const char *want, struct undo_list *undo)
{
	const char *have = io_read("%s", file);
	enum status status;

	if (!want || (have && strtol(have, NULL, 10) == strtol(want, NULL, 10)))
		return ST_OK;
	status = act(args, OP_SET, what, file, want);
	if (status == ST_OK && have)
		undo_note(undo, what, file, have);
	return status;
}

static enum status set_timings(const struct args *args, const struct session *sess,
			       struct undo_list *undo)
{
	enum status status = ST_OK;
	enum timing nr;

	for (nr = 0; nr < NR_TIMINGS && status == ST_OK; nr++)
		status = set_number(args, mem_printf("%s of session %s", timings[nr].name, sess->name),
				    mem_printf("%s/%s", sess->dir, timings[nr].name), args->timing[nr],
				    undo);
	return status;
}

/* How long I/O of a disk may wait. */
static enum status set_timeouts(const struct args *args, const char *disk, struct undo_list *undo)
{
	const struct { const char *name, *want; } timeouts[] = {
		{ "no_path_timeout", args->no_path_timeout },
		{ "request_timeout", args->request_timeout },
	};
	enum status status = ST_OK;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(timeouts) && status == ST_OK; i++)
		status = set_number(args, mem_printf("%s of /dev/%s", timeouts[i].name, disk),
				    mem_printf("/sys/block/%s/rnbd/%s", disk, timeouts[i].name),
				    timeouts[i].want, undo);
	return status;
}

static bool has_path(const struct session *sess, const char *name)
{
	size_t i;

	for (i = 0; i < sess->nr_paths; i++)
		if (!strcmp(sess->path[i].name, name))
			return true;
	return false;
}

/* Those that the file names and the session lacks. What was added by hand stays. */
static enum status add_paths(const struct args *args, const struct session *sess,
			     struct undo_list *undo)
{
	enum status status = ST_OK;
	struct trouble trouble;
	struct route route;
	const char *text;
	size_t i;

	for (i = 0; i < args->paths.nr && status == ST_OK; i++) {
		if (!path_text(args->paths.word[i], &text, &route, &trouble))
			return trouble_fail(&trouble, mem_printf("path = %s", args->paths.word[i]));
		if (has_path(sess, text))
			continue;
		status = act(args, OP_PATH_ADD, mem_printf("session %s: path %s", sess->name, text),
			     mem_printf("%s/add_path", sess->dir), text);
		if (status == ST_OK)
			undo_note(undo, mem_printf("path %s of session %s", text, sess->name),
				  mem_printf("%s/paths/%s/remove_path", sess->dir, text), "1");
	}
	return status;
}

/* What cannot be changed while it is mapped. */
static enum status check_mode(const struct args *args, const struct section *map, const char *disk)
{
	const char *mode = io_read("/sys/block/%s/rnbd/access_mode", disk);
	const char *want = args->access ? args->access : "rw";

	if (!mode || !strcmp(mode, want))
		return ST_OK;
	fail(ST_BUSY, "map %s: /dev/%s is mapped as %s, %s:%u wants %s", map->name, disk, mode, map->file,
	     map->line, want);
	detail("next", "rnbd config remove map %s, and apply it again", map->name);
	return ST_BUSY;
}

static enum status map_new(const struct args *args, const struct section *map, bool session_exists)
{
	struct args opts = *args;
	struct request req = { .server = config_value(map, "server") };
	enum timing nr;

	words_add(&req.devices, config_value(map, "export"));
	/* It has them by now, or would if this were not dry. */
	for (nr = 0; nr < NR_TIMINGS && session_exists; nr++)
		opts.timing[nr] = NULL;
	if (session_exists) {
		opts.paths = (struct words){ 0 };
		opts.poll_queues = NULL;
	}
	return map_request(&opts, &req);
}

static enum status apply_map(const struct args *args, const struct section *map)
{
	const struct args opts = map_args(args, map);
	struct session_list list = { 0 };
	struct undo_list undo = { 0 };
	const struct session *sess;
	enum status status;
	const char *disk;

	status = map_check_modules(&opts);
	disk = map_disk(opts.session, config_value(map, "export"));
	if (disk && status == ST_OK)
		status = check_mode(&opts, map, disk);
	if (status != ST_OK)
		return status;
	sessions_load(&list, false);
	sess = session_find(&list, opts.session);
	if (sess)
		status = set_timings(&opts, sess, &undo);
	if (sess && status == ST_OK)
		status = add_paths(&opts, sess, &undo);
	if (disk && status == ST_OK)
		status = set_timeouts(&opts, disk, &undo);
	if (!disk && status == ST_OK)
		status = map_new(&opts, map, sess);
	if (status != ST_OK && !args->dry_run)
		undo_all(&undo);
	else if (status == ST_OK && disk && !args->dry_run)
		printf("/dev/%s\n", disk);
	return status;
}

static enum status remove_map(const struct args *args, const struct section *map)
{
	const char *disk = map_disk(config_session(map), config_value(map, "export"));

	if (!disk)
		return ST_OK;
	return act(args, OP_UNMAP, mem_printf("/dev/%s", disk),
		   mem_printf("/sys/block/%s/rnbd/unmap_device", disk), args->force ? "force" : "normal");
}

/* The map that somebody named, NULL after a complaint. */
static const struct section *find_map(const struct config *config, const char *name)
{
	const struct section *map = config_find(config, CONFIG_MAPS, name);
	struct words names = { 0 };
	const char *near;
	size_t i;

	if (map)
		return map;
	for (i = 0; i < config->nr; i++)
		words_add(&names, config->section[i].name);
	near = nearest(name, &names);
	if (near)
		fail(ST_NOT_FOUND, "no file in %s has [%s]; did you mean %s?", config_dir(CONFIG_MAPS),
		     name, near);
	else
		fail(ST_NOT_FOUND, "no file in %s has [%s]", config_dir(CONFIG_MAPS), name);
	detail("next", names.nr ? "they have %s" : "they have none%s", words_join(&names, ", "));
	return NULL;
}

/* After a failure go on with the others, and end as the first one did. */
static enum status each_map(const struct args *args,
			    enum status (*one)(const struct args *args, const struct section *map))
{
	enum status status, first;
	const struct section *map;
	struct config config = { 0 };
	size_t i;

	if (args->words.nr < 2)
		return fail(ST_USAGE, "too few words: expected map NAME...");
	first = load(&config, CONFIG_MAPS);
	if (first != ST_OK)
		return first;
	for (i = 1; i < args->words.nr; i++) {
		map = find_map(&config, args->words.word[i]);
		status = map ? one(args, map) : ST_NOT_FOUND;
		if (first == ST_OK)
			first = status;
	}
	return first;
}

static bool is_exports(const struct args *args)
{
	return !strcmp(args->words.word[0], "exports") && args->words.nr == 1;
}

static enum status wrong_words(const struct args *args)
{
	fail(ST_USAGE, "'%s': expected exports, or map NAME...", words_join(&args->words, " "));
	detail("next", "rnbd %s --help", fail_command);
	return ST_USAGE;
}

enum status cmd_config_apply(const struct args *args)
{
	if (is_exports(args))
		return apply_exports(args);
	return strcmp(args->words.word[0], "map") ? wrong_words(args) : each_map(args, apply_map);
}

enum status cmd_config_remove(const struct args *args)
{
	const struct declared_list none = { 0 };

	if (is_exports(args))
		return set_exports(args, &none);
	return strcmp(args->words.word[0], "map") ? wrong_words(args) : each_map(args, remove_map);
}
