#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Who may include whom. Objects are checked by layers.sh; this is for what
# leaves no symbol: types, macros and inline functions.

rtrs=drivers/infiniband/ulp/rtrs
perf=drivers/infiniband/ulp/rtrs-perf
rnbd=drivers/block/rnbd

# forbid <directory> <extended regular expression of include lines> <why>
forbid() {
	find "$1" -name '*.[ch]' 2>/dev/null | sort | xargs -r grep -nHE "^#include.*($2)" |
		sed "s|\$|   <- $3|"
}

# allow_only <directory> <extended regular expression of include lines> <why>
allow_only() {
	find "$1" -name '*.[ch]' 2>/dev/null | sort | xargs -r grep -nHE '^#include' |
		grep -Ev ":#include ($2)" | sed "s|\$|   <- $3|"
}

{
	pure='"[a-z_]+\.h"|<rtrs/rtrs_(format|timing)\.h>|<rnbd/rnbd_format\.h>'
	for dir in $rtrs/proto $perf/proto $rnbd/proto; do
		allow_only $dir "$pure" "proto includes proto_env.h, formats, rtrs_timing.h and its own" |
			grep -v '/proto_env\.h:'
	done
	forbid $rtrs/verbs '/(core|clt|srv)/|rdma/rtrs(-nl|-job)?\.h|rnbd' "verbs is below these"
	forbid $rtrs/core '/(clt|srv)/|rnbd' "core is below these"
	forbid $rtrs/clt '/srv/|rnbd' "the client does not know these"
	forbid $rtrs/srv '/clt/|rnbd' "the server does not know these"
	for dir in $perf $rnbd; do
		forbid $dir 'ulp/rtrs|rtrs/rtrs_format|/verbs/' "only rdma/rtrs.h, rtrs-nl.h and rtrs-job.h of the transport"
		forbid $dir/clt '/srv/' "the client does not know the server"
		forbid $dir/srv '/clt/' "the server does not know the client"
	done
	forbid samples '[/"<](rtrs|rnbd)/|rtrs-srv|\.\./' "a sample has rdma/rtrs.h and its own"
	for dir in $rtrs $perf $rnbd; do
		allow_only $dir/tests '<kunit/test\.h>|"\.\./proto/[a-z_]+\.h"|<(rtrs|rnbd)/[a-z_]+\.h>' \
			"tests see proto only"
	done
} | { ! grep .; }
