/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef RNBD_ARGS_H
#define RNBD_ARGS_H

#include "rnbd.h"

const struct command *args_command(char *const *argv, int *used);
enum status args_parse(const struct command *cmd, char *const *argv, struct args *args);
void args_help(const struct command *cmd);
void args_complete(char *const *argv);

#endif
