// SPDX-License-Identifier: GPL-2.0-only
/*
 * The export list: devices that the administrator exports by name, and to whom.
 *
 * Operation: until the first device is exported, names of clients are paths below dev_search_path, as
 * with mainline's server.  From then on, or from the start with exports_only=Y, a name is looked up here
 * and nowhere else, also when the list is empty again.  What the list says is asked before a block
 * device is opened; a client that has it open keeps it whatever becomes of the list.
 *
 * An identity that the list gives is that of the disk which the path leads to when a client first opens it.  When the
 * path leads to another one later, the list does not say which, and the identity is dropped until it is given again.
 *
 * Clients are known by the addresses of their paths, all of which have to be listed, or by the name of
 * the session, which they choose themselves.  A path that comes later is not looked at: whoever brings
 * one knows the session's identity.
 *
 * Locks: the admin mutex orders those who change the list, with all that appears and disappears in
 * sysfs; removing a directory waits for readers of its files, who take only the lock.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/sysfs.h>

#include "../proto/offer.h"
#include "../proto/opmap.h"
#include "export.h"
#include "log.h"
#include "offer.h"

/* Longest address as text, with NUL. */
#define RNBD_SRV_ADDR_LEN	64

/**
 * struct rnbd_srv_offer_rules - what one write to export_device says
 * @access_mode: the most that a client may ask for
 * @device: path of the block device
 * @identity: what clients are told of the disk, NULL: nothing
 * @disk: rnbd_identity.disk it belongs to, 0: not opened yet
 * @partition: the same of rnbd_identity.partition
 * @text: what @names point into
 * @addrs: allowed addresses
 * @names: allowed sessions
 * @nr_addrs: length of @addrs
 * @nr_names: length of @names; with none of both everybody is allowed
 *
 * Constant, but for the identity.
 */
struct rnbd_srv_offer_rules {
	u8 access_mode;
	char *device;
	char *identity;
	u64 disk;
	u32 partition;
	char *text;
	struct sockaddr_storage *addrs;
	const char **names;
	unsigned int nr_addrs;
	unsigned int nr_names;
};

/**
 * struct rnbd_srv_offer - a device that is exported by name
 * @kobj: directory exports/<name>; its count is the count of this object
 * @entry: in the list, under the lock
 * @rules: under the lock
 */
struct rnbd_srv_offer {
	struct kobject kobj;
	struct list_head entry;
	struct rnbd_srv_offer_rules *rules;
};

/**
 * struct rnbd_srv_offers - the export list
 * @admin: held by those who change it
 * @lock: guards @list, @only and the rules; inside @admin, and inside of nothing else
 * @list: offers
 * @only: no name is looked up below dev_search_path; never goes back
 * @dir: directory ctl/exports
 */
struct rnbd_srv_offers {
	struct mutex admin;
	struct mutex lock;
	struct list_head list;
	bool only;
	struct kobject *dir;
};

static struct rnbd_srv_offers rnbd_srv_offers = {
	.admin = __MUTEX_INITIALIZER(rnbd_srv_offers.admin),
	.lock  = __MUTEX_INITIALIZER(rnbd_srv_offers.lock),
	.list  = LIST_HEAD_INIT(rnbd_srv_offers.list),
};

module_param_named(exports_only, rnbd_srv_offers.only, bool, 0444);
MODULE_PARM_DESC(exports_only,
		 "Clients get what export_device has exported and nothing else; Y from the first export on (default: N)");

static struct rnbd_srv_offer *rnbd_srv_offer_find(const char *name)
{
	struct rnbd_srv_offer *offer;

	lockdep_assert_held(&rnbd_srv_offers.lock);

	list_for_each_entry(offer, &rnbd_srv_offers.list, entry)
		if (!strcmp(kobject_name(&offer->kobj), name))
			return offer;
	return NULL;
}

