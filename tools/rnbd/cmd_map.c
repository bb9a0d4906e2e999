// SPDX-License-Identifier: GPL-2.0-only
/*
 * rnbd map: find paths, write to map_device, wait for the device node; all of it or nothing.
 */
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "act.h"
#include "io.h"
#include "lists.h"
#include "map.h"
#include "mem.h"
#include "model.h"
#include "module.h"
#include "out.h"
#include "value.h"

#define DEFAULT_WAIT	"10"

/* The signal that came, if any. */
static volatile sig_atomic_t interrupted;

/* "storage:/dev/sdb", "[fd00::2]:/dev/sdb" */
static enum status split_target(const char *target, const char **server, const char **device)
{
	const char *end, *slash = strchr(target, '/');

	if (*target == '[') {
		end = strstr(target, "]:");
		*server = end ? mem_copy(target + 1, end - target - 1) : "";
		*device = end ? end + 2 : "";
	} else {
		end = strchr(target, ':');
		if (end && strchr(end + 1, ':') && (!slash || strchr(end + 1, ':') < slash)) {
			fail(ST_USAGE, "%s: more than one colon before the device", target);
			detail("next", "put an IPv6 address in brackets, as [fd00::2]:/dev/sdb");
			return ST_USAGE;
		}
		*server = end ? mem_copy(target, end - target) : "";
		*device = end ? end + 1 : "";
	}
	if (**server && **device)
		return ST_OK;
	fail(ST_USAGE, "'%s' does not name a server and a device", target);
	detail("next", "expected SERVER:DEVICE, as storage:/dev/vg0/lv1");
	return ST_USAGE;
}

static enum status check_device(const struct words *devices, const char *device)
{
	if (strpbrk(device, " \t\n"))
		return fail(ST_USAGE, "'%s': the name of a device cannot have blanks", device);
	if (strlen(device) > MAX_NAME)
		return fail(ST_USAGE, "the name of the device has %zu characters, allowed are %d",
			    strlen(device), MAX_NAME);
	if (words_have(devices, device))
		return fail(ST_USAGE, "%s is given twice", device);
	return ST_OK;
}

static enum status read_target(const char *target, struct request *req)
{
	const char *server, *device;
	enum status status = split_target(target, &server, &device);

	if (status != ST_OK)
		return status;
	if (req->server && strcmp(server, req->server))
		return fail(ST_USAGE, "%s and %s: one command maps devices of one server", req->server,
			    server);
	req->server = server;
	status = check_device(&req->devices, device);
	words_add(&req->devices, device);
	return status;
}

static enum status read_targets(const struct args *args, struct request *req)
{
	enum status status = ST_OK;
	size_t i;

	for (i = 0; i < args->words.nr && status == ST_OK; i++)
		status = read_target(args->words.word[i], req);
	return status;
}

static enum status check_number(const char *name, const char *text, long min, long max)
{
	const char *why = text ? value_number(text, min, max) : NULL;

	return why ? fail(ST_USAGE, "--%s=%s: %s", name, text, why) : ST_OK;
}

/* "hb_interval_ms" as an option */
static const char *timing_option(enum timing nr)
{
	char *name = mem_printf("%s", timings[nr].name), *c;

	while ((c = strchr(name, '_')))
		*c = '-';
	return name;
}

static enum status check_timings(const struct args *args)
{
	enum status status = ST_OK;
	enum timing nr;

	for (nr = 0; nr < NR_TIMINGS && status == ST_OK; nr++)
		status = check_number(timing_option(nr), args->timing[nr], timings[nr].min,
				      timings[nr].max);
	return status;
}

static enum status check_session_name(const char *name)
{
	const char *why = value_session(name);

	return why ? fail(ST_USAGE, "--session='%s': %s", name, why) : ST_OK;
}

static enum status check_options(const struct args *args)
{
	enum status status = check_number("port", args->port, 1, MAX_PORT);

