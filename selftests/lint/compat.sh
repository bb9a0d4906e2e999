#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Kernel versions and probed features are known in include/compat alone, and
# there features only: a version test would miss what distributions carry back.

{
	git ls-files -co --exclude-standard drivers include Kbuild | grep -v '^include/compat/' |
		xargs grep -nHE 'KERNEL_VERSION|LINUX_VERSION_CODE|RHEL_|\bHAVE_[A-Z]'
	git ls-files -co --exclude-standard include/compat |
		xargs grep -nHE 'KERNEL_VERSION|LINUX_VERSION_CODE'
	# A probe that nothing uses, and a feature that nothing probes.
	probed=$(grep -v '^#' include/compat/Kbuild.compat | grep -o 'probe,HAVE_[A-Z0-9_]*' | sed 's/.*,//' | sort -u)
	used=$(grep -rho '\bHAVE_[A-Z0-9_]*' include/compat --include='*.h' | sort -u)
	for have in $probed; do
		echo "$used" | grep -qx "$have" || echo "Kbuild.compat: $have is probed but not used"
	done
	for have in $used; do
		echo "$probed" | grep -qx "$have" || echo "include/compat: $have is used but not probed"
	done
} 2>/dev/null | { ! grep .; }