static void rnbd_srv_offer_rules_free(struct rnbd_srv_offer_rules *rules)
{
	if (!rules)
		return;
	kvfree(rules->addrs);
	kvfree(rules->names);
	kfree(rules->text);
	kfree(rules->identity);
	kfree(rules->device);
	kfree(rules);
}

static struct rnbd_srv_offer_rules *rnbd_srv_offer_rules_alloc(const struct rnbd_offer *offer)
{
	struct rnbd_srv_offer_rules *rules;
	unsigned int nr = 1;
	const char *c;

	rules = kzalloc(sizeof(*rules), GFP_KERNEL);
	if (!rules)
		return NULL;
	rules->access_mode = offer->access_mode;
	rules->device = kstrdup(offer->device, GFP_KERNEL);
	if (!rules->device)
		goto err_free;
	rules->identity = offer->identity ? kstrdup(offer->identity, GFP_KERNEL) : NULL;
	if (offer->identity && !rules->identity)
		goto err_free;
	if (!offer->clients)
		return rules;
	for (c = offer->clients; *c; c++)
		nr += *c == ',';
	rules->text = kstrdup(offer->clients, GFP_KERNEL);
	rules->addrs = kvcalloc(nr, sizeof(*rules->addrs), GFP_KERNEL);
	rules->names = kvcalloc(nr, sizeof(*rules->names), GFP_KERNEL);
	if (!rules->text || !rules->addrs || !rules->names)
		goto err_free;
	return rules;

err_free:
	rnbd_srv_offer_rules_free(rules);
	return NULL;
}

/* One address, or one name of a session. */
static int rnbd_srv_offer_add_client(struct rnbd_srv_offer_rules *rules, const char *client)
{
	struct rtrs_addr addr = { .dst = &rules->addrs[rules->nr_addrs] };
	size_t len = strlen(client);

	if (!strncmp(client, "ip:", 3) || !strncmp(client, "gid:", 4)) {
		/* Two with an '@' between them would be a path. */
		if (strchr(client, '@') || rtrs_addr_to_sockaddr(client, len, 0, &addr))
			goto err_refuse;
		rules->nr_addrs++;
		return 0;
	}
	if (!len || len >= NAME_MAX + 1 || strpbrk(client, "/."))
		goto err_refuse;
	rules->names[rules->nr_names++] = client;
	return 0;

err_refuse:
	pr_err("export_device: clients=\"%*pE\": expected ip:<IPv4 or IPv6 address>, gid:<GID>, or the name of a session, 1 to %d characters without '/' and '.'\n",
	       RNBD_SRV_STR(client), NAME_MAX);
	return -EINVAL;
}

static struct rnbd_srv_offer_rules *rnbd_srv_offer_rules_create(const struct rnbd_offer *offer)
{
	struct rnbd_srv_offer_rules *rules;
	char *rest, *client;
	int ret;

	rules = rnbd_srv_offer_rules_alloc(offer);
	if (!rules)
		return ERR_PTR(-ENOMEM);
	rest = rules->text;
	while ((client = strsep(&rest, ","))) {
		ret = rnbd_srv_offer_add_client(rules, client);
		if (ret) {
			rnbd_srv_offer_rules_free(rules);
			return ERR_PTR(ret);
		}
	}
	return rules;
}

static struct rnbd_srv_offer *rnbd_srv_kobj_to_offer(struct kobject *kobj)
{
	return container_of(kobj, struct rnbd_srv_offer, kobj);
}

static ssize_t device_show(struct kobject *kobj, struct kobj_attribute *attr, char *page)
{
	guard(mutex)(&rnbd_srv_offers.lock);
	return sysfs_emit(page, "%s\n", rnbd_srv_kobj_to_offer(kobj)->rules->device);
}
static struct kobj_attribute rnbd_srv_offer_device = __ATTR_RO(device);

