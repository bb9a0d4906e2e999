// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io.h"
#include "mem.h"
#include "model.h"
#include "out.h"

/* "<seconds> <times>" */
static struct slow slow_read(const char *dir)
{
	const char *text = io_read("%s/slow", dir);
	struct slow slow = { -1, -1 };

	if (text && sscanf(text, "%lld %lld", &slow.seconds, &slow.times) != 2)
		slow = (struct slow){ -1, -1 };
	return slow;
}

static struct mapped mapped_read(const char *disk)
{
	const char *dir = mem_printf("/sys/block/%s/rnbd", disk);
	long long sectors = io_read_number(-1, "/sys/block/%s/size", disk);

	return (struct mapped) {
		.disk = disk,
		.dir = dir,
		.state = io_read("%s/state", dir),
		.session = io_read("%s/session", dir),
		.device_path = io_read("%s/mapping_path", dir),
		.access_mode = io_read("%s/access_mode", dir),
		.no_path_timeout = io_read("%s/no_path_timeout", dir),
		.request_timeout = io_read("%s/request_timeout", dir),
		.poll_queues = io_read("%s/nr_poll_queues", dir),
		.identity = io_read("%s/identity", dir),
		.slow = slow_read(dir),
		.bytes = sectors < 0 ? -1 : sectors * 512,
	};
}

struct mapped_list mapped_load(void)
{
	struct words disks = io_list("/sys/block");
	struct mapped_list list = { 0 };
	struct mapped dev;
	size_t i;

	for (i = 0; i < disks.nr; i++) {
		if (strncmp(disks.word[i], "rnbd", 4))
			continue;
		dev = mapped_read(disks.word[i]);
		/* One that goes meanwhile has no session any more. */
		if (dev.session && dev.device_path)
			*MEM_ADD(list.dev, list.nr) = dev;
	}
	return list;
}

/* The disk that a file of any name stands for, as /dev/disk/by-id/..., else its last component. */
static const char *disk_of(const char *name)
{
	char real[PATH_MAX];

	if (strchr(name, '/') && realpath(io_path("%s", name), real))
		name = mem_printf("%s", real);
	return path_base(name);
}

static bool mapped_is(const struct mapped *dev, const char *name, const char *disk)
{
	size_t len = strlen(dev->device_path);

	return !strcmp(dev->disk, disk) || !strcmp(dev->device_path, name) ||
	       (!strncmp(dev->device_path, name, len) && name[len] == '@' &&
		!strcmp(dev->session, name + len + 1));
}

/* Is there one, or more, that somebody may mean by a name? */
bool mapped_any(const struct mapped_list *list, const char *name)
{
	const char *disk = disk_of(name);
	size_t i;

	for (i = 0; i < list->nr; i++)
		if (mapped_is(&list->dev[i], name, disk))
			return true;
	return false;
}

static void mapped_unknown(const struct mapped_list *list, const char *name)
{
	struct words disks = { 0 };
	const char *near;
	size_t i;

	for (i = 0; i < list->nr; i++)
		words_add(&disks, list->dev[i].disk);
	near = nearest(disk_of(name), &disks);
	if (near)
		fail(ST_NOT_FOUND, "%s is not mapped; did you mean %s?", name, near);
	else
		fail(ST_NOT_FOUND, "%s is not mapped", name);
	if (disks.nr)
		detail("next", "mapped are %s, see rnbd list", words_join(&disks, ", "));
	else
		detail("next", "nothing is mapped; rnbd map SERVER:DEVICE maps a device");
}

/* The device that somebody named, NULL after a complaint. */
const struct mapped *mapped_find(const struct mapped_list *list, const char *name,
				 enum status *status)
{
	const char *disk = disk_of(name);
	const struct mapped *found = NULL;
	size_t i;

	for (i = 0; i < list->nr; i++) {
		if (!mapped_is(&list->dev[i], name, disk))
			continue;
		if (found) {
			*status = fail(ST_NOT_FOUND, "%s is mapped more than once, as %s and as %s", name,
				       found->disk, list->dev[i].disk);
			detail("next", "name one of these, or %s",
			       quoted(mem_printf("%s@%s", name, found->session)));
			return NULL;
		}
		found = &list->dev[i];
	}
	if (!found) {
		*status = ST_NOT_FOUND;
		mapped_unknown(list, name);
	}
	return found;
}

/* There is no gap before the first failover. */
static void gaps_read(struct path_stats *stats, const char *text)
{
	long long nr, last_ms, longest_ms;

	if (sscanf(text, "%lld %lld %lld", &nr, &last_ms, &longest_ms) != 3)
		return;
	stats->gaps = nr;
	if (!nr)
		return;
	stats->last_gap_ns = last_ms * 1000000;
	stats->longest_gap_ns = longest_ms * 1000000;
}

