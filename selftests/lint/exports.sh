#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Usage: exports.sh <farm>
#
# What include/rdma/rtrs.h, rtrs-nl.h and rtrs-job.h declare is exported. rtrs-client and
# rtrs-server export nothing else, rtrs-core nothing else that another module does
# not use, rnbd and rtrs-perf nothing. What these declare is exported plainly, as
# mainline does, the rest is GPL-only.

farm=$1
. "$(dirname "$0")/objects.sh"

symvers=$farm/Module.symvers

# exported_by <extended regular expression for the module>
exported_by() {
	awk -F'\t' -v mod="/$1\$" '("/" $3) ~ mod { print $2 }' "$symvers" | sort -u
}

{
	[ -s "$symvers" ] || echo "no $symvers"
	awk -F'\t' '$3 ~ /(rnbd|rtrs-perf)-/ { print $2 ": exported by " $3 }' "$symvers"
	api_functions >"$farm/.api"
	awk -F'\t' 'NR == FNR { api[$1] = 1; next }
		{ want = $2 in api ? "EXPORT_SYMBOL" : "EXPORT_SYMBOL_GPL" }
		$4 != want { print $2 ": not " want }' "$farm/.api" "$symvers"
	exported_by 'rtrs-(core|client|server)' | comm -23 "$farm/.api" - |
		sed 's|$|: declared in include/rdma, not exported|'
	exported_by 'rtrs-(client|server)' | comm -13 "$farm/.api" - |
		sed 's|$|: exported, not declared in include/rdma|'
	for mod in rtrs-client rtrs-server; do
		nm -u "$farm/$mod.o" | awk '{ print $2 }'
	done | sort -u - "$farm/.api" >"$farm/.used"
	exported_by rtrs-core | comm -23 - "$farm/.used" |
		grep -Ev '^__(tracepoint|traceiter|SCK__|SCT__)' |
		sed 's/$/: exported by rtrs-core, used by nobody/'
} | { ! grep .; }
