#compdef rtrs-perf
# SPDX-License-Identifier: GPL-2.0-only
#
# Completion of rtrs-perf for zsh: the tool itself knows what fits.

_rtrs_perf() {
	local -a candidates
	candidates=(${(f)"$(rtrs-perf complete "${(@)words[2,CURRENT]}" 2>/dev/null)"})
	compadd -S '' -- ${(M)candidates:#*=}
	compadd -- ${candidates:#*=}
}

_rtrs_perf "$@"
