// SPDX-License-Identifier: GPL-2.0-only
/*
 * rnbd - map, watch and serve RDMA network block devices.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "out.h"

#ifndef RNBD_VERSION
#define RNBD_VERSION "unknown"
#endif

const char program_name[] = "rnbd";

const struct command commands[] = {
	{
		"map", "SERVER:DEVICE...", "spPaqtrIMTRCw46nj", "", "map devices of a server",
		"Map block devices of a server and print the local ones. SERVER is a host name or an\n"
		"address, an IPv6 one in brackets; DEVICE the name of the device below the server's\n"
		"dev_search_path, as in storage:/dev/vg0/lv1.\n\n"
		"Each address of the server becomes a path, with the source address and the RDMA device\n"
		"that routing says; --path gives the paths instead. If the session exists it is used.\n"
		"If one of several devices cannot be mapped, none is.",
		1, ANY_NUMBER, cmd_map,
	}, {
		"unmap", "DEVICE...", "fAn", "d", "unmap devices",
		"Unmap devices. DEVICE is the local one (rnbd0, /dev/rnbd0), or its name on the server,\n"
		"with @SESSION where that is not enough.\n\n"
		"A device that is in use stays, and its users are named. --force unmaps it all the same,\n"
		"and their I/O fails.",
		0, ANY_NUMBER, cmd_unmap,
	}, {
		"remap", "DEVICE...", "fAn", "d", "have the server open closed devices again",
		"Have the server open devices again that are in state closed: the session is back, but\n"
		"the server would not open the device. --all takes all that are closed.\n\n"
		"Another disk than the one that was mapped is refused. --force takes it, and what is in memory\n"
		"of the old one's data may be written to it.",
		0, ANY_NUMBER, cmd_remap,
	}, {
		"resize", "DEVICE SIZE", "fn", "d", "tell the client a device's new size",
		"Give a mapped device the size that it has on the server by now. SIZE has a unit, as in\n"
		"10G or 20480s.\n\n"
		"A smaller size cuts off data and is refused without --force.",
		2, 2, cmd_resize,
	}, {
		"list", "", "jHu", "", "list mapped devices",
		"List the devices that this host has mapped.",
		0, 0, cmd_list,
	}, {
		"show", "DEVICE|SESSION", "Sju", "S", "show one device or session in full",
		"Show all there is to say of one mapped device, or of one session, with its paths; or of a device of\n"
		"this host that clients have open, with their sessions. What the client has of this name comes first;\n"
		"with --server only the server's.",
		1, 1, cmd_show,
	}, {
		"sessions", "[client|server]", "jHu", "r", "list sessions",
		"List the sessions of this host, as a client, as a server, or both.",
		0, 1, cmd_sessions,
	}, {
		"path list", "[SESSION]", "SjHu", "s", "list paths",
		"List the paths of all sessions of the client, or of one; with --server those of the server.",
		0, 1, cmd_path_list,
	}, {
		"path add", "SESSION [SRC@]DST...", "n", "s", "add paths to a session",
		"Add paths to a session of the client. DST is an address of the server or its host name, SRC\n"
		"an address of this host; without it routing says which. A path that does not connect\n"
		"is not added.",
		2, ANY_NUMBER, cmd_path_add,
	}, {
		"path del", "SESSION PATH...", "fn", "sp", "remove paths of a session",
		"Remove paths of a session of the client. PATH is its name, SRC@DST, or one of both addresses\n"
		"if no other path has that.\n\n"
		"The last connected path of a session with devices is kept unless --force is given: their I/O\n"
		"would wait, and fail in the end.",
		2, ANY_NUMBER, cmd_path_del,
	}, {
		"reconnect", "SESSION [PATH...]", "An", "sp", "connect paths anew, now",
		"Tear paths down and connect them again now, without waiting for the next attempt. Without a\n"
		"PATH those that are disconnected; with --all all of them, one after the other.",
		1, ANY_NUMBER, cmd_reconnect,
	}, {
		"disconnect", "SESSION [PATH...]", "AfSn", "sp", "close paths, but keep them listed",
		"Close paths: PATH..., or --all. They stay listed and do not come back by themselves; reconnect\n"
		"brings them back. With --server paths of the server, which the client connects again.\n\n"
		"The last connected path of a session with devices is kept unless --force is given.",
		1, ANY_NUMBER, cmd_disconnect,
	}, {
		"stats", "[DEVICE|SESSION|PATH]", "WcjHuOxo", "T", "figures of sessions and paths",
		"Print what sessions and their paths have counted since their counters were reset; with --watch\n"
		"what they count in each interval. With a DEVICE that of its session, on the client; with a SESSION\n"
		"or a PATH only that of these. What the modules at hand do not count is -.\n\n"
		"Percentiles are of the time from when a request was submitted until it was answered, read from\n"
		"a histogram whose steps are a factor of two.",
		0, 1, cmd_stats,
	}, {
		"top", "", "W", "", "the same on the screen, as it changes",
		"Show sessions and paths on the screen, with what they do: requests, bytes, percentiles of their\n"
		"time, requests in flight, failovers and errors. h shows all keys, Enter where the time of a session\n"
		"or path goes, q quits.",
		0, 0, cmd_top,
	}, {
		"exports", "", "jHu", "", "list devices that clients have open here",
		"List the devices of this host that clients have open.",
		0, 0, cmd_exports,
	}, {
		"close", "DEVICE [SESSION]", "Afn", "ex", "close a device against its client's will",
		"Close an exported device for the client of a SESSION, or with --all for all that have it open.\n"
		"Their I/O to it fails until they unmap it and map it again; hence --force must be given.",
		1, 2, cmd_close,
	}, {
		"events", "[SESSION]", "jc", "s", "print what happens, as it happens",
		"Print what happens to sessions, paths and devices of this host, client and server, with reasons:\n"
		"steps of paths, failovers, fences, devices that are lost and come back. With a SESSION only what\n"
		"happens to that. With --json each line is an object.\n\n"
		"It runs until it is interrupted, or for --count events.",
		0, 1, cmd_events,
	}, {
		"check", "[client|server] [SERVER]", "j46", "r", "look for what is missing",
		"See whether this host can be a client or a server, by default both, and say what to do about\n"
		"what is missing. For a client with SERVER: whether there is an RDMA device on each route to it,\n"
		"and whether large packets get through.",
		0, 2, cmd_check,
	}, {
		"config check", "[FILE...]", "", "", "look for mistakes in the files of /etc/rnbd",
		"Say what is wrong in /etc/rnbd/exports.d/*.conf and /etc/rnbd/maps.d/*.conf, or in the FILEs, which\n"
		"are in directories of these names. Nothing is changed.",
		0, ANY_NUMBER, cmd_config_check,
	}, {
		"config apply", "exports|map NAME...", "n", "cm", "make it so as the files say",
		"exports: make the server's list of exports that of /etc/rnbd/exports.d/*.conf.\n"
		"map: map what the files of /etc/rnbd/maps.d/*.conf have under these NAMEs.\n\n"
		"Only what differs is changed, so it can be repeated. If something fails, what was changed\n"
		"before is undone.",
		1, ANY_NUMBER, cmd_config_apply,
	}, {
		"config remove", "exports|map NAME...", "fn", "cm", "undo config apply",
		"exports: export nothing by name any more. Clients that have a device open keep it.\n"
		"map: unmap these devices. --force does so while they are in use, and their I/O fails.",
		1, ANY_NUMBER, cmd_config_remove,
	},
};

const size_t nr_commands = ARRAY_SIZE(commands);

static void help(void)
{
	size_t i;

	puts("Usage: rnbd COMMAND [OPTION]... [WORD]...\n\n"
	     "RDMA network block devices: map them as a client, look after them on both sides.\n\n"
	     "Commands:");
	for (i = 0; i < nr_commands; i++)
		printf("  %-14s %s\n", commands[i].name, commands[i].brief);
	puts("\nrnbd COMMAND --help explains one; rnbd --version; rnbd(8) has exit codes and JSON names.");
}

static enum status run(char *const *argv)
{
	const struct command *cmd;
	struct args args = { 0 };
	enum status status;
	int used;

	cmd = args_command(argv, &used);
	if (!cmd)
		return ST_USAGE;
	fail_command = cmd->name;
	status = args_parse(cmd, argv + used, &args);
	if (status != ST_OK)
		return status;
	if (!args.help)
		return cmd->run(&args);
	args_help(cmd);
	return ST_OK;
}

static enum status dispatch(int argc, char **argv)
{
	if (argc < 2) {
		help();
		return ST_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("rnbd " RNBD_VERSION);
		return ST_OK;
	}
	if (!strcmp(argv[1], "complete")) {
		args_complete(argv + 2);
		return ST_OK;
	}
	if (!strcmp(argv[1], "help") && argc > 2) {
		memmove(argv + 1, argv + 2, (argc - 2) * sizeof(*argv));
		argv[argc - 1] = "--help";
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		help();
		return ST_OK;
	}
	return run(argv + 1);
}

int main(int argc, char **argv)
{
	enum status status = dispatch(argc, argv);

	if (fflush(stdout) || ferror(stdout))
		return fail(ST_NOT_READY, "cannot write the output: %s", strerror(errno));
	return status;
}
