# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
#
# objects.sh - sourced by checks that read the built objects.

# objects <farm> <module>: its objects in link order, relative to the farm
objects() {
	tr ' ' '\n' <"$1/$2.mod" | sed "s|^$(realpath "$1")/||" | grep '\.o$'
}

# api_functions: what include/rdma/rtrs.h, rtrs-nl.h and rtrs-job.h declare, one name per line; not what they define inline
api_functions() {
	sed -n '/^static/d; s/^[a-z].*[ *]\(\(rtrs_\|sockaddr_\)[a-z0-9_]*\)(.*/\1/p' \
		include/rdma/rtrs.h include/rdma/rtrs-nl.h include/rdma/rtrs-job.h |
		grep -v '^rtrs_[a-z_]*_t$' | sort -u
}

modules='rtrs-core rtrs-client rtrs-server rnbd-client rnbd-server rtrs-perf-client rtrs-perf-server'