	if (status == ST_OK)
		status = check_number("poll-queues", args->poll_queues, -1, MAX_POLL_QUEUES);
	if (status == ST_OK)
		status = check_number("no-path-timeout", args->no_path_timeout, -1,
				      MAX_NO_PATH_TIMEOUT);
	if (status == ST_OK)
		status = check_number("request-timeout", args->request_timeout, 0,
				      MAX_REQUEST_TIMEOUT);
	if (status == ST_OK)
		status = check_timings(args);
	if (status == ST_OK)
		status = check_number("wait", args->wait, 0, 3600);
	if (status == ST_OK && args->session)
		status = check_session_name(args->session);
	if (status == ST_OK && args->paths.nr > MAX_PATHS)
		status = fail(ST_USAGE, "%zu paths given, allowed are %d", args->paths.nr, MAX_PATHS);
	if (status == ST_OK && args->ipv4 && args->ipv6)
		status = fail(ST_USAGE, "--ipv4 and --ipv6 exclude each other");
	if (status == ST_OK && args->access && value_access(args->access))
		status = fail(ST_USAGE, "--access=%s: %s", args->access, value_access(args->access));
	return status;
}

/* Mainline's modules lack some; the usage line that reading gives tells. */
static enum status check_has(const char *usage, const char *key, const char *option)
{
	if (!usage || strstr(usage, key))
		return ST_OK;
	fail(ST_NOT_READY, "--%s: the module rnbd-client that is loaded does not have it", option);
	detail("next", "leave it out, or load this project's modules instead of mainline's");
	return ST_NOT_READY;
}

enum status map_check_modules(const struct args *args)
{
	enum status status = ST_OK;
	const char *usage;
	enum timing nr;

	if (!io_exists(CLT_MAP_DEVICE)) {
		fail(ST_NOT_READY, "module rnbd-client is not loaded");
		detail("next", "%s", module_remedy("rnbd-client"));
		return ST_NOT_READY;
	}
	usage = io_read(CLT_MAP_DEVICE);
	if (args->no_path_timeout)
		status = check_has(usage, "no_path_timeout", "no-path-timeout");
	if (args->request_timeout && status == ST_OK)
		status = check_has(usage, "request_timeout", "request-timeout");
	for (nr = 0; nr < NR_TIMINGS && status == ST_OK; nr++)
		if (args->timing[nr])
			status = check_has(usage, timings[nr].name, timing_option(nr));
	return status;
}

/* <this host>@<server>: sessions of a server have different names, so of different clients. */
const char *map_default_session(const char *server)
{
	const char *host = io_read("/proc/sys/kernel/hostname");
	char *name, *c;

	name = mem_printf("%.*s@%s", (int)strcspn(host ? host : "", "."), host ? host : "", server);
	for (c = name; *c; c++)
		if (strchr("./:%", *c) || isspace((unsigned char)*c))
			*c = '-';
	return name;
}

static void add_route(struct request *req, const char *text, const struct route *route)
{
	words_add(&req->paths, text);
	if (route->netdev)
		*MEM_ADD(req->routes.route, req->routes.nr) = *route;
}

/* One path for each address of the server that can be reached by RDMA. */
static enum status find_paths(const struct args *args, struct request *req)
{
	struct addr_list list = { 0 };
	struct trouble trouble = { 0 };
	struct route route;
	size_t i;

	if (!server_addresses(req->server, args, &list, &trouble))
		return trouble_fail(&trouble, req->server);
	for (i = 0; i < list.nr && req->paths.nr < MAX_PATHS; i++) {
		if (route_find(&list.addr[i], NULL, &route, &trouble))
			add_route(req, route_text(&route), &route);
		else if (list.nr > 1)
			trouble_warn(&trouble, req->server);
	}
	if (i < list.nr)
		warn("%s has %zu addresses, a session at most %d paths", req->server, list.nr,
		     MAX_PATHS);
	if (!req->paths.nr && list.nr > 1)
		fail(trouble.status, "%s: none of its %zu addresses can be used", req->server, list.nr);
	else if (!req->paths.nr)
		trouble_fail(&trouble, req->server);
	return req->paths.nr ? ST_OK : trouble.status;
}

static enum status given_paths(const struct args *args, struct request *req)
{
	struct trouble trouble;
	struct route route;
	const char *text;
	size_t i;

	for (i = 0; i < args->paths.nr; i++) {
		if (!path_text(args->paths.word[i], &text, &route, &trouble))
			return trouble_fail(&trouble, mem_printf("--path=%s", args->paths.word[i]));
		if (words_have(&req->paths, text))
			return fail(ST_USAGE, "--path=%s is given twice", args->paths.word[i]);
		add_route(req, text, &route);
	}
	return ST_OK;
}

/* Paths of a session that exists stay as they are, so they had better lead to the server. */
static enum status check_given_paths(const struct words *paths, const struct session *sess)
{
	size_t i, j;

