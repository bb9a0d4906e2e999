/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sample in the formats of OpenMetrics and of Prometheus.
 */
#ifndef RNBD_METRICS_H
#define RNBD_METRICS_H

#include "sample.h"

enum status metrics_write(const struct sample *sample, const struct args *args);

#endif
