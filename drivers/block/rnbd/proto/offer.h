/* SPDX-License-Identifier: GPL-2.0-only */
/* Text written to the server's export_device and unexport_device: split, check, say what is wrong. */
#ifndef _RNBD_OFFER_H
#define _RNBD_OFFER_H

#include "options.h"

/**
 * struct rnbd_offer - a device that is exported by name
 * @name: what clients call it
 * @device: path of the block device, absolute
 * @clients: who may open it, separated by commas, not yet looked at; NULL: everybody
 * @identity: name that the device has wherever it is attached, NULL: none was given
 * @access_mode: the most that a client may ask for
 *
 * The strings point into the text that was parsed.
 */
struct rnbd_offer {
	const char *name;
	const char *device;
	char *clients;
	const char *identity;
	enum rnbd_access_mode access_mode;
};

int rnbd_offer_parse(char *text, bool name_only, struct rnbd_offer *offer,
		     struct rnbd_options_error *error);

#endif /* _RNBD_OFFER_H */
