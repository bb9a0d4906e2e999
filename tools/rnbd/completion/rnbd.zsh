#compdef rnbd
# SPDX-License-Identifier: GPL-2.0-only
#
# Completion of rnbd for zsh: the tool itself knows what fits.

_rnbd() {
	local -a candidates
	candidates=(${(f)"$(rnbd complete "${(@Q)words[2,CURRENT]}" 2>/dev/null)"})
	compadd -S '' -- ${(M)candidates:#*=}
	compadd -- ${candidates:#*=}
}

_rnbd "$@"
