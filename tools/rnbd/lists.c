// SPDX-License-Identifier: GPL-2.0-only
/*
 * What there is: list, show, sessions, path list, exports. The keys of the columns are names in
 * JSON, which programs rely on: add, but do not change.
 */
#include <stdio.h>
#include <string.h>

#include "lists.h"
#include "mem.h"
#include "model.h"
#include "out.h"

static const struct column mapped_columns[] = {
	{ "device", "DEVICE", COL_TEXT },
	{ "state", "STATE", COL_TEXT },
	{ "size", "SIZE", COL_BYTES },
	{ "access_mode", "MODE", COL_TEXT },
	{ "paths_connected", "UP", COL_NUMBER },
	{ "paths", "PATHS", COL_NUMBER },
	{ "session", "SESSION", COL_TEXT },
	{ "device_path", "ON SERVER", COL_TEXT },
	{ "slow_s", "SLOW", COL_SECONDS },
};

static const struct column mapped_more_columns[] = {
	{ "device", "DEVICE", COL_TEXT },
	{ "state", "STATE", COL_TEXT },
	{ "size", "SIZE", COL_BYTES },
	{ "access_mode", "MODE", COL_TEXT },
	{ "session", "SESSION", COL_TEXT },
	{ "device_path", "ON SERVER", COL_TEXT },
	{ "identity", "IDENTITY", COL_TEXT },
	{ "no_path_timeout", "TIMEOUT", COL_NUMBER },
	{ "request_timeout", "TAKES", COL_NUMBER },
	{ "nr_poll_queues", "POLLED", COL_NUMBER },
	{ "mpath_policy", "POLICY", COL_TEXT },
	{ "slow_s", "SLOW", COL_SECONDS },
	{ "slow_requests", "OVERDUE", COL_NUMBER },
};

static const struct column session_columns[] = {
	{ "session", "SESSION", COL_TEXT },
	{ "role", "ROLE", COL_TEXT },
	{ "paths_connected", "UP", COL_NUMBER },
	{ "paths", "PATHS", COL_NUMBER },
	{ "devices", "DEVICES", COL_NUMBER },
	{ "read_bytes", "READ", COL_BYTES },
	{ "write_bytes", "WRITTEN", COL_BYTES },
	{ "mpath_policy", "POLICY", COL_TEXT },
	{ "slow_s", "SLOW", COL_SECONDS },
};

static const struct column session_more_columns[] = {
	{ "session", "SESSION", COL_TEXT },
	{ "role", "ROLE", COL_TEXT },
	{ "devices", "DEVICES", COL_NUMBER },
	{ "mpath_policy", "POLICY", COL_TEXT },
	{ "max_reconnect_attempts", "RECONNECTS", COL_NUMBER },
	{ "hb_interval_ms", "HEARTBEAT", COL_NUMBER },
	{ "hb_missed_max", "MISSED", COL_NUMBER },
	{ "ack_timeout_ms", "ACK", COL_NUMBER },
	{ "retry_count", "RETRIES", COL_NUMBER },
	{ "connect_timeout_ms", "CONNECT", COL_NUMBER },
	{ "slow_s", "SLOW", COL_SECONDS },
};

static const struct column path_columns[] = {
	{ "session", "SESSION", COL_TEXT },
	{ "path", "PATH", COL_TEXT },
	{ "state", "STATE", COL_TEXT },
	{ "hca_name", "RDMA", COL_TEXT },
	{ "hca_port", "PORT", COL_NUMBER },
	{ "latency_ns", "LATENCY", COL_NS },
	{ "reads", "READS", COL_NUMBER },
	{ "read_bytes", "READ", COL_BYTES },
	{ "writes", "WRITES", COL_NUMBER },
	{ "write_bytes", "WRITTEN", COL_BYTES },
	{ "inflight", "INFLIGHT", COL_NUMBER },
	{ "failovers", "FAILOVERS", COL_NUMBER },
	{ "reconnects", "RECONNECTS", COL_NUMBER },
	{ "failed_reconnects", "FAILED", COL_NUMBER },
	{ "timeouts", "TIMEOUTS", COL_NUMBER },
	{ "fences", "FENCES", COL_NUMBER },
	{ "fences_unanswered", "UNFENCED", COL_NUMBER },
	{ "last_gap_ns", "LAST_GAP", COL_NS },
	{ "longest_gap_ns", "LONGEST_GAP", COL_NS },
	{ "last_failure", "LAST_FAILURE", COL_TEXT },
};

