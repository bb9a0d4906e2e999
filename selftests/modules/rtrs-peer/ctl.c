// SPDX-License-Identifier: GPL-2.0-only
/*
 * The control file, /sys/kernel/debug/rtrs-peer/ctl: write one command line, read its answer, one line.
 * README beside this has the commands.
 *
 * Each open file has its own answer, that of the last command written to it.  A command that fails has
 * an answer too, which starts with "error"; the write itself fails only if there is no answer.
 *
 * Everything made by commands is gone after "destroy all", after the module is unloaded, and, as far as it
 * is on a device, when that device goes.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "peer.h"

MODULE_DESCRIPTION("Puppet on RDMA connection manager and verbs, for tests of RTRS");
MODULE_LICENSE("GPL");

/* Longest command line. */
#define PEER_LINE_BYTES		(64 * 1024)

/* One command at a time; guards all lists. */
DEFINE_MUTEX(peer_mutex);

static struct dentry *peer_dir;

/**
 * struct peer_file - an open control file
 * @lock: guards the others
 * @answer: of the last command, with its line end; PEER_ANSWER_BYTES and two more
 * @len: bytes of it
 * @pos: how many of them have been read
 */
struct peer_file {
	struct mutex lock;
	char *answer;
	size_t len;
	size_t pos;
};

/**
 * struct peer_verb - a command
 * @name: first word
 * @min: words at least, itself included
 * @max: words at most
 * @usage: the other words
 * @run: does it
 */
struct peer_verb {
	const char *name;
	int min;
	int max;
	const char *usage;
	int (*run)(struct peer_cmd *cmd);
};

static void peer_destroy_all(const struct ib_device *dev)
{
	peer_cons_destroy(dev);
	peer_cm_drop_requests(dev);
	peer_bufs_free(dev);
}

static int peer_cmd_destroy(struct peer_cmd *cmd)
{
	struct peer_con *con;

	if (!strcmp(cmd->argv[1], "all")) {
		peer_cm_unlisten();
		peer_destroy_all(NULL);
		peer_templates_free(NULL);
		return 0;
	}
	con = peer_con_find(cmd, cmd->argv[1]);
	if (!con)
		return -ENOENT;
	list_del(&con->entry);
	peer_con_destroy(con);
	return 0;
}

static const struct peer_verb peer_verbs[] = {
	{ "listen", 2, 2, "<port>", peer_cmd_listen },
	{ "unlisten", 2, 2, "<port>", peer_cmd_unlisten },
	{ "request", 3, 3, "<con> <ms>", peer_cmd_request },
	{ "accept", 3, 4, "<con> <hex> [rnr=<retries>]", peer_cmd_accept },
	{ "reject", 3, 4, "<con> <hex> [<reason>]", peer_cmd_reject },
	{ "connect", 6, 9, "<con> <src>|- <dst> <port> <hex> [<key>=<value>...]", peer_cmd_connect },
	{ "params", 2, 2, "<con>", peer_cmd_params },
	{ "disconnect", 2, 2, "<con>", peer_cmd_disconnect },
	{ "destroy", 2, 2, "<con>|all", peer_cmd_destroy },
	{ "buf", 4, 4, "<buf> <con> <bytes>", peer_cmd_buf },
	{ "rereg", 3, 3, "<buf> <con>", peer_cmd_rereg },
	{ "free", 2, 2, "<buf>", peer_cmd_free },
	{ "put", 4, 4, "<buf> <off> <hex>", peer_cmd_put },
	{ "fill", 5, 5, "<buf> <off> <len> <byte>", peer_cmd_fill },
	{ "get", 4, 4, "<buf> <off> <len>", peer_cmd_get },
	{ "recv", 4, 5, "<con> <number> <bytes> [keep=<mask>[:<off>]]", peer_cmd_recv },
	{ "post", 3, 12, "<con> send|send-imm|send-inv|write|write-imm [<key>=<value>...]",
	  peer_cmd_post },
	{ "inv", 3, 3, "<con> <rkey>", peer_cmd_inv },
	{ "sent", 3, 3, "<con> <ms>", peer_cmd_sent },
	{ "wait", 3, 3, "<con> <ms>", peer_cmd_wait },
	{ "template", 3, 13, "<set> send|send-imm|send-inv|write|write-imm [<key>=<value>...]",
	  peer_cmd_template },
	{ "forget", 2, 2, "<set>|all", peer_cmd_forget },
	{ "key", 3, 4, "<number> desc=<hex>|at=<buf>:<off>|buf=<buf> [<bytes>]", peer_cmd_key },
	{ "mutate", 3, 8, "<con> <set> [<key>=<value>...]", peer_cmd_mutate },
	{ "mutant", 2, 7, "<set> [<key>=<value>...]", peer_cmd_mutant },
};