/* From the directory of a path, or of its session. */
static void stats_read(struct path_stats *stats, const char *dir, bool server)
{
	const char *text;

	*stats = (struct path_stats){ -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 };
	text = io_read("%s/stats/rdma", dir);
	if (text)
		sscanf(text, "%lld %lld %lld %lld %lld %lld", &stats->reads, &stats->read_bytes,
		       &stats->writes, &stats->write_bytes, &stats->inflight, &stats->failovers);
	if (server)
		return;
	text = io_read("%s/stats/reconnects", dir);
	if (text)
		sscanf(text, "%lld %lld", &stats->reconnects, &stats->failed_reconnects);
	stats->timeouts = io_read_number(-1, "%s/stats/timeouts", dir);
	stats->latency_ns = io_read_number(-1, "%s/cur_latency", dir);
	text = io_read("%s/stats/fences", dir);
	if (text)
		sscanf(text, "%lld %lld", &stats->fences, &stats->fences_unanswered);
	text = io_read("%s/stats/failovers", dir);
	if (text)
		gaps_read(stats, text);
}

static void path_read(struct session *sess, const char *name)
{
	struct path path = { .name = name, .dir = mem_printf("%s/paths/%s", sess->dir, name) };

	path.src = io_read("%s/src_addr", path.dir);
	path.dst = io_read("%s/dst_addr", path.dir);
	path.hca_name = io_read("%s/hca_name", path.dir);
	path.hca_port = io_read("%s/hca_port", path.dir);
	path.last_failure = io_read("%s/last_failure", path.dir);
	/* A path of the server is there while it serves. */
	path.state = sess->server ? "connected" : io_read("%s/state", path.dir);
	stats_read(&path.stats, path.dir, sess->server);
	if (path.state && !strcmp(path.state, "connected"))
		sess->nr_connected++;
	*MEM_ADD(sess->path, sess->nr_paths) = path;
}

static struct session session_read(const char *name, bool server)
{
	struct session sess = {
		.name = name,
		.dir = mem_printf("%s/%s", server ? SRV_CLASS : CLT_CLASS, name),
		.server = server,
	};
	struct words paths = io_list("%s/paths", sess.dir);
	enum timing nr;
	size_t i;

	sess.policy = io_read("%s/mpath_policy", sess.dir);
	if (sess.policy)
		sess.policy = mem_copy(sess.policy, strcspn(sess.policy, " "));
	sess.max_reconnects = io_read("%s/max_reconnect_attempts", sess.dir);
	for (nr = 0; nr < NR_TIMINGS; nr++)
		sess.timing[nr] = io_read("%s/%s", sess.dir, timings[nr].name);
	stats_read(&sess.stats, sess.dir, server);
	for (i = 0; i < paths.nr; i++)
		path_read(&sess, paths.word[i]);
	return sess;
}

/* Add the sessions of one side. */
void sessions_load(struct session_list *list, bool server)
{
	struct words names = io_list("%s", server ? SRV_CLASS : CLT_CLASS);
	size_t i;

	for (i = 0; i < names.nr; i++)
		*MEM_ADD(list->sess, list->nr) = session_read(names.word[i], server);
}

const struct session *session_find(const struct session_list *list, const char *name)
{
	size_t i;

	for (i = 0; i < list->nr; i++)
		if (!strcmp(list->sess[i].name, name))
			return &list->sess[i];
	return NULL;
}

/* Load the sessions of one side and find the one that somebody named. */
enum status session_get(struct session_list *list, bool server, const char *name,
			const struct session **sess)
{
	const char *side = server ? "server" : "client", *near;
	struct words names = { 0 };
	size_t i;

	sessions_load(list, server);
	*sess = session_find(list, name);
	if (*sess)
		return ST_OK;
	for (i = 0; i < list->nr; i++)
		words_add(&names, list->sess[i].name);
	near = nearest(name, &names);
	if (near)
		fail(ST_NOT_FOUND, "the %s has no session %s; did you mean %s?", side, name, near);
	else
		fail(ST_NOT_FOUND, "the %s has no session %s", side, name);
	if (names.nr)
		detail("next", "sessions are %s, see rnbd sessions %s", words_join(&names, ", "), side);
	else if (server)
		detail("next", "no client is connected; rnbd check server looks for reasons");
	else
		detail("next", "there is no session; rnbd map SERVER:DEVICE opens one");
	return ST_NOT_FOUND;
}