static const struct column export_columns[] = {
	{ "device", "DEVICE", COL_TEXT },
	{ "session", "SESSION", COL_TEXT },
	{ "access_mode", "MODE", COL_TEXT },
	{ "device_path", "AS", COL_TEXT },
	{ "slow_s", "SLOW", COL_SECONDS },
	{ "slow_times", NULL, COL_NUMBER },
	{ "orphans", "ORPHANS", COL_NUMBER },
};

static const struct column export_more_columns[] = {
	{ "device", "DEVICE", COL_TEXT },
	{ "orphans", "ORPHANS", COL_NUMBER },
};

static const struct column holder_columns[] = {
	{ "session", "SESSION", COL_TEXT },
	{ "access_mode", "MODE", COL_TEXT },
	{ "device_path", "AS", COL_TEXT },
	{ "slow_s", "SLOW", COL_SECONDS },
	{ "slow_times", "TIMES", COL_NUMBER },
};

static void add_mapped(struct table *table, const struct mapped *dev,
		       const struct session_list *sessions)
{
	const struct session *sess = session_find(sessions, dev->session);

	table_text(table, mem_printf("/dev/%s", dev->disk));
	table_text(table, dev->state);
	table_count(table, dev->bytes);
	table_text(table, dev->access_mode);
	table_count(table, sess ? (long long)sess->nr_connected : -1);
	table_count(table, sess ? (long long)sess->nr_paths : -1);
	table_text(table, dev->session);
	table_text(table, dev->device_path);
	table_count(table, dev->slow.seconds);
}

static struct table mapped_table(const struct words *disks)
{
	struct table table = TABLE(mapped_columns);
	struct mapped_list list = mapped_load();
	struct session_list sessions = { 0 };
	size_t i;

	sessions_load(&sessions, false);
	for (i = 0; i < list.nr; i++)
		if (!disks || words_have(disks, list.dev[i].disk))
			add_mapped(&table, &list.dev[i], &sessions);
	return table;
}

/* What was just mapped: for a script's $(...) the names alone. */
void print_mapped(const struct args *args, const struct words *disks)
{
	struct table table = mapped_table(disks);
	size_t i;

	if (args->json)
		table_print(&table, args);
	for (i = 0; i < disks->nr && !args->json; i++)
		printf("/dev/%s\n", disks->word[i]);
}

enum status cmd_list(const struct args *args)
{
	struct table table = mapped_table(NULL);

	table_print(&table, args);
	return ST_OK;
}

static void add_path(struct table *table, const struct session *sess, const struct path *path)
{
	const struct path_stats *stats = &path->stats;

	table_text(table, sess->name);
	table_text(table, path->name);
	table_text(table, path->state);
	table_text(table, path->hca_name);
	table_digits(table, path->hca_port);
	table_count(table, stats->latency_ns);
	table_count(table, stats->reads);
	table_count(table, stats->read_bytes);
	table_count(table, stats->writes);
	table_count(table, stats->write_bytes);
	table_count(table, stats->inflight);
	table_count(table, stats->failovers);
	table_count(table, stats->reconnects);
	table_count(table, stats->failed_reconnects);
	table_count(table, stats->timeouts);
	table_count(table, stats->fences);
	table_count(table, stats->fences_unanswered);
	table_count(table, stats->last_gap_ns);
	table_count(table, stats->longest_gap_ns);
	table_text(table, path->last_failure);
}

