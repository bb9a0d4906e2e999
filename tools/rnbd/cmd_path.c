// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands for the paths of a session: path add, path del, reconnect, disconnect.
 */
#include <string.h>

#include "act.h"
#include "mem.h"
#include "model.h"
#include "out.h"
#include "paths.h"

static bool is_connected(const struct path *path)
{
	return path->state && !strcmp(path->state, "connected");
}

enum status cmd_path_add(const struct args *args)
{
	struct session_list list = { 0 };
	const struct session *sess;
	struct trouble trouble;
	struct route route;
	enum status status;
	const char *text;
	size_t i;

	status = session_get(&list, false, args->words.word[0], &sess);
	for (i = 1; i < args->words.nr && status == ST_OK; i++) {
		if (!path_text(args->words.word[i], &text, &route, &trouble))
			return trouble_fail(&trouble, args->words.word[i]);
		status = act(args, OP_PATH_ADD, mem_printf("session %s: path %s", sess->name, text),
			     mem_printf("%s/add_path", sess->dir), text);
	}
	return status;
}

static enum status path_write(const struct args *args, enum op op, const struct session *sess,
			      const struct path *path, const char *attr)
{
	return act(args, op, mem_printf("session %s: path %s", sess->name, path->name),
		   mem_printf("%s/%s", path->dir, attr), "1");
}

/* The paths that a command is about: those named, or with all those of the session. */
struct choice {
	const struct path **path;
	size_t nr, nr_connected;
};

/* Each once, by however many names. */
static void choose_path(struct choice *choice, const struct path *path)
{
	size_t i;

	for (i = 0; i < choice->nr; i++)
		if (choice->path[i] == path)
			return;
	*MEM_ADD(choice->path, choice->nr) = path;
	choice->nr_connected += is_connected(path);
}

static enum status choose(const struct args *args, bool all, const struct session *sess,
			  struct choice *choice)
{
	size_t i, nr = all ? sess->nr_paths : args->words.nr - 1;
	enum status status = ST_OK;
	const struct path *path;

	for (i = 0; i < nr && status == ST_OK; i++) {
		if (all)
			path = &sess->path[i];
		else
			status = path_get(sess, args->words.word[i + 1], &path);
		if (status == ST_OK)
			choose_path(choice, path);
	}
	return status;
}

/* Are there paths left for those who use the session? */
static enum status keeps_a_path(const struct args *args, const struct session *sess,
				const struct choice *choice)
{
	size_t devices = session_devices(sess);

	if (args->force || args->dry_run || !devices || !choice->nr_connected ||
	    choice->nr_connected < sess->nr_connected)
		return ST_OK;
	fail(ST_BUSY, "session %s would have no connected path, and has %zu device%s", sess->name,
	     devices, devices == 1 ? "" : "s");
	detail("next", "rnbd unmap the devices, or --force: their I/O waits, and then fails");
	return ST_BUSY;
}

/* After a failure go on with the others, but do not tear down one connected path after the other. */
static enum status write_all(const struct args *args, enum op op, const struct session *sess,
			     const struct choice *choice, const char *attr)
{
	enum status status, first = ST_OK;
	size_t i;

	for (i = 0; i < choice->nr; i++) {
		if (op == OP_RECONNECT && first != ST_OK && is_connected(choice->path[i]))
			continue;
		status = path_write(args, op, sess, choice->path[i], attr);
		if (first == ST_OK)
			first = status;
	}
	return first;
}

enum status cmd_path_del(const struct args *args)
{
	struct session_list list = { 0 };
	struct choice choice = { 0 };
	const struct session *sess;
	enum status status;

	status = session_get(&list, false, args->words.word[0], &sess);
	if (status == ST_OK)
		status = choose(args, false, sess, &choice);
	if (status == ST_OK)
		status = keeps_a_path(args, sess, &choice);
	return status == ST_OK ? write_all(args, OP_PATH_DEL, sess, &choice, "remove_path") : status;
}

enum status cmd_disconnect(const struct args *args)
{
	struct session_list list = { 0 };
	struct choice choice = { 0 };
	const struct session *sess;
	enum status status;

	if (args->all == (args->words.nr > 1))
		return fail(ST_USAGE, "expected either paths or --all");
	status = session_get(&list, args->server, args->words.word[0], &sess);
	if (status == ST_OK)
		status = choose(args, args->all, sess, &choice);
	if (status == ST_OK)
		status = keeps_a_path(args, sess, &choice);
	return status == ST_OK ? write_all(args, OP_DISCONNECT, sess, &choice, "disconnect") : status;
}

/* Without paths: those that are down. */
static void drop_connected(struct choice *choice)
{
	size_t i, kept = 0;

	for (i = 0; i < choice->nr; i++)
		if (!is_connected(choice->path[i]))
			choice->path[kept++] = choice->path[i];
	choice->nr = kept;
}

enum status cmd_reconnect(const struct args *args)
{
	struct session_list list = { 0 };
	struct choice choice = { 0 };
	const struct session *sess;
	enum status status;

	if (args->all && args->words.nr > 1)
		return fail(ST_USAGE, "expected either paths or --all");
	status = session_get(&list, false, args->words.word[0], &sess);
	if (status == ST_OK)
		status = choose(args, args->words.nr == 1, sess, &choice);
	if (status != ST_OK)
		return status;
	if (args->words.nr == 1 && !args->all)
		drop_connected(&choice);
	return write_all(args, OP_RECONNECT, sess, &choice, "reconnect");
}
