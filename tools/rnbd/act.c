// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "act.h"
#include "ask.h"
#include "io.h"
#include "mem.h"
#include "out.h"

#define ANY_OP		~0u
#define OP_CONNECT	(OP_MAP | OP_PATH_ADD | OP_RECONNECT)
#define OP_OPEN		(OP_MAP | OP_REMAP)

#define ON_SERVER	"on the server: "

/* Is there as long as udev has events to work on; it is what udevadm settle waits for. */
#define UDEV_QUEUE	"/run/udev/queue"
/* How often a disk that udev may have open is tried, and the time between, unless udev is done before. */
#define UDEV_TRIES	10
#define UDEV_SECONDS	2

/* What an errno means for an operation, and what to do about it; the first row that fits counts. */
static const struct cause {
	unsigned int ops;
	int err;
	enum status status;
	const char *text;
	const char *next;
} causes[] = {
	{ OP_OPEN, ENOENT, ST_REFUSED, "the server exports no such device, by name or below its dev_search_path",
	  ON_SERVER "rnbd check server shows what it exports, dmesg why it refused this" },
	{ OP_OPEN, ENOTBLK, ST_REFUSED, "on the server this is not a block device",
	  ON_SERVER "ls -l it; a file becomes a device with losetup" },
	{ OP_OPEN, ENOTDIR, ST_REFUSED, "on the server a part of this name is not a directory",
	  ON_SERVER "rnbd check server shows dev_search_path; ls -l what is there" },
	{ OP_OPEN, EROFS, ST_REFUSED, "the device is read-only on the server, or exported so",
	  "map it with --access=ro" },
	{ OP_OPEN, EACCES, ST_REFUSED,
	  "it is not exported to this client, or the server itself may not write it",
	  "map it with --access=ro; " ON_SERVER "dmesg says which, blockdev --getro, clients of the export" },
	{ OP_OPEN, EPERM, ST_BUSY,
	  "another client has the device open for writing, or has a session of this name",
	  ON_SERVER "rnbd exports lists who has it; then --access=ro, or another --session" },
	{ OP_OPEN, EBUSY, ST_BUSY, "the device is in use on the server",
	  ON_SERVER "lsblk shows by whom" },
	{ OP_OPEN, EMFILE, ST_REFUSED, "the session has too many devices open", "use another --session" },
	{ OP_MAP, EINVAL, ST_REFUSED, "a value is not allowed", "see the kernel's line, or dmesg" },
	{ OP_MAP, EEXIST, ST_BUSY, "the device is mapped in this session already", "rnbd list" },
	{ OP_MAP, ENAMETOOLONG, ST_REFUSED, "the names of session and device are too long together",
	  "give a shorter --session" },
	{ OP_CONNECT, ECONNRESET, ST_UNREACHABLE,
	  "the server refused the connection, or nobody listens on its port",
	  ON_SERVER "rnbd check server, and dmesg; here: is --port right?" },
	{ OP_CONNECT, ECONNREFUSED, ST_UNREACHABLE, "nobody listens on the server's port",
	  ON_SERVER "rnbd check server; here: is --port right?" },
	{ OP_CONNECT, ETIMEDOUT, ST_UNREACHABLE, "the server does not answer",
	  "do firewalls let UDP port 4791 through? " ON_SERVER "rnbd check server" },
	{ OP_CONNECT, EHOSTUNREACH, ST_UNREACHABLE, "the address cannot be reached",
	  "is the server up? ping; ip route get" },
	{ OP_CONNECT, ENETUNREACH, ST_UNREACHABLE, "there is no route to the address",
	  "ip route get the address" },
	{ OP_CONNECT, EADDRNOTAVAIL, ST_NOT_READY, "no RDMA device has the source address",
	  "rdma link show; rnbd check client and the server's name" },
	{ OP_CONNECT, ENODEV, ST_NOT_READY, "there is no RDMA device on the route",
	  "rdma link show; rnbd check client and the server's name" },
	{ OP_CONNECT, ENOTCONN, ST_UNREACHABLE, "the path did not connect, the client goes on trying",
	  "see the kernel's line, or dmesg; rnbd path list shows the state" },
	{ OP_CONNECT, EUSERS, ST_REFUSED, "the server gives no more sessions or connections",
	  ON_SERVER "dmesg names the parameter of rtrs-server that limits it" },
	{ OP_CONNECT, ENOBUFS, ST_REFUSED, "the server gives no more memory",
	  ON_SERVER "raise max_memory_mb or lower sess_queue_depth of rtrs-server" },
	{ OP_CONNECT, EEXIST, ST_BUSY, "the session has this path already", "rnbd path list" },
	{ OP_CONNECT, EBUSY, ST_BUSY, "the path is connecting or closing just now",
	  "rnbd path list shows its state; then again" },
	{ OP_PATH_ADD, ENOSPC, ST_REFUSED, "a session has no room for more paths",
	  "remove one: rnbd path del" },
	{ OP_PATH_ADD, EPERM, ST_REFUSED, "the server does not take the path for this session",
	  ON_SERVER "dmesg says why" },
	{ OP_UNMAP, EBUSY, ST_BUSY, "the device is in use",
	  "end its users, or rnbd unmap --force: their I/O fails" },
	{ OP_UNMAP, EALREADY, ST_BUSY, "it is being unmapped already", "rnbd list" },
	{ OP_REMAP, EALREADY, ST_BUSY, "it is open; only a closed device is remapped", "rnbd list" },
	{ OP_REMAP, ESTALE, ST_REFUSED, "the server has another disk of that name than before",
	  ON_SERVER "put the old one back; or rnbd remap --force takes the other one" },
	{ OP_REMAP, ECONNABORTED, ST_UNREACHABLE, "its session has no path",
	  "rnbd path list shows why, rnbd reconnect tries now" },
	{ OP_REMAP, EINVAL, ST_REFUSED, "the server has another device of that name than before",
	  "unmap it, and map it anew" },
	{ OP_RESIZE, ENOENT, ST_REFUSED, "the device is not open", "rnbd list shows its state" },
	{ OP_RESIZE, EINVAL, ST_REFUSED, "the size does not consist of whole logical blocks",
	  "blockdev --getss DEVICE has the size of a block" },
	{ OP_EXPORT | OP_UNEXPORT | OP_SET, EINVAL, ST_REFUSED, "a value is not allowed",
	  "see the kernel's line, or dmesg" },
	{ OP_UNEXPORT, ENOENT, ST_NOT_FOUND, "it is not exported", "ls /sys/class/rnbd-server/ctl/exports" },
	{ ANY_OP, E2BIG, ST_USAGE, "this is longer than the kernel takes", "give fewer or shorter names" },
	{ ANY_OP, ENOMEM, ST_REFUSED, "out of memory here, or on the server", "dmesg, on both sides" },
	{ ANY_OP, EINTR, ST_REFUSED, "interrupted", "run it again" },
	{ ANY_OP, ENODEV, ST_NOT_FOUND, "it is going, or the module is being unloaded", "rnbd list" },
};

