#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Usage: layers.sh <farm of symlinks with the objects>
#
# Exact dependencies, from the objects: each undefined symbol is matched to the
# object that defines it. An edge is allowed
#   within a directory, to an object listed before it in Kbuild;
#   to a lower layer: proto < verbs < core < clt, srv; rnbd/proto < rnbd/clt, rnbd/srv, and so in rtrs-perf;
#   from rnbd and rtrs-perf to what include/rdma/rtrs.h, rtrs-nl.h and rtrs-job.h declare.
# So clt and srv never see each other, and no two files call each other.

farm=$1
. "$(dirname "$0")/objects.sh"

{
	api_functions | sed 's/^/api /'
	for mod in $modules; do
		[ -e "$farm/$mod.mod" ] || { echo "missing $mod"; continue; }
		for obj in $(objects "$farm" "$mod"); do
			echo "object $mod $obj"
			nm "$farm/$obj" | awk '
				NF == 2 && $1 == "U" { print "uses " $2 }
				NF == 3 && $2 ~ /[TDBRVW]/ { print "has " $3 }'
		done
	done
} | awk '
$1 == "missing" { print $2 ": not built"; next }
$1 == "api" { api[$2] = 1 }
$1 == "object" { obj = $3; mod = $2; rank[obj] = ++nr }
$1 == "has" && $2 !~ /^(init_module|cleanup_module|__this_module)$/ {
	if (!((mod, $2) in within))
		within[mod, $2] = obj
	anywhere[$2] = obj
}
$1 == "uses" { from[++edges] = obj; from_mod[edges] = mod; sym[edges] = $2 }

function layer(file) { sub(/\/[^\/]*$/, "", file); return file }
function allowed(a, b,   la, lb) {
	la = layer(a); lb = layer(b)
	if (la == lb)
		return rank[b] < rank[a]
	if (lb ~ /rtrs\/proto$/)
		return la ~ /rtrs\/(verbs|core|clt|srv)$/
	if (lb ~ /rtrs\/verbs$/)
		return la ~ /rtrs\/(core|clt|srv)$/
	if (lb ~ /rtrs\/core$/)
		return la ~ /rtrs\/(clt|srv)$/
	if (lb ~ /rtrs-perf\/proto$/)
		return la ~ /rtrs-perf\/(clt|srv)$/
	return lb ~ /rnbd\/proto$/ && la ~ /rnbd\/(clt|srv)$/
}

END {
	for (i = 1; i <= edges; i++) {
		a = from[i]
		b = ((from_mod[i], sym[i]) in within) ? within[from_mod[i], sym[i]] : anywhere[sym[i]]
		if (b == "" || a == b)
			continue
		if (a ~ /\/(rnbd|rtrs-perf)\// && b ~ /\/rtrs\// ? sym[i] in api : allowed(a, b))
			continue
		printf "%s uses %s of %s\n", a, sym[i], b
	}
}' | sort -u | { ! grep .; }
