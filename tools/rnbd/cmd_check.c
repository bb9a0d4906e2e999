// SPDX-License-Identifier: GPL-2.0-only
/*
 * rnbd check: what is missing on this host, and what to do about it.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io.h"
#include "mem.h"
#include "model.h"
#include "module.h"
#include "out.h"
#include "paths.h"

#define RTRS_PARAM	"/sys/module/rtrs_server/parameters"

enum result {
	OK,
	WARN,
	FAIL,
};

static const char *const result_names[] = { "ok", "warn", "fail" };

static const struct column columns[] = {
	{ "role", "ROLE", COL_TEXT },
	{ "check", "CHECK", COL_TEXT },
	{ "result", "RESULT", COL_TEXT },
	{ "detail", "DETAIL", COL_TEXT },
	{ "next", "NEXT", COL_TEXT },
};

struct report {
	const char *role;
	enum result worst;
	struct table table;
};

/* next: NULL if there is nothing to be done. */
static void report(struct report *report, const char *check, enum result result, const char *text,
		   const char *next)
{
	table_text(&report->table, report->role);
	table_text(&report->table, check);
	table_text(&report->table, result_names[result]);
	table_text(&report->table, text);
	table_text(&report->table, next);
	if (result > report->worst)
		report->worst = result;
}

static void check_module(struct report *rep, const char *module)
{
	const char *check = mem_printf("module %s", module);

	if (module_loaded(module))
		report(rep, check, OK, "loaded", NULL);
	else
		report(rep, check, FAIL, "not loaded", module_remedy(module));
}

/* How much data a packet carries: the largest power of two that fits with its headers. */
static int roce_payload(long long mtu)
{
	int bytes;

	for (bytes = 4096; bytes > 256 && bytes + ROCE_PACKET - 4096 > mtu; bytes /= 2)
		;
	return bytes;
}

static void check_port(struct report *rep, const struct rdma_port *port)
{
	const char *check = mem_printf("RDMA device %s", port->device), *text;
	long long mtu = -1;

	text = port->netdev ? mem_printf("port %s on %s", port->port, port->netdev) :
	       mem_printf("port %s", port->port);
	if (port->netdev)
		mtu = io_read_number(-1, "/sys/class/net/%s/mtu", port->netdev);
	if (mtu > 0)
		text = mem_printf("%s, MTU %lld: packets carry %d bytes", text, mtu, roce_payload(mtu));
	if (port->iwarp)
		report(rep, check, WARN, mem_printf("%s; iWARP, which RTRS cannot use", text),
		       "use an InfiniBand or RoCE device, or SoftRoCE");
	else if (!port->active)
		report(rep, check, WARN, mem_printf("%s; not active", text), port->netdev ?
		       mem_printf("ip link set %s up", port->netdev) : "rdma link show");
	else
		report(rep, check, OK, text, NULL);
}

/* An interface that could get SoftRoCE: one that is up, if possible of an adapter. */
static const char *spare_netdev(void)
{
	struct words netdevs = io_list("/sys/class/net");
	const char *state, *found = "NETDEV";
	size_t i;

	for (i = netdevs.nr; i-- > 0;) {
		state = io_read("/sys/class/net/%s/operstate", netdevs.word[i]);
		if (!state || strcmp(state, "up"))
			continue;
		found = netdevs.word[i];
		if (io_exists("/sys/class/net/%s/device", found))
			break;
	}
	return found;
}

static void check_rdma(struct report *rep)
{
	struct rdma_list list = rdma_load();
	const char *netdev;
	size_t i;

	for (i = 0; i < list.nr; i++)
		check_port(rep, &list.port[i]);
	if (list.nr)
		return;
	netdev = spare_netdev();
	report(rep, "RDMA devices", FAIL, "there is none",
	       mem_printf("attach SoftRoCE: rdma link add rxe_%s type rxe netdev %s", netdev, netdev));
}

