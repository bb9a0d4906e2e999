#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Every file says GPL-2.0-only in one of its first two lines, in the comment
# style of its kind.

git ls-files -co --exclude-standard |
grep -Ev '^LICENSE$|^selftests/config$|\.(svg|png|json|golden)$' |
while read -r file; do
	[ -f "$file" ] || continue
	case $file in
	*.c)	want='// SPDX-License-Identifier: GPL-2.0-only' ;;
	*.h)	want='/* SPDX-License-Identifier: GPL-2.0-only' ;;
	*)	want='SPDX-License-Identifier: GPL-2.0-only' ;;
	esac
	head -n 3 "$file" | grep -Fq "$want" || echo "$file: no '$want'"
done | { ! grep .; }