static void add_paths(struct table *table, const struct session *sess)
{
	size_t i;

	for (i = 0; i < sess->nr_paths; i++)
		add_path(table, sess, &sess->path[i]);
}

enum status cmd_path_list(const struct args *args)
{
	struct table table = TABLE(path_columns);
	struct session_list list = { 0 };
	const struct session *sess = NULL;
	enum status status = ST_OK;
	size_t i;

	if (args->words.nr)
		status = session_get(&list, args->server, args->words.word[0], &sess);
	else
		sessions_load(&list, args->server);
	if (status != ST_OK)
		return status;
	for (i = 0; i < list.nr; i++)
		if (!sess || sess == &list.sess[i])
			add_paths(&table, &list.sess[i]);
	table_print(&table, args);
	return ST_OK;
}

static size_t devices_of(const struct session *sess, const struct export_list *exports)
{
	size_t i, nr = 0;

	if (!sess->server)
		return session_devices(sess);
	for (i = 0; i < exports->nr; i++)
		nr += export_is_of(&exports->export[i], sess);
	return nr;
}

static void add_session(struct table *table, const struct session *sess,
			const struct mapped_list *mapped, const struct export_list *exports)
{
	long long read = 0, written = 0;
	size_t i;

	for (i = 0; i < sess->nr_paths; i++) {
		if (sess->path[i].stats.read_bytes > 0)
			read += sess->path[i].stats.read_bytes;
		if (sess->path[i].stats.write_bytes > 0)
			written += sess->path[i].stats.write_bytes;
	}
	table_text(table, sess->name);
	table_text(table, sess->server ? "server" : "client");
	table_number(table, sess->nr_connected);
	table_number(table, sess->nr_paths);
	table_number(table, devices_of(sess, exports));
	table_number(table, read);
	table_number(table, written);
	table_text(table, sess->policy);
	table_count(table, session_slow(sess, mapped, exports));
}

enum status cmd_sessions(const struct args *args)
{
	const char *role = args->words.nr ? args->words.word[0] : NULL;
	struct export_list exports = exports_load();
	struct mapped_list mapped = mapped_load();
	struct table table = TABLE(session_columns);
	struct session_list list = { 0 };
	size_t i;

	if (role && strcmp(role, "client") && strcmp(role, "server"))
		return fail(ST_USAGE, "'%s': expected client or server", role);
	if (!role || !strcmp(role, "client"))
		sessions_load(&list, false);
	if (!role || !strcmp(role, "server"))
		sessions_load(&list, true);
	for (i = 0; i < list.nr; i++)
		add_session(&table, &list.sess[i], &mapped, &exports);
	table_print(&table, args);
	return ST_OK;
}

static void show_session(const struct args *args, const struct session *sess)
{
	struct table table = TABLE(session_more_columns), paths = TABLE(path_columns);
	struct export_list exports = exports_load();
	struct mapped_list mapped = mapped_load();
	enum timing nr;

	table_text(&table, sess->name);
	table_text(&table, sess->server ? "server" : "client");
	table_number(&table, devices_of(sess, &exports));
	table_text(&table, sess->policy);
	table_digits(&table, sess->max_reconnects);
	for (nr = 0; nr < NR_TIMINGS; nr++)
		table_digits(&table, sess->timing[nr]);
	table_count(&table, session_slow(sess, &mapped, &exports));
	add_paths(&paths, sess);
	object_print(&table, "paths", &paths, args);
}

/* People are told why it is not known. */
static const char *identity_of(const struct args *args, const struct mapped *dev)
{
	if (!dev->identity || strcmp(dev->identity, "unknown"))
		return dev->identity;
	return args->json ? NULL : "unknown (the server's modules do not tell)";
}