static void check_rights(struct report *rep, const char *file)
{
	if (!io_exists("%s", file))
		return;
	if (io_writable(file))
		report(rep, "permission", OK, mem_printf("%s can be written", file), NULL);
	else
		report(rep, "permission", FAIL, mem_printf("%s cannot be written", file), "run it as root");
}

static void check_mtu(struct report *rep, const struct route *route)
{
	const char *check = mem_printf("MTU to %s", addr_text(&route->dst));
	struct trouble trouble;

	if (route_probe(route, &trouble))
		report(rep, check, OK, mem_printf("%s; the way back is tried by a path that connects", trouble.text),
		       NULL);
	else
		report(rep, check, trouble.status == ST_OK ? WARN : FAIL, trouble.text, trouble.next);
}

/* A server cannot be made to send something large, but the kernel has tried for each path, and keeps why that failed. */
static void check_paths(struct report *rep, const union addr *addr)
{
	const char *dst = mem_printf("ip:%s", addr_text(addr)), *why;
	struct session_list list = { 0 };
	const struct path *path;
	size_t i, j;

	sessions_load(&list, false);
	for (i = 0; i < list.nr; i++) {
		for (j = 0; j < list.sess[i].nr_paths; j++) {
			path = &list.sess[i].path[j];
			why = path->last_failure;
			if (!path->dst || strcmp(path->dst, dst) || !path->state ||
			    !strcmp(path->state, "connected") || !why || !*why)
				continue;
			report(rep, mem_printf("path %s of session %s", path->name, list.sess[i].name), FAIL,
			       mem_printf("not connected: %s", why), strstr(why, "MTU") ?
			       "one MTU for both ends and all between; each end: ip link" :
			       "dmesg here and on the server has a message with the reason");
		}
	}
}

static void check_route(struct report *rep, const union addr *addr)
{
	const char *check = mem_printf("route to %s", addr_text(addr));
	struct trouble trouble;
	struct route route;

	if (!route_find(addr, NULL, &route, &trouble)) {
		report(rep, check, FAIL, trouble.text, trouble.next);
		return;
	}
	report(rep, check, OK, mem_printf("from %s by %s, RDMA device %s", addr_text(&route.src),
					  route.netdev, route.port.device), NULL);
	check_mtu(rep, &route);
	check_paths(rep, addr);
}

static void check_server_of_client(struct report *rep, const struct args *args, const char *server)
{
	const char *check = mem_printf("address of %s", server);
	struct addr_list list = { 0 };
	struct words shown = { 0 };
	struct trouble trouble;
	size_t i;

	if (!server_addresses(server, args, &list, &trouble)) {
		report(rep, check, FAIL, trouble.text, trouble.next);
		return;
	}
	for (i = 0; i < list.nr; i++)
		words_add(&shown, addr_text(&list.addr[i]));
	report(rep, check, OK, words_join(&shown, ", "), NULL);
	for (i = 0; i < list.nr; i++)
		check_route(rep, &list.addr[i]);
}

static void check_client(struct report *rep, const struct args *args, const char *server)
{
	rep->role = "client";
	check_module(rep, "rnbd-client");
	check_rights(rep, CLT_CTL "/map_device");
	check_rdma(rep);
	if (server)
		check_server_of_client(rep, args, server);
}

/* What clients can reach. A part of the path may stand for the session's name. */
static void check_search_path(struct report *rep)
{
	const char *path = io_read(SRV_PARAM "/dev_search_path"), *check = "dev_search_path", *dir;
	const char *mark;

	if (!path)
		return;
	mark = strstr(path, "%SESSNAME%");
	dir = mark ? mem_copy(path, mark - path) : path;
	if (!io_exists("%s", dir))
		report(rep, check, FAIL, mem_printf("%s: there is no such directory", path),
		       mem_printf("mkdir -p %s, and links to the devices in it", dir));
	else if (!strcmp(path, "/") || !strcmp(path, "/dev"))
		report(rep, check, WARN, mem_printf("%s: every client can open every block device", path),
		       "modprobe rnbd-server dev_search_path=DIRECTORY with links to what is exported");
	else if (!io_list("%s", dir).nr)
		report(rep, check, WARN, mem_printf("%s: nothing is in it, so nothing is exported", path),
		       mem_printf("ln -s /dev/... %s", dir));
	else
		report(rep, check, OK, mem_printf("%s, names in it: %zu", path, io_list("%s", dir).nr), NULL);
}