static void peer_run_words(struct peer_cmd *cmd)
{
	const struct peer_verb *verb;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(peer_verbs); i++) {
		verb = &peer_verbs[i];
		if (strcmp(cmd->argv[0], verb->name))
			continue;
		if (cmd->argc < verb->min || cmd->argc > verb->max)
			peer_error(cmd, -EINVAL, "wants %s", verb->usage);
		else
			verb->run(cmd);
		return;
	}
	peer_error(cmd, -EINVAL, "there is no such command");
}

static int peer_run(struct peer_file *file, char *line)
{
	struct peer_cmd cmd = { .answer = file->answer };

	cmd.argv = argv_split(GFP_KERNEL, line, &cmd.argc);
	if (!cmd.argv)
		return -ENOMEM;
	/* A shell may write the end of a long line by itself: that is no command, and no new answer. */
	if (!cmd.argc) {
		argv_free(cmd.argv);
		return 0;
	}
	file->len = 0;
	file->pos = 0;
	if (mutex_lock_interruptible(&peer_mutex)) {
		argv_free(cmd.argv);
		return -EINTR;
	}
	peer_run_words(&cmd);
	mutex_unlock(&peer_mutex);
	argv_free(cmd.argv);
	file->answer[cmd.len] = '\n';
	file->len = cmd.len + 1;
	return 0;
}

static int peer_file_open(struct inode *inode, struct file *filp)
{
	struct peer_file *file = kzalloc(sizeof(*file), GFP_KERNEL);

	if (!file)
		return -ENOMEM;
	file->answer = kvmalloc(PEER_ANSWER_BYTES + 1, GFP_KERNEL);
	if (!file->answer) {
		kfree(file);
		return -ENOMEM;
	}
	mutex_init(&file->lock);
	filp->private_data = file;
	return stream_open(inode, filp);
}

static int peer_file_release(struct inode *inode, struct file *filp)
{
	struct peer_file *file = filp->private_data;

	kvfree(file->answer);
	kfree(file);
	return 0;
}

static ssize_t peer_file_write(struct file *filp, const char __user *buf, size_t count, loff_t *ppos)
{
	struct peer_file *file = filp->private_data;
	char *line;
	int ret;

	if (count > PEER_LINE_BYTES)
		return -E2BIG;
	line = memdup_user_nul(buf, count);
	if (IS_ERR(line))
		return PTR_ERR(line);
	mutex_lock(&file->lock);
	ret = peer_run(file, line);
	mutex_unlock(&file->lock);
	kfree(line);
	return ret ? ret : count;
}

static ssize_t peer_file_read(struct file *filp, char __user *buf, size_t count, loff_t *ppos)
{
	struct peer_file *file = filp->private_data;

	mutex_lock(&file->lock);
	count = min(count, file->len - file->pos);
	if (copy_to_user(buf, file->answer + file->pos, count)) {
		mutex_unlock(&file->lock);
		return -EFAULT;
	}
	file->pos += count;
	mutex_unlock(&file->lock);
	return count;
}

static const struct file_operations peer_file_ops = {
	.owner = THIS_MODULE,
	.open = peer_file_open,
	.release = peer_file_release,
	.read = peer_file_read,
	.write = peer_file_write,
};

static int peer_add_device(struct ib_device *dev)
{
	return 0;
}

/* Called before the connection manager hears of it: it finds no id of ours on the device any more. */
static void peer_forget_device(struct ib_device *dev, void *data)
{
	mutex_lock(&peer_mutex);
	peer_destroy_all(dev);
	mutex_unlock(&peer_mutex);
}

static struct ib_client peer_client = {
	.name = "rtrs-peer",
	.add = peer_add_device,
	.remove = peer_forget_device,
};

static int __init peer_init(void)
{
	int ret;

	ret = ib_register_client(&peer_client);
	if (ret)
		return ret;
	peer_dir = debugfs_create_dir("rtrs-peer", NULL);
	debugfs_create_file("ctl", 0600, peer_dir, NULL, &peer_file_ops);
	return 0;
}

static void __exit peer_exit(void)
{
	debugfs_remove(peer_dir);
	mutex_lock(&peer_mutex);
	peer_cm_unlisten();
	peer_destroy_all(NULL);
	peer_templates_free(NULL);
	mutex_unlock(&peer_mutex);
	ib_unregister_client(&peer_client);
}

module_init(peer_init);
module_exit(peer_exit);