	for (i = 0; i < paths->nr; i++) {
		for (j = 0; j < sess->nr_paths && strcmp(paths->word[i], sess->path[j].name); j++)
			;
		if (j < sess->nr_paths)
			continue;
		fail(ST_BUSY, "session %s exists, without the path %s", sess->name, paths->word[i]);
		detail("next", "rnbd path add %s %s; or another --session", quoted(sess->name),
		       quoted(paths->word[i]));
		return ST_BUSY;
	}
	return ST_OK;
}

/* So do its timings. */
static enum status check_given_timings(const struct args *args, const struct session *sess)
{
	enum timing nr;

	for (nr = 0; nr < NR_TIMINGS; nr++) {
		if (!args->timing[nr] || !sess->timing[nr] ||
		    strtol(args->timing[nr], NULL, 10) == strtol(sess->timing[nr], NULL, 10))
			continue;
		fail(ST_BUSY, "--%s=%s: session %s exists, with %s", timing_option(nr), args->timing[nr],
		     sess->name, sess->timing[nr]);
		detail("next", "echo %s > %s changes it; or give another --session", args->timing[nr],
		       quoted(mem_printf("%s/%s", sess->dir, timings[nr].name)));
		return ST_BUSY;
	}
	return ST_OK;
}

static enum status check_session(const struct args *args, struct request *req,
				 const struct session *sess)
{
	struct addr_list list = { 0 };
	struct words dsts = { 0 };
	struct trouble trouble;
	enum status status;
	size_t i;

	req->session_exists = true;
	status = check_given_timings(args, sess);
	if (status != ST_OK)
		return status;
	if (args->paths.nr)
		return check_given_paths(&req->paths, sess);
	if (!server_addresses(req->server, args, &list, &trouble))
		return trouble_fail(&trouble, req->server);
	for (i = 0; i < sess->nr_paths; i++)
		if (sess->path[i].dst)
			words_add(&dsts, sess->path[i].dst);
	for (i = 0; i < list.nr; i++)
		if (words_have(&dsts, mem_printf("ip:%s", addr_text(&list.addr[i]))))
			return ST_OK;
	fail(ST_BUSY, "session %s exists, and goes to %s, not to %s", sess->name,
	     words_join(&dsts, " and "), req->server);
	detail("next", "give another --session");
	return ST_BUSY;
}

static enum status prepare(const struct args *args, struct request *req)
{
	struct session_list sessions = { 0 };
	const struct session *sess;
	enum status status;

	req->wait = strtoul(args->wait ? args->wait : DEFAULT_WAIT, NULL, 10);
	status = map_check_modules(args);
	if (status != ST_OK)
		return status;
	req->session = args->session ? args->session : map_default_session(req->server);
	if (args->paths.nr)
		status = given_paths(args, req);
	if (status != ST_OK)
		return status;
	sessions_load(&sessions, false);
	sess = session_find(&sessions, req->session);
	if (sess)
		return check_session(args, req, sess);
	return args->paths.nr ? ST_OK : find_paths(args, req);
}

/* Seconds for the line; NULL: mainline's modules do not have it. */
static const char *no_path_timeout(const struct args *args)
{
	const char *usage;

	if (args->no_path_timeout)
		return args->no_path_timeout;
	usage = io_read(CLT_MAP_DEVICE);
	return usage && strstr(usage, "no_path_timeout") ? NO_PATH_TIMEOUT : NULL;
}

static const char *map_line(const struct args *args, const struct request *req, const char *device)
{
	const char *line = mem_printf("sessname=%s device_path=%s", req->session, device);
	bool new = !req->session_exists && !req->session_made;
	const char *timeout = no_path_timeout(args);
	enum timing nr;
	size_t i;

	/* Mainline's modules use the port for paths that come after it. */
	if (args->port)
		line = mem_printf("%s dest_port=%s", line, args->port);
	for (i = 0; i < req->paths.nr && new; i++)
		line = mem_printf("%s path=%s", line, req->paths.word[i]);
	if (args->access)
		line = mem_printf("%s access_mode=%s", line, args->access);
	if (args->poll_queues && !req->session_made)
		line = mem_printf("%s nr_poll_queues=%s", line, args->poll_queues);
	if (timeout)
		line = mem_printf("%s no_path_timeout=%s", line, timeout);
	if (args->request_timeout)
		line = mem_printf("%s request_timeout=%s", line, args->request_timeout);
	for (nr = 0; nr < NR_TIMINGS && new; nr++)
		if (args->timing[nr])
			line = mem_printf("%s %s=%s", line, timings[nr].name, args->timing[nr]);
	return line;
}

