#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Usage: kdoc.sh <farm> <release>
#
# scripts/kernel-doc has no complaint, and every function that is visible
# outside its file has a kernel-doc comment at its definition.

farm=$1
. "$(dirname "$0")/objects.sh"

# Headers of another Debian release are below a directory of the cache, with links as if that were the root.
found=$(tools/kernel build "$2") || exit 1
where=${found#* }
root=${where#* }
for link in build source; do
	dir=$(readlink "$root/lib/modules/$2/$link") || continue
	case $dir in /*) ;; *) dir=/lib/modules/$2/$dir ;; esac
	kernel_doc=$root$dir/scripts/kernel-doc
	[ ! -e "$kernel_doc" ] || break
done
[ -e "${kernel_doc:-}" ] || { echo "no scripts/kernel-doc in the headers of $2"; exit 1; }

# undocumented <farm> <module> <where its sources are>
undocumented() {
	local obj src
	[ -e "$1/$2.mod" ] || return 0
	for obj in $(objects "$1" "$2"); do
		src=$3${obj%.o}.c
		nm "$1/$obj" | awk 'NF == 3 && $2 == "T" { print $3 }' |
		grep -Ev '^(init_module|cleanup_module|__(traceiter|probestub|SCT__|pfx|cfi).*)$' |
		while read -r func; do
			grep -Eq "^ \* $func\(\)? ?-|^ \* $func\(\) -" "$src" ||
				echo "$src: $func() has no kernel-doc"
		done
	done
}

{
	find drivers include selftests/modules samples -name '*.[ch]' ! -path '*/tests/*' ! -path 'include/compat/*' |
		sort | xargs -r "$kernel_doc" -none 2>&1 | grep -E 'warning|error'
	for mod in $modules; do
		undocumented "$farm" "$mod" ''
	done
	undocumented "$farm/../selftests" rtrs-peer selftests/modules/
} | sort -u | { ! grep .; }