static void show_mapped(const struct args *args, const struct mapped *dev,
			const struct session *sess)
{
	struct table table = TABLE(mapped_more_columns), paths = TABLE(path_columns);

	table_text(&table, mem_printf("/dev/%s", dev->disk));
	table_text(&table, dev->state);
	table_count(&table, dev->bytes);
	table_text(&table, dev->access_mode);
	table_text(&table, dev->session);
	table_text(&table, dev->device_path);
	table_text(&table, identity_of(args, dev));
	table_digits(&table, dev->no_path_timeout);
	table_digits(&table, dev->request_timeout);
	table_digits(&table, dev->poll_queues);
	table_text(&table, sess ? sess->policy : NULL);
	table_count(&table, dev->slow.seconds);
	table_count(&table, dev->slow.times);
	if (sess)
		add_paths(&paths, sess);
	object_print(&table, "paths", &paths, args);
}

/* A device that clients have open, with those who have. */
static bool show_export(const struct args *args, const char *name)
{
	struct table table = TABLE(export_more_columns), holders = TABLE(holder_columns);
	const char *device = strncmp(name, "/dev/", 5) ? name : name + 5;
	struct export_list list = exports_load();
	const struct export *export, *any = NULL;

	for (export = list.export; export < list.export + list.nr; export++) {
		if (strcmp(export->device, device))
			continue;
		any = export;
		table_text(&holders, export->session);
		table_text(&holders, export->access_mode);
		table_text(&holders, export->device_path);
		table_count(&holders, export->slow.seconds);
		table_count(&holders, export->slow.times);
	}
	if (!any)
		return false;
	table_text(&table, device);
	table_count(&table, any->orphans);
	object_print(&table, "sessions", &holders, args);
	return true;
}

static bool show_one_session(const struct args *args, const struct session_list *list, const char *name)
{
	const struct session *sess = session_find(list, name);

	if (sess)
		show_session(args, sess);
	return sess;
}

static void detail_sessions(const struct session_list *list)
{
	struct words names = { 0 };
	size_t i;

	for (i = 0; i < list->nr; i++)
		words_add(&names, list->sess[i].name);
	if (names.nr)
		detail("next", "sessions are %s", words_join(&names, ", "));
}

/* False: the server has nothing of this name. */
static bool show_of_server(const struct args *args, const struct session_list *sessions, const char *name)
{
	return show_one_session(args, sessions, name) || show_export(args, name);
}

static enum status show_server(const struct args *args, const char *name)
{
	struct session_list sessions = { 0 };

	sessions_load(&sessions, true);
	if (show_of_server(args, &sessions, name))
		return ST_OK;
	fail(ST_NOT_FOUND, "%s is no session of the server, and no device that clients have open", name);
	detail_sessions(&sessions);
	return ST_NOT_FOUND;
}

/* A session if there is one of the name, else a device; of the client if it has one. */
enum status cmd_show(const struct args *args)
{
	struct session_list sessions = { 0 }, theirs = { 0 };
	const char *name = args->words.word[0];
	enum status status = ST_OK;
	struct mapped_list list;
	const struct mapped *dev;

	if (args->server)
		return show_server(args, name);
	sessions_load(&sessions, false);
	if (show_one_session(args, &sessions, name))
		return ST_OK;
	list = mapped_load();
	sessions_load(&theirs, true);
	if (!mapped_any(&list, name) && show_of_server(args, &theirs, name))
		return ST_OK;
	dev = mapped_find(&list, name, &status);
	if (dev)
		show_mapped(args, dev, session_find(&sessions, dev->session));
	else
		detail_sessions(&sessions);
	return status;
}

enum status cmd_exports(const struct args *args)
{
	struct export_list list = exports_load();
	struct table table = TABLE(export_columns);
	size_t i;

	for (i = 0; i < list.nr; i++) {
		table_text(&table, list.export[i].device);
		table_text(&table, list.export[i].session);
		table_text(&table, list.export[i].access_mode);
		table_text(&table, list.export[i].device_path);
		table_count(&table, list.export[i].slow.seconds);
		table_count(&table, list.export[i].slow.times);
		table_count(&table, list.export[i].orphans);
	}
	table_print(&table, args);
	return ST_OK;
}