/* The disk that a device of the server is mapped as, NULL if it is not. */
const char *map_disk(const char *session, const char *device)
{
	char *name = mem_printf("%s", device), *c, *disk;

	for (c = name; *c; c++)
		if (*c == '/')
			*c = '!';
	disk = io_link(CLT_CTL "/devices/%s@%s", name, session);
	return disk ? path_base(disk) : NULL;
}

/* The server could not be reached by RDMA. And by IP? */
static void probe_routes(const struct request *req)
{
	const struct route_list *list = &req->routes;
	struct trouble trouble;
	size_t i;

	for (i = 0; i < list->nr; i++) {
		if (route_probe(&list->route[i], &trouble))
			continue;
		detail("probe", "%s", trouble.text);
		detail("next", "%s", trouble.next);
	}
}

static void interrupt(int signal)
{
	interrupted = signal;
}

/* Once something is mapped, an end has to be an orderly one. */
static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = interrupt };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

static enum status map_one(const struct args *args, struct request *req, const char *device,
			   struct words *disks)
{
	const char *what = mem_printf("%s:%s", req->server, device), *disk;
	enum status status;
	bool there;

	disk = map_disk(req->session, device);
	if (disk) {
		fail(ST_BUSY, "%s: mapped already, as /dev/%s", what, disk);
		detail("next", "rnbd show %s", disk);
		return ST_BUSY;
	}
	status = act(args, OP_MAP, what, CLT_MAP_DEVICE, map_line(args, req, device));
	if (status == ST_UNREACHABLE)
		probe_routes(req);
	req->session_made = !req->session_exists;
	if (status != ST_OK || args->dry_run)
		return status;
	disk = map_disk(req->session, device);
	if (!disk) {
		fail(ST_REFUSED, "%s: mapped, but %s/devices does not list it", what, CLT_CTL);
		detail("next", "rnbd list shows if it is there");
		return ST_REFUSED;
	}
	words_add(disks, disk);
	catch_signals();
	there = io_wait(req->wait, mem_printf("/dev/%s", disk), &interrupted);
	if (interrupted)
		return fail(ST_REFUSED, "%s: interrupted", what);
	if (there)
		return ST_OK;
	fail(ST_NOT_READY, "%s: mapped, but /dev/%s is not there after %u s", what, disk, req->wait);
	detail("next", "does udev or devtmpfs run? ls -l /sys/block/%s/dev", disk);
	return ST_NOT_READY;
}

static void roll_back(const struct words *disks)
{
	const char *disk;
	size_t i;
	int err;

	for (i = disks->nr; i-- > 0;) {
		disk = disks->word[i];
		err = io_write(mem_printf("/sys/block/%s/rnbd/unmap_device", disk), "force");
		if (err)
			detail("left", "/dev/%s stays mapped: %s", disk, strerror(err));
		else
			detail("undone", "/dev/%s is unmapped again", disk);
	}
}

static void warn_of_paths(const struct request *req)
{
	struct session_list list = { 0 };
	const struct session *sess;
	size_t i;

	sessions_load(&list, false);
	sess = session_find(&list, req->session);
	if (!sess || sess->nr_connected == sess->nr_paths)
		return;
	for (i = 0; i < sess->nr_paths; i++) {
		if (sess->path[i].state && !strcmp(sess->path[i].state, "connected"))
			continue;
		warn("path %s is not connected; the client goes on trying", sess->path[i].name);
		if (sess->path[i].last_failure && *sess->path[i].last_failure)
			detail("reason", "%s", sess->path[i].last_failure);
	}
	act_kernel_lines();
	detail("next", "rnbd path list shows the state, and why; dmesg has the attempts to come");
}

enum status map_request(const struct args *args, struct request *req)
{
	struct words disks = { 0 };
	enum status status;
	size_t i;

	status = prepare(args, req);
	for (i = 0; i < req->devices.nr && status == ST_OK; i++)
		status = map_one(args, req, req->devices.word[i], &disks);
	if (status != ST_OK) {
		roll_back(&disks);
		return status;
	}
	if (args->dry_run)
		return ST_OK;
	warn_of_paths(req);
	print_mapped(args, &disks);
	return ST_OK;
}

enum status cmd_map(const struct args *args)
{
	struct request req = { 0 };
	enum status status;

	status = check_options(args);
	if (status == ST_OK)
		status = read_targets(args, &req);
	return status == ST_OK ? map_request(args, &req) : status;
}