static ssize_t access_mode_show(struct kobject *kobj, struct kobj_attribute *attr, char *page)
{
	u8 access_mode;

	guard(mutex)(&rnbd_srv_offers.lock);
	access_mode = rnbd_srv_kobj_to_offer(kobj)->rules->access_mode;
	return sysfs_emit(page, "%s\n", rnbd_access_mode_name(access_mode));
}
static struct kobj_attribute rnbd_srv_offer_access_mode = __ATTR_RO(access_mode);

static ssize_t clients_show(struct kobject *kobj, struct kobj_attribute *attr, char *page)
{
	const struct rnbd_srv_offer_rules *rules;
	char text[RNBD_SRV_ADDR_LEN];
	unsigned int i;
	int len = 0;

	guard(mutex)(&rnbd_srv_offers.lock);
	rules = rnbd_srv_kobj_to_offer(kobj)->rules;
	for (i = 0; i < rules->nr_addrs; i++) {
		sockaddr_to_str((const struct sockaddr *)&rules->addrs[i], text, sizeof(text));
		len += sysfs_emit_at(page, len, "%s%s", len ? "," : "", text);
	}
	for (i = 0; i < rules->nr_names; i++)
		len += sysfs_emit_at(page, len, "%s%s", len ? "," : "", rules->names[i]);
	return len + sysfs_emit_at(page, len, "\n");
}
static struct kobj_attribute rnbd_srv_offer_clients = __ATTR_RO(clients);

static ssize_t identity_show(struct kobject *kobj, struct kobj_attribute *attr, char *page)
{
	const char *identity;

	guard(mutex)(&rnbd_srv_offers.lock);
	identity = rnbd_srv_kobj_to_offer(kobj)->rules->identity;
	return identity ? sysfs_emit(page, "%s\n", identity) : sysfs_emit(page, "\n");
}
static struct kobj_attribute rnbd_srv_offer_identity_attr = __ATTR_RO(identity);

static struct attribute *rnbd_srv_offer_attrs[] = {
	&rnbd_srv_offer_device.attr,
	&rnbd_srv_offer_access_mode.attr,
	&rnbd_srv_offer_clients.attr,
	&rnbd_srv_offer_identity_attr.attr,
	NULL
};
ATTRIBUTE_GROUPS(rnbd_srv_offer);

static void rnbd_srv_offer_release(struct kobject *kobj)
{
	struct rnbd_srv_offer *offer = rnbd_srv_kobj_to_offer(kobj);

	rnbd_srv_offer_rules_free(offer->rules);
	kfree(offer);
	rnbd_srv_object_put();
}

static const struct kobj_type rnbd_srv_offer_type = {
	.sysfs_ops	= &kobj_sysfs_ops,
	.default_groups	= rnbd_srv_offer_groups,
	.release	= rnbd_srv_offer_release,
};

/* Takes over the rules, whatever comes of it. */
static int rnbd_srv_offer_create(const char *name, struct rnbd_srv_offer_rules *rules)
{
	struct rnbd_srv_offer *offer;
	int ret;

	lockdep_assert_held(&rnbd_srv_offers.admin);

	offer = kzalloc(sizeof(*offer), GFP_KERNEL);
	if (!offer) {
		rnbd_srv_offer_rules_free(rules);
		return -ENOMEM;
	}
	offer->rules = rules;
	rnbd_srv_object_get();
	ret = kobject_init_and_add(&offer->kobj, &rnbd_srv_offer_type, rnbd_srv_offers.dir, "%s", name);
	if (ret) {
		kobject_put(&offer->kobj);
		return ret;
	}
	guard(mutex)(&rnbd_srv_offers.lock);
	list_add_tail(&offer->entry, &rnbd_srv_offers.list);
	WRITE_ONCE(rnbd_srv_offers.only, true);
	return 0;
}

