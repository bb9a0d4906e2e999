/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a value may be, for options and for configuration files: NULL, or the rest of a sentence that
 * says what was expected.
 */
#ifndef RNBD_VALUE_H
#define RNBD_VALUE_H

#include "rnbd.h"

#define MAX_NAME		255
#define MAX_EXPORT		254
#define MAX_IDENTITY		127
#define MAX_PORT		65535
#define MAX_POLL_QUEUES		2147483647
#define MAX_NO_PATH_TIMEOUT	86400
#define MAX_REQUEST_TIMEOUT	86400
/* Of a map that names none: a server reboots in this time, and file systems live on. */
#define NO_PATH_TIMEOUT		"600"

const char *value_number(const char *text, long min, long max);
const char *value_session(const char *text);
const char *value_access(const char *text);
const char *value_identity(const char *text);
const char *value_export(const char *text);
const char *value_address(const char *text);
const char *value_client(const char *text);
bool client_is_address(const char *text);
const char *address_text(const char *text);

#endif
