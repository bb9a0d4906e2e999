#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Nothing unfinished, nothing commented out, no BUG, no extern in a .c file.

c_files() {
	git ls-files -co --exclude-standard 'drivers/*.c' 'drivers/*.h' 'include/*.h' 'selftests/modules/*.[ch]' \
		'samples/*.[ch]'
}

bad=$(mktemp)
trap 'rm -f "$bad"' EXIT

git ls-files -co --exclude-standard | grep -v '^selftests/lint/todo\.sh$' |
while read -r file; do
	[ ! -f "$file" ] || grep -InHE '\b(TODO|FIXME|XXX|HACK)\b' "$file"
done >"$bad"
for file in $(c_files); do
	[ -f "$file" ] || continue
	grep -nHE '\bBUG(_ON)?\(|^#if 0|^#ifdef NOT' "$file"
	case $file in *.c) grep -nHE '^extern\b' "$file" ;; esac
done >>"$bad"
! grep . "$bad"