/* What our modules complained about during the last change. */
static struct words act_klog;

static const struct cause *cause_of(enum op op, int err)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(causes); i++)
		if (causes[i].ops & op && causes[i].err == err)
			return &causes[i];
	return NULL;
}

/* "/dev/rnbd0" or a partition of it, up to a blank or the end */
static bool is_of_disk(const char *node, const char *disk)
{
	size_t len = strlen(disk);

	return !strncmp(node, "/dev/", 5) && !strncmp(node + 5, disk, len) &&
	       (node[5 + len] == 'p' || node[5 + len] == ' ' || !node[5 + len]);
}

/* Lines of a table that begin with the device; where: the second word is said too. */
static void users_in_table(const char *disk, const char *file, const char *how, bool where,
			   struct words *users)
{
	char *table = io_read("%s", file), *line, *rest;
	const char *word;

	for (line = table ? strtok_r(table, "\n", &rest) : NULL; line;
	     line = strtok_r(NULL, "\n", &rest)) {
		if (!is_of_disk(line, disk))
			continue;
		word = where ? line + strcspn(line, " \t") : line;
		word += strspn(word, " \t");
		words_add(users, mem_printf("%s %.*s", how, (int)strcspn(word, " \t"), word));
	}
}

static void users_with_file(const char *disk, const char *pid, struct words *users)
{
	struct words fds = io_list("/proc/%s/fd", pid);
	const char *target, *comm;
	size_t i;

	for (i = 0; i < fds.nr; i++) {
		target = io_link("/proc/%s/fd/%s", pid, fds.word[i]);
		if (!target || !is_of_disk(target, disk))
			continue;
		comm = io_read("/proc/%s/comm", pid);
		words_add(users, mem_printf("process %s (%s)", pid, comm ? comm : "gone"));
		return;
	}
}