/* Give an export that exists other rules, all at once.  Returns the old ones, NULL if there is none. */
static struct rnbd_srv_offer_rules *rnbd_srv_offer_replace(const char *name,
							   struct rnbd_srv_offer_rules *rules)
{
	struct rnbd_srv_offer *offer;

	guard(mutex)(&rnbd_srv_offers.lock);
	offer = rnbd_srv_offer_find(name);
	if (!offer)
		return NULL;
	swap(offer->rules, rules);
	return rules;
}

static int rnbd_srv_offer_apply(const struct rnbd_offer *offer)
{
	struct rnbd_srv_offer_rules *rules, *old;
	int ret = 0;

	rules = rnbd_srv_offer_rules_create(offer);
	if (IS_ERR(rules))
		return PTR_ERR(rules);
	guard(mutex)(&rnbd_srv_offers.admin);
	old = rnbd_srv_offer_replace(offer->name, rules);
	if (old)
		rnbd_srv_offer_rules_free(old);
	else
		ret = rnbd_srv_offer_create(offer->name, rules);
	return ret;
}

static int rnbd_srv_offer_delete(const struct rnbd_offer *what)
{
	struct rnbd_srv_offer *offer;

	guard(mutex)(&rnbd_srv_offers.admin);
	scoped_guard(mutex, &rnbd_srv_offers.lock) {
		offer = rnbd_srv_offer_find(what->name);
		if (offer)
			list_del(&offer->entry);
	}
	if (!offer) {
		pr_err("unexport_device: name=\"%*pE\": expected the name of an export\n",
		       RNBD_SRV_STR(what->name));
		return -ENOENT;
	}
	kobject_del(&offer->kobj);
	kobject_put(&offer->kobj);
	return 0;
}

/* What was written to a file, which has to be done. */
static int rnbd_srv_offer_write(const char *buf, const char *file, bool name_only,
				int (*act)(const struct rnbd_offer *offer))
{
	struct rnbd_options_error error;
	struct rnbd_offer offer;
	char *text;
	int ret;

	text = kstrdup(buf, GFP_KERNEL);
	if (!text)
		return -ENOMEM;
	ret = rnbd_offer_parse(text, name_only, &offer, &error);
	if (ret && error.value)
		pr_err("%s: %*pE=\"%*pE\": expected %s\n", file, RNBD_SRV_STR(error.key),
		       RNBD_SRV_STR(error.value), error.expected);
	else if (ret)
		pr_err("%s: %*pE: expected %s\n", file, RNBD_SRV_STR(error.key), error.expected);
	else
		ret = act(&offer);
	kfree(text);
	return ret;
}

/**
 * rnbd_srv_offer_set() - export a device by name, or change how it is exported
 * @buf: what was written to export_device
 *
 * Context: process, may sleep; takes the mutex and the lock of the export list.
 * Return: 0; -EINVAL for text that is wrong, which the log explains; -ENOMEM or an error of sysfs.
 */
int rnbd_srv_offer_set(const char *buf)
{
	return rnbd_srv_offer_write(buf, "export_device", false, rnbd_srv_offer_apply);
}

/**
 * rnbd_srv_offer_remove() - export a device no longer
 * @buf: what was written to unexport_device
 *
 * Context: process, may sleep; takes the mutex and the lock of the export list, and waits for readers
 * of the export's files.
 * Return: 0; -EINVAL for text that is wrong, -ENOENT for a name that is not exported, both of which the
 * log explains; -ENOMEM.
 */
int rnbd_srv_offer_remove(const char *buf)
{
	return rnbd_srv_offer_write(buf, "unexport_device", true, rnbd_srv_offer_delete);
}

