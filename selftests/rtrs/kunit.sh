#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The unit tests of the pure code, in a kernel: what `make check` runs in user space
# with a stand-in for KUnit. Needs a kernel with KUnit; the debug kernel is one.
#
# vm: smp=1 timeout=120

. "$(dirname "$0")/../lib.sh"

RESULTS=$DEBUGFS/kunit
SUITES=21

# suites: those of our modules that have run
suites() {
	(cd $RESULTS && grep -l '# module: r[tn]\(rs\|rs_perf\|bd\)_kunit' ./*/results) | cut -d/ -f2
}

# cases <suite>: "ok <case>" or "not ok <case>" for each, without what they are made of
cases() {
	sed -n 's/^    \(ok\|not ok\) [0-9]* \([^ ]*\).*/\1 \2/p' $RESULTS/"$1"/results
}

# whole <suite>: as many cases as it planned
whole() {
	is "$(sed -n 's/^    1\.\.//p' $RESULTS/"$1"/results)" "$(cases "$1" | wc -l)"
}

modprobe -n -q rtrs-kunit || skip_all "needs rtrs-kunit (make test-modules on a kernel with KUnit)"
must debugfs_up
defer "module_gone rtrs-kunit rtrs-perf-kunit rnbd-kunit"
must modprobe rtrs-kunit
must modprobe rtrs-perf-kunit
must modprobe rnbd-kunit

ktap_plan $((1 + SUITES + $(for suite in $(suites); do cases "$suite"; done | wc -l)))
check_eq "suites" "$(suites | wc -l)" $SUITES
for suite in $(suites); do
	check_here "$suite: all cases ran" whole "$suite"
	# shellcheck disable=SC2046 # two or three words a case
	set -- $(cases "$suite" | sed 's/^not ok/bad/')
	while [ $# -gt 0 ]; do
		check "$suite: $2" [ "$1" = ok ]
		shift 2
	done
done

ktap_end