/* How many mapped devices live on a session of the client. */
size_t session_devices(const struct session *sess)
{
	struct mapped_list list = mapped_load();
	size_t i, nr = 0;

	for (i = 0; i < list.nr; i++)
		nr += !sess->server && !strcmp(list.dev[i].session, sess->name);
	return nr;
}

static bool address_is(const char *address, const char *name)
{
	return address && (!strcmp(address, name) ||
			   (!strncmp(address, "ip:", 3) && !strcmp(address + 3, name)));
}

/* SRC@DST with or without "ip:", or one address. */
bool path_is(const struct path *path, const char *name)
{
	const char *at = strchr(name, '@');

	if (!at)
		return address_is(path->src, name) || address_is(path->dst, name);
	return address_is(path->src, mem_copy(name, at - name)) && address_is(path->dst, at + 1);
}

enum status path_get(const struct session *sess, const char *name, const struct path **path)
{
	struct words names = { 0 };
	size_t i;

	*path = NULL;
	for (i = 0; i < sess->nr_paths; i++) {
		words_add(&names, sess->path[i].name);
		if (strcmp(sess->path[i].name, name) && !path_is(&sess->path[i], name))
			continue;
		if (*path) {
			fail(ST_NOT_FOUND, "more than one path of session %s has %s", sess->name, name);
			detail("next", "name one of %s", words_join(&names, ", "));
			return ST_NOT_FOUND;
		}
		*path = &sess->path[i];
	}
	if (*path)
		return ST_OK;
	fail(ST_NOT_FOUND, "session %s has no path %s", sess->name, name);
	detail("next", "it has %s", names.nr ? words_join(&names, ", ") : "none");
	return ST_NOT_FOUND;
}

struct export_list exports_load(void)
{
	struct words devices = io_list(SRV_CTL "/devices"), sessions;
	struct export_list list = { 0 };
	struct export *export;
	long long orphans;
	size_t i, j;

	for (i = 0; i < devices.nr; i++) {
		orphans = io_read_number(-1, SRV_CTL "/devices/%s/orphans", devices.word[i]);
		sessions = io_list(SRV_CTL "/devices/%s/sessions", devices.word[i]);
		for (j = 0; j < sessions.nr; j++) {
			export = MEM_ADD(list.export, list.nr);
			export->device = devices.word[i];
			export->session = sessions.word[j];
			export->dir = mem_printf(SRV_CTL "/devices/%s/sessions/%s", export->device,
						 export->session);
			export->access_mode = io_read("%s/access_mode", export->dir);
			export->device_path = io_read("%s/mapping_path", export->dir);
			export->slow = slow_read(export->dir);
			export->orphans = orphans;
		}
	}
	return list;
}

/* Where a session has a device open under another name too, that has a dot and a number behind the session's. */
bool export_is_of(const struct export *export, const struct session *sess)
{
	size_t len = strlen(sess->name);

	return !strncmp(export->session, sess->name, len) && (!export->session[len] || export->session[len] == '.');
}

/* For how long the slowest of its disks has not answered, on this side; -1 if that is not told. */
long long session_slow(const struct session *sess, const struct mapped_list *devices,
		       const struct export_list *exports)
{
	long long slow = -1;
	size_t i;

	for (i = 0; i < devices->nr && !sess->server; i++)
		if (!strcmp(devices->dev[i].session, sess->name) && devices->dev[i].slow.seconds > slow)
			slow = devices->dev[i].slow.seconds;
	for (i = 0; i < exports->nr && sess->server; i++)
		if (export_is_of(&exports->export[i], sess) && exports->export[i].slow.seconds > slow)
			slow = exports->export[i].slow.seconds;
	return slow;
}

struct declared_list declared_load(void)
{
	struct words names = io_list(SRV_CTL "/exports");
	struct declared_list list = { 0 };
	struct declared declared;
	const char *dir;
	size_t i;

	for (i = 0; i < names.nr; i++) {
		dir = mem_printf(SRV_CTL "/exports/%s", names.word[i]);
		declared = (struct declared){
			.name = names.word[i],
			.device = io_read("%s/device", dir),
			.access_mode = io_read("%s/access_mode", dir),
			.clients = io_read("%s/clients", dir),
			.identity = io_read("%s/identity", dir),
		};
		if (!declared.identity)
			declared.identity = "";
		/* One that goes meanwhile has lost its files. */
		if (declared.device && declared.access_mode && declared.clients)
			*MEM_ADD(list.declared, list.nr) = declared;
	}
	return list;
}

/* "rnbd-client" or "rnbd_client". */
bool module_loaded(const char *name)
{
	char *dir = mem_printf("%s", name), *dash;

	while ((dash = strchr(dir, '-')))
		*dash = '_';
	return io_exists("/sys/module/%s", dir);
}
