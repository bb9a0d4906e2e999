#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Usage: kdoc.sh <farm> <release>
#
# scripts/kernel-doc has no complaint, and every function that is visible
# outside its file has a kernel-doc comment at its definition.

farm=$1
. "$(dirname "$0")/objects.sh"

kernel_doc=$(realpath "/lib/modules/$2/build")/scripts/kernel-doc
[ -e "$kernel_doc" ] || kernel_doc=$(realpath "/lib/modules/$2/source")/scripts/kernel-doc
[ -e "$kernel_doc" ] || { echo "no scripts/kernel-doc in the headers of $2"; exit 1; }

{
	find drivers include -name '*.[ch]' ! -path '*/tests/*' ! -path 'include/compat/*' |
		sort | xargs -r "$kernel_doc" -none 2>&1 | grep -E 'warning|error'
	for mod in $modules; do
		[ -e "$farm/$mod.mod" ] || continue
		for obj in $(objects "$farm" "$mod"); do
			src=${obj%.o}.c
			nm "$farm/$obj" | awk 'NF == 3 && $2 == "T" { print $3 }' |
			grep -Ev '^(init_module|cleanup_module|__(traceiter|probestub|SCT__|pfx|cfi).*)$' |
			while read -r func; do
				grep -Eq "^ \* $func\(\)? ?-|^ \* $func\(\) -" "$src" ||
					echo "$src: $func() has no kernel-doc"
			done
		done
	done
} | sort -u | { ! grep .; }
