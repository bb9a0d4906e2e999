#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A kernel that the modules cannot be built for: what make says names what is missing, and where to get it. No VM.
#
# vm: timeout=300 cores=1

set -u

top=$(cd "$(dirname "$0")/../../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
nr=0 failed=0

# refused <name> <what must be said, a regular expression> <command>...
refused() {
	local name="$1" wanted="$2" out
	shift 2
	nr=$((nr + 1))
	if out=$("$@" 2>&1) || ! printf '%s\n' "$out" | grep -Eq "$wanted"; then
		failed=$((failed + 1))
		printf '%s\n' "wanted an error with: $wanted" "$out" | sed 's/^/# /'
		echo "not ok $nr $name"
	else
		echo "ok $nr $name"
	fi
}

# Makes what tools/kernel says of a kernel something else.
pretend() {
	cp -a "$top/tools" "$tmp/tools"
	ln -sfn "$top/drivers" "$top/include" "$top/Kbuild" "$tmp/"
	mkdir -p "$tmp/headers/include/generated"
	echo '#define UTS_RELEASE "9.9.9-other"' >"$tmp/headers/include/generated/utsrelease.h"
	printf '#!/bin/sh\necho "9.9.8-asked %s"\n' "$tmp/headers" >"$tmp/tools/kernel"
	"$tmp/tools/kbuild" -b "$tmp/build" -k 9.9.8-asked -- modules
}

compiler() {
	printf '#!/bin/sh\necho "%s: error: unrecognized command-line option" >&2\nexit 1\n' "$tmp/gcc-3" >"$tmp/gcc-3"
	chmod 755 "$tmp/gcc-3"
	$build CC="$tmp/gcc-3"
}

"$top/tools/kbuild" -c "$tmp/src"
found=$("$top/tools/kernel" build "${KVER:-6.12}") || exit 1
rel=${found%% *} where=${found#* }
re=$(echo "$rel" | sed "s/[.+]/[&]/g")
build="$top/tools/kernel run $rel make --no-print-directory -C ${where%% *} M=$tmp/src modules"

echo "KTAP version 1"
echo "1..8"
refused "a series that no Debian has" 'no Debian .* has a kernel of series 4\.19' "$top/tools/kernel" build 4.19
refused "no such name" 'no such kernel: frobnicate is no release .* and none of <series>, newest' \
	"$top/tools/kernel" build frobnicate
refused "a release without headers" 'no headers for 6\.12\.1-mine-amd64 in /lib/modules/.*/build' \
	"$top/tools/kernel" build 6.12.1-mine-amd64
refused "headers of another release" 'has the headers of 9\.9\.9-other: install those of 9\.9\.8-asked' pretend
refused "without RDMA" "rtrs: $re is configured without INFINIBAND: take a kernel with RDMA .*linux-image-amd64" \
	$build CONFIG_INFINIBAND=
refused "without a connection manager" "rtrs: $re is configured without INFINIBAND_ADDR_TRANS" \
	$build CONFIG_INFINIBAND_ADDR_TRANS=
refused "a compiler that is too old" "rtrs: .*gcc-3 cannot compile for $re, whose compiler is .*gcc.*unrecognized" compiler
refused "no compiler" "rtrs: .*gcc-none cannot compile for $re.* Install that compiler" $build CC=gcc-none
[ "$failed" -eq 0 ]
