// SPDX-License-Identifier: GPL-2.0-only
/*
 * RNBD client: a block device whose data is on another host, over RTRS.
 *
 * Operation
 *	proto/ parses what the administrator writes and checks what the server answers; msg.c carries
 *	control messages; queue.c carries I/O; sess.c, dev.c and disk.c are the objects; map.c puts them
 *	together; sysfs.c and ctl.c are the surface.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/err.h>
#include <linux/init.h>
#include <linux/module.h>

#include "ctl.h"
#include "disk.h"
#include "fault.h"
#include "map.h"
#include "hold.h"
#include "msg.h"
#include "nl.h"
#include "sess.h"

static int __init rnbd_clt_init(void)
{
	int ret;

	ret = rnbd_clt_msg_init_wq();
	if (ret)
		return ret;
	ret = rnbd_clt_sess_init_wq();
	if (ret)
		goto err_exit_msg_wq;
	ret = rnbd_clt_hold_init_wq();
	if (ret)
		goto err_exit_sess_wq;
	ret = rnbd_clt_disk_init_major();
	if (ret)
		goto err_exit_hold_wq;
	ret = rnbd_clt_ctl_create();
	if (ret) {
		pr_err("cannot create class rnbd-client: %pe\n", ERR_PTR(ret));
		goto err_exit_major;
	}
	rnbd_clt_fault_init();
	rnbd_clt_nl_init();
	return 0;

err_exit_major:
	rnbd_clt_disk_exit_major();
err_exit_hold_wq:
	rnbd_clt_hold_exit_wq();
err_exit_sess_wq:
	rnbd_clt_sess_exit_wq();
err_exit_msg_wq:
	rnbd_clt_msg_exit_wq();
	return ret;
}

static void __exit rnbd_clt_exit(void)
{
	rnbd_clt_nl_exit();
	rnbd_clt_fault_exit();
	rnbd_clt_ctl_close();
	rnbd_clt_unmap_all();
	rnbd_clt_ctl_destroy();
	rnbd_clt_hold_exit_wq();
	rnbd_clt_sess_exit_wq();
	/* Last: messages without an owner end here. */
	rnbd_clt_msg_exit_wq();
	rnbd_clt_disk_exit_major();
}

module_init(rnbd_clt_init);
module_exit(rnbd_clt_exit);

MODULE_DESCRIPTION("RNBD client: block device over RTRS");
MODULE_LICENSE("GPL");
