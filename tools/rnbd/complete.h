/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef RNBD_COMPLETE_H
#define RNBD_COMPLETE_H

#include "rnbd.h"

struct words complete_value(char letter);
struct words complete_words(char kind, const struct words *before);

#endif
