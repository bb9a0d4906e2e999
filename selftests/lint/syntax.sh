#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Scripts parse; no white space at line ends, no space before a tab in C.

bad=$(mktemp)
trap 'rm -f "$bad"' EXIT

scripts=$(git ls-files -co --exclude-standard | while read -r file; do
	[ -f "$file" ] && head -n 1 "$file" | grep -q '^#!/bin/sh' && echo "$file"
done)
for file in $scripts selftests/*.sh; do
	sh -n "$file" 2>>"$bad"
done
git ls-files -co --exclude-standard '*.c' '*.h' '*.sh' '*.py' '*.rst' 'Makefile' 'Kbuild*' |
while read -r file; do
	[ ! -f "$file" ] || grep -nHE '[[:blank:]]$' "$file"
done >>"$bad"
if command -v python3 >/dev/null; then
	python3 - $(git ls-files -co --exclude-standard '*.py') selftests/vm/run <<'PY' 2>>"$bad" || echo "Python above" >>"$bad"
import ast, sys
for name in sys.argv[1:]:
    with open(name, encoding="utf-8") as file:
        ast.parse(file.read(), name)
PY
fi
! grep . "$bad"
