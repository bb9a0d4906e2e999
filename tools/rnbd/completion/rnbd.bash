# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Completion of rnbd for bash: the tool itself knows what fits.

_rnbd() {
	local blank='[[:blank:]]' char='([^[:blank:]\\]|\\.)' line typed word before quoted
	local -a words
	COMPREPLY=()
	# Bash splits words at =, : and @; the tool wants them whole, and without the backslashes that are put before
	# other characters below.
	line=${COMP_LINE:0:COMP_POINT}
	[[ $line =~ ^($char*$blank+)*($char*\\?)$ ]] || return
	typed=${BASH_REMATCH[3]}
	# shellcheck disable=SC2162 # without -r for that reason
	read -a words <<<"${line%"$typed"}"
	# And bash replaces only what is behind the last of these, a @ included.
	word=${typed##*[=:]}
	[[ $word != *@* ]] || word=@${word##*@}
	before=${typed%"$word"}
	while IFS= read -r line; do
		# Who connects to a server chooses a name, which is not to be a command of this shell.
		printf -v quoted %q "$line"
		[[ $quoted == "$typed"* && $quoted != "$'"* ]] || continue
		COMPREPLY+=("${quoted#"$before"}")
	done < <(rnbd complete "${words[@]:1}" "$typed" 2>/dev/null)
	[[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace
}

complete -F _rnbd rnbd