/* Who has a disk, or a partition of it, open; but for what this process has inherited. */
static struct words disk_users(const char *disk)
{
	struct words users = { 0 }, holders, pids = io_list("/proc");
	const char *self = mem_printf("%d", getpid());
	size_t i;

	users_in_table(disk, "/proc/self/mounts", "mounted on", true, &users);
	users_in_table(disk, "/proc/swaps", "swap on", false, &users);
	holders = io_list("/sys/block/%s/holders", disk);
	for (i = 0; i < holders.nr; i++)
		words_add(&users, mem_printf("held by %s", holders.word[i]));
	for (i = 0; i < pids.nr; i++)
		if (!pids.word[i][strspn(pids.word[i], "0123456789")] && strcmp(pids.word[i], self))
			users_with_file(disk, pids.word[i], &users);
	return users;
}

/* Say it, whatever became of the write. */
void act_kernel_lines(void)
{
	size_t i;

	for (i = 0; i < act_klog.nr; i++)
		detail("kernel", "%s", act_klog.word[i]);
}

static enum status explain(enum op op, const char *what, int err)
{
	const struct cause *cause = cause_of(op, err);
	const char *name = strerrorname_np(err);
	struct words users = { 0 };
	size_t i;

	fail(ST_REFUSED, "%s: %s (%s)", what, cause ? cause->text : strerror(err),
	     name ? name : "unknown error");
	act_kernel_lines();
	if (op == OP_UNMAP && err == EBUSY)
		users = disk_users(path_base(what));
	for (i = 0; i < users.nr; i++)
		detail("user", "%s", users.word[i]);
	detail("next", "%s", cause ? cause->next : "dmesg, on both sides");
	return cause ? cause->status : ST_REFUSED;
}

/* Errno. Netlink tells the reason; a write leaves it in the log, from which that of others cannot be told. */
static int change(enum op op, const char *file, const char *text)
{
	struct answer answer;
	int mark = klog_start();

	if (!ask(op, file, text, &answer))
		answer = (struct answer){ io_write(file, text), NULL };
	act_klog = klog_since(mark);
	if (answer.words) {
		act_klog.nr = 0;
		words_add(&act_klog, answer.words);
	}
	return answer.err;
}

/*
 * udev looks into a disk that is new, and into one that somebody who could write has closed: for a moment it has the disk
 * open itself, but nobody uses it. So a disk that is in use is tried again as long as udev has something to do, and once
 * more when it has not. That its queue is empty must not be waited for: udev may be done with this disk, and busy with
 * hundreds of others.
 */
static int change_patiently(enum op op, const char *file, const char *text)
{
	int tries = UDEV_TRIES, err;
	bool looking;

	for (;;) {
		/* Before it as well: udev may be done as soon as that has failed. */
		looking = io_exists(UDEV_QUEUE);
		err = change(op, file, text);
		looking |= io_exists(UDEV_QUEUE);
		if (op != OP_UNMAP || err != EBUSY || !looking || !--tries)
			return err;
		io_wait_gone(UDEV_SECONDS, UDEV_QUEUE);
	}
}

/* Write a text to a file, or have that done by netlink, or only say so. what: the thing in the user's words. */
enum status act(const struct args *args, enum op op, const char *what, const char *file,
		const char *text)
{
	int err;

	if (args->dry_run) {
		printf("echo %s > %s\n", quoted(text), quoted(file));
		return ST_OK;
	}
	if (!io_exists("%s", file)) {
		fail(ST_NOT_FOUND, "%s: %s has just gone", what, file);
		detail("next", "rnbd list; rnbd sessions");
		return ST_NOT_FOUND;
	}
	if (!io_writable(file)) {
		fail(ST_NOT_READY, "%s: no permission to write %s", what, file);
		detail("next", "run it as root");
		return ST_NOT_READY;
	}
	err = change_patiently(op, file, text);
	return err ? explain(op, what, err) : ST_OK;
}
