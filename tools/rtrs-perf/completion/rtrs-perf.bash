# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Completion of rtrs-perf for bash: the tool itself knows what fits.

_rtrs_perf() {
	local line typed word before
	local -a words
	# Bash splits words at =, : and @; the tool wants them whole.
	line=${COMP_LINE:0:COMP_POINT}
	read -ra words <<<"$line"
	[[ $line != *[[:blank:]] ]] || words+=("")
	typed=${words[-1]}
	# And bash replaces only what is behind the last of these, a @ included.
	word=${typed##*[=:]}
	[[ $word != *@* ]] || word=@${word##*@}
	before=${typed%"$word"}
	COMPREPLY=()
	while IFS= read -r line; do
		[[ $line == "$typed"* ]] || continue
		COMPREPLY+=("${line#"$before"}")
	done < <(rtrs-perf complete "${words[@]:1}" 2>/dev/null)
	[[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace
}

complete -F _rtrs_perf rtrs-perf
