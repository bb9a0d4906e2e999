#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Usage: headers.sh <build directory of the release> <release>
#
# Each header compiles alone, with the kernel's flags: it includes all it needs.
# Trace headers are read by <trace/define_trace.h> in a way of their own.

dir=$1/headers
kernel=/lib/modules/$2/build

mkdir -p "$dir/one" && ln -sfn "$PWD/include" "$dir/include" &&
	ln -sfn "$PWD/drivers" "$dir/drivers" || exit 1
{
	grep -v 'obj-m' Kbuild
	echo 'obj-m := all.o'
	printf 'all-y :='
	find include drivers -name '*.h' ! -path 'include/compat/*' ! -name '*trace*.h' | sort |
	while read -r header; do
		name=$(echo "$header" | tr '/.-' '___')
		# Rewritten only when new, so that an unchanged one is not compiled again.
		[ -e "$dir/one/$name.c" ] || printf '#include "../%s"\n' "$header" >"$dir/one/$name.c"
		printf ' one/%s.o' "$name"
	done
	echo
} >"$dir/Kbuild"
make -s -C "$kernel" M="$(realpath "$dir")" KCFLAGS=-Werror -j"$(nproc)" all.o 2>&1 ||
	{ echo "a header does not compile alone"; exit 1; }