/* Is the client of a session on the list? */
static bool rnbd_srv_offer_allows(const struct rnbd_srv_offer_rules *rules, struct rnbd_srv_sess *sess)
{
	struct sockaddr_storage other;
	char text[RNBD_SRV_ADDR_LEN];
	unsigned int i;

	if (!rules->nr_addrs && !rules->nr_names)
		return true;
	for (i = 0; i < rules->nr_names; i++)
		if (!strcmp(rules->names[i], sess->name))
			return true;
	if (rtrs_srv_comes_from(sess->rtrs, rules->addrs, rules->nr_addrs, &other))
		return true;
	if (!rnbd_srv_sess_may_log(sess))
		return false;
	sockaddr_to_str((const struct sockaddr *)&other, text, sizeof(text));
	pr_warn("session %*pE: a path comes from %s, and neither that nor the name of the session is in clients\n",
		RNBD_SRV_STR(sess->name), text);
	return false;
}

/**
 * rnbd_srv_offer_decides() - look up a device that a client asks for
 * @dev: the device, with session, name and access mode, not open yet
 * @path: PATH_MAX bytes, filled in if it may be opened
 * @verdict: set if the list decides: RNBD_SRV_OK or why not
 *
 * Context: process, may sleep; takes the lock of the export list.
 * Return: true if the list decides, false if the name is one below dev_search_path.
 */
bool rnbd_srv_offer_decides(const struct rnbd_srv_dev *dev, char *path,
			    enum rnbd_srv_verdict *verdict)
{
	const struct rnbd_srv_offer *offer;

	guard(mutex)(&rnbd_srv_offers.lock);
	if (!rnbd_srv_offers.only)
		return false;
	offer = rnbd_srv_offer_find(dev->name);
	if (!offer)
		*verdict = RNBD_SRV_NOT_EXPORTED;
	else if (!rnbd_srv_offer_allows(offer->rules, dev->sess))
		*verdict = RNBD_SRV_NOT_CLIENT;
	else
		*verdict = rnbd_srv_check_offer(offer->rules->access_mode, dev->access_mode);
	if (*verdict == RNBD_SRV_OK)
		strscpy(path, offer->rules->device, PATH_MAX);
	return true;
}

/**
 * rnbd_srv_offer_identity() - what the export list says of a disk
 * @dev: the device, with session and name
 * @id: identity of the disk that was opened; @given of it is set if the list has one
 *
 * Context: process, may sleep; takes the lock of the export list.
 */
void rnbd_srv_offer_identity(const struct rnbd_srv_dev *dev, struct rnbd_identity *id)
{
	struct rnbd_srv_offer_rules *rules;
	struct rnbd_srv_offer *offer;

	guard(mutex)(&rnbd_srv_offers.lock);
	offer = rnbd_srv_offer_find(dev->name);
	rules = offer ? offer->rules : NULL;
	if (!rules || !rules->identity)
		return;
	if (!rules->disk) {
		rules->disk = id->disk;
		rules->partition = id->partition;
	}
	if (rules->disk == id->disk && rules->partition == id->partition) {
		strscpy(id->given, rules->identity, sizeof(id->given));
		return;
	}
	/* Once for each time it is given. */
	pr_warn("export \"%*pE\": identity=%s was that of another disk, or of this one before it was set up again; it is not used until it is given again\n",
		RNBD_SRV_STR(dev->name), rules->identity);
	kfree(rules->identity);
	rules->identity = NULL;
}

/**
 * rnbd_srv_offers_init() - prepare for the export list
 * @dir: directory the exports appear in; stays until rnbd_srv_offers_exit()
 *
 * Context: process, before the first write to export_device.
 */
void rnbd_srv_offers_init(struct kobject *dir)
{
	rnbd_srv_offers.dir = dir;
}

/**
 * rnbd_srv_offers_exit() - empty the export list
 *
 * Context: process, after the last client and the last write to export_device.
 */
void rnbd_srv_offers_exit(void)
{
	struct rnbd_srv_offer *offer, *next;

	list_for_each_entry_safe(offer, next, &rnbd_srv_offers.list, entry) {
		list_del(&offer->entry);
		kobject_del(&offer->kobj);
		kobject_put(&offer->kobj);
	}
}
