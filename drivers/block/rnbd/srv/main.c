// SPDX-License-Identifier: GPL-2.0-only
/*
 * Module rnbd-server: exports local block devices over RTRS.  Parameters, the transport's
 * callbacks, order of start and stop.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/sched/mm.h>

#include "ctl.h"
#include "dev.h"
#include "io.h"
#include "nl.h"
#include "orphan.h"
#include "sess.h"

static ushort rnbd_srv_port_nr = RNBD_DEFAULT_PORT;

static int rnbd_srv_port_nr_set(const char *val, const struct kernel_param *kp)
{
	int ret = param_set_ushort(val, kp);

	if (!ret && !*(ushort *)kp->arg)
		ret = -EINVAL;
	if (ret)
		pr_err("parameter port_nr=%*pE is not valid, allowed is 1 to %u\n",
		       RNBD_SRV_STR(val), USHRT_MAX);
	return ret;
}

static const struct kernel_param_ops rnbd_srv_port_nr_ops = {
	.set = rnbd_srv_port_nr_set,
	.get = param_get_ushort,
};
__MODULE_PARM_TYPE(port_nr, "ushort");
module_param_cb(port_nr, &rnbd_srv_port_nr_ops, &rnbd_srv_port_nr, 0444);
MODULE_PARM_DESC(port_nr,
		 "Port to listen on, 1..65535 (default: " __stringify(RNBD_DEFAULT_PORT) ")");

/* How much of a value that is too long is shown. */
#define RNBD_SRV_SHOWN_BYTES	32

static char rnbd_srv_search_path_value[PATH_MAX] = "/";

static int rnbd_srv_search_path_set(const char *val, const struct kernel_param *kp)
{
	int ret = rnbd_srv_search_path(kp->arg, PATH_MAX, val);

	if (ret)
		pr_err("parameter dev_search_path=%*pE... is not valid: %zu bytes, allowed are at most %d\n",
		       RNBD_SRV_SHOWN_BYTES, val, strlen(val), PATH_MAX - 1);
	return ret;
}

static int rnbd_srv_search_path_get(char *page, const struct kernel_param *kp)
{
	return sysfs_emit(page, "%s\n", (const char *)kp->arg);
}

static const struct kernel_param_ops rnbd_srv_search_path_ops = {
	.set = rnbd_srv_search_path_set,
	.get = rnbd_srv_search_path_get,
};
__MODULE_PARM_TYPE(dev_search_path, "string");
module_param_cb(dev_search_path, &rnbd_srv_search_path_ops, rnbd_srv_search_path_value, 0444);
MODULE_PARM_DESC(dev_search_path,
		 "Directory that the device names of clients begin in, less than 4096 bytes; "
		 RNBD_SRV_SESS_TOKEN " stands for the name of the session (default: /)");

static struct rtrs_srv_ctx *rnbd_srv_ctx;

static int rnbd_srv_rdma_ev(void *priv, struct rtrs_srv_op *id, void *data, size_t data_len,
			    const void *usr, size_t usr_len)
{
	struct rnbd_srv_sess *sess = priv;
	int type = rnbd_srv_msg_type(usr, usr_len);

	switch (type) {
	case RNBD_MSG_IO:
		return rnbd_srv_sess_io(sess, id, data, data_len, usr, usr_len);
	case RNBD_MSG_SESS_INFO:
	case RNBD_MSG_OPEN:
	case RNBD_MSG_CLOSE:
		return rnbd_srv_sess_queue(sess, id, data, data_len, usr, usr_len);
	}
	return rnbd_srv_sess_refuse_type(sess, type, usr_len);
}

static void rnbd_srv_overdue(void *priv, struct rtrs_srv_op *id, unsigned int secs)
{
	rnbd_srv_sess_overdue(priv, id, secs);
}

static int rnbd_srv_link_ev(struct rtrs_srv_sess *rtrs, enum rtrs_srv_link_ev ev, void *priv)
{
	unsigned int noio = memalloc_noio_save();
	struct rnbd_srv_sess *sess;
	int ret = 0;

	switch (ev) {
	case RTRS_SRV_LINK_EV_CONNECTED:
		sess = rnbd_srv_sess_create(rtrs);
		if (IS_ERR(sess))
			ret = PTR_ERR(sess);
		else
			rtrs_srv_set_sess_priv(rtrs, sess);
		break;
	case RTRS_SRV_LINK_EV_DISCONNECTED:
		rtrs_srv_set_sess_priv(rtrs, NULL);
		rnbd_srv_sess_destroy(priv);
		break;
	}
	memalloc_noio_restore(noio);
	return ret;
}

static int __init rnbd_srv_init(void)
{
	struct rtrs_srv_ops ops = {
		.rdma_ev = rnbd_srv_rdma_ev,
		.link_ev = rnbd_srv_link_ev,
		.orphaned = rnbd_srv_orphaned,
		.pdu_size = sizeof(struct rnbd_srv_io),
		.overdue = rnbd_srv_overdue,
	};
	int ret;

	ret = rnbd_srv_ctl_init();
	if (ret) {
		pr_err("cannot create class rnbd-server: error %pe\n", ERR_PTR(ret));
		return ret;
	}
	ret = rnbd_srv_devs_init(rnbd_srv_search_path_value, &rnbd_srv_ctl_dev_type);
	if (ret)
		goto err_exit_ctl;
	ret = rnbd_srv_sessions_init();
	if (ret)
		goto err_exit_devs;
	rnbd_srv_orphans_init(rnbd_srv_io_start_later);
	/* Clients can come from here on, even before this returns. */
	rnbd_srv_ctx = rtrs_srv_open(&ops, rnbd_srv_port_nr);
	if (IS_ERR(rnbd_srv_ctx)) {
		ret = PTR_ERR(rnbd_srv_ctx);
		pr_err("cannot listen on port_nr=%u: error %pe\n", rnbd_srv_port_nr, rnbd_srv_ctx);
		goto err_exit_sessions;
	}
	rnbd_srv_nl_init();
	return 0;

err_exit_sessions:
	rnbd_srv_sessions_exit();
err_exit_devs:
	rnbd_srv_devs_exit();
err_exit_ctl:
	rnbd_srv_ctl_exit();
	return ret;
}

static void __exit rnbd_srv_exit(void)
{
	rnbd_srv_nl_exit();
	/* Returns when every session has been told that it is disconnected. */
	rtrs_srv_close(rnbd_srv_ctx);
	rnbd_srv_sessions_exit();
	rnbd_srv_devs_exit();
	rnbd_srv_ctl_exit();
}

module_init(rnbd_srv_init);
module_exit(rnbd_srv_exit);

MODULE_DESCRIPTION("RDMA network block device server");
MODULE_LICENSE("GPL");