/* What is exported by name, if that is all there is. */
static bool check_exports(struct report *rep)
{
	const char *only = io_read(SRV_PARAM "/exports_only"), *check = "exports";
	struct declared_list list;
	struct words names = { 0 };
	size_t i;

	if (!only || *only != 'Y')
		return false;
	list = declared_load();
	for (i = 0; i < list.nr; i++)
		words_add(&names, list.declared[i].name);
	if (list.nr)
		report(rep, check, OK, mem_printf("by name only: %s", words_join(&names, ", ")), NULL);
	else
		report(rep, check, WARN, "by name only, and there is none",
		       "write /etc/rnbd/exports.d/*.conf, then rnbd config apply exports");
	return true;
}

static void check_parameters(struct report *rep)
{
	const char *port = io_read(SRV_PARAM "/port_nr");
	long long chunk = io_read_number(-1, RTRS_PARAM "/max_chunk_size");
	long long depth = io_read_number(-1, RTRS_PARAM "/sess_queue_depth");
	long long data = io_read_number(-1, RTRS_PARAM "/max_io_size");

	/* Mainline has no such parameter; headers have a page. */
	if (data > 0)
		chunk = data + sysconf(_SC_PAGESIZE);
	if (port)
		report(rep, "port", OK, mem_printf("%s; RoCE itself needs UDP port 4791", port), NULL);
	if (chunk > 0 && depth > 0)
		report(rep, "memory", OK, mem_printf("each path of a client takes %s",
						     units_format(chunk * depth, NULL)), NULL);
}

static void check_server(struct report *rep)
{
	struct session_list sessions = { 0 };

	rep->role = "server";
	check_module(rep, "rnbd-server");
	check_rdma(rep);
	if (!check_exports(rep))
		check_search_path(rep);
	check_parameters(rep);
	if (!module_loaded("rnbd-server"))
		return;
	sessions_load(&sessions, true);
	report(rep, "sessions", OK, mem_printf("%zu", sessions.nr), NULL);
}

static void print_report(const struct report *rep, const struct args *args)
{
	const struct cell *row = rep->table.cells;
	size_t i;

	if (args->json) {
		table_print(&rep->table, args);
		return;
	}
	for (i = 0; i < rep->table.nr; i += ARRAY_SIZE(columns), row += ARRAY_SIZE(columns)) {
		printf("%-4s  %s: %s: %s\n", row[2].text, row[0].text, row[1].text, row[3].text);
		if (row[4].there)
			printf("      next: %s\n", row[4].text);
	}
}

enum status cmd_check(const struct args *args)
{
	const char *first = args->words.nr ? args->words.word[0] : "";
	bool server = !strcmp(first, "server"), client = !strcmp(first, "client");
	size_t used = server || client;
	struct report rep = { .table = TABLE(columns) };

	if (server && args->words.nr > 1)
		return fail(ST_USAGE, "'%s' is too much: a server has no server", args->words.word[1]);
	if (!used && args->words.nr > 1)
		return fail(ST_USAGE, "'%s': expected client or server", first);
	if (args->words.nr > used)
		client = true;
	if (client || !server)
		check_client(&rep, args, args->words.nr > used ? args->words.word[used] : NULL);
	if (server || !client)
		check_server(&rep);
	print_report(&rep, args);
	return rep.worst == FAIL ? ST_NOT_READY : ST_OK;
}
