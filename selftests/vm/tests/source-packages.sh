#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The source tarball, and the packages that rpmbuild makes of it. The same commit gives the same tarball. The source
# package for DKMS builds the modules, with the dkms.conf that names them. Debian's rpmbuild cannot tell which packages of
# another distribution are there, so it is told not to ask; nothing is installed.
#
# vm: timeout=900 cores=1

set -u

top=$(cd "$(dirname "$0")/../../.." && pwd)
nr=0 failed=0

check() {
	local name="$1" out
	shift
	nr=$((nr + 1))
	if out=$("$@" 2>&1); then
		echo "ok $nr $name"
	else
		failed=$((failed + 1))
		printf '%s\n' "$out" | tail -n 20 | sed 's/^/# /'
		echo "not ok $nr $name"
	fi
}


same_again() {
	"$top/tools/dist" "$tmp/two" && cmp "$tarball" "$tmp/two/${tarball##*/}"
}

complete() {
	tar -tzf "$tarball" | sed 's,^[^/]*/,,' | grep '[^/]$' | sort >"$tmp/packed"
	(cd "$top" && git ls-files -co --exclude-standard; echo VERSION; echo rtrs.spec) | sort >"$tmp/known"
	diff "$tmp/known" "$tmp/packed"
}

build_rpms() {
	rpmbuild -ta --nodeps --define "_topdir $tmp/rpm" "$tarball"
}

rpm_of() {
	find "$tmp/rpm/RPMS" -name "rtrs-$1-*.rpm"
}

# unpacked <package>: its files are below $tmp/root
unpacked() {
	(mkdir -p "$tmp/root" && cd "$tmp/root" && rpm2cpio "$(rpm_of "$1")" | cpio -idm --quiet)
}

has_files() {
	local file
	for file in usr/sbin/rnbd usr/sbin/rtrs-perf usr/lib/systemd/system/rnbd-map@.service etc/rnbd/maps.d \
		usr/lib/udev/rules.d/60-rnbd.rules usr/libexec/rtrs-tools/rnbd-shutdown; do
		[ -e "$tmp/root/$file" ] || { echo "no $file"; return 1; }
	done
}

tool_knows_version() {
	"$tmp/root/usr/sbin/rnbd" --version | grep -F "$version"
}

conf_names_all() {
	local conf
	conf=$(find "$tmp/root/usr/src" -name dkms.conf)
	grep -qx "PACKAGE_VERSION=\"$version\"" "$conf" &&
	[ "$(grep -c '^BUILT_MODULE_NAME' "$conf")" = "$(sed -n 's/^kmods := //p' "$top/Kbuild" | wc -w)" ]
}

build_modules() {
	local kernel tree module
	kernel=$("$top/tools/kernel" build "$KVER") && tree=$(find "$tmp/root/usr/src" -maxdepth 1 -name 'rtrs-[0-9]*') &&
	make -C "${kernel#* }" M="$tree" modules || return
	for module in $(sed -n 's/^kmods := //p' "$top/Kbuild"); do
		[ -e "$tree/$module.ko" ] || { echo "no $module.ko"; return 1; }
	done
}

tree_knows_itself() {
	(cd "$tmp" && tar -xzf "$tarball" && ! "rtrs-$version/tools/dist" "$tmp/three" 2>"$tmp/said") &&
	grep "its own, $version" "$tmp/said"
}

"$top/tools/deps" source-packages || exit 1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM HUP
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES BUILD
echo "KTAP version 1"
echo 1..11
tarball=$("$top/tools/dist" "$tmp/one") || exit 1
version=${tarball##*/rtrs-} version=${version%.tar.gz}
check "the same commit gives the same tarball" same_again
check "it has all files" complete
check "rpmbuild makes packages of it" build_rpms
check "the tools' package" unpacked tools
check "has what belongs to it" has_files
check "the tool knows its version" tool_knows_version
check "the headers' package" unpacked devel
check "the modules' package" unpacked dkms
check "its dkms.conf names version and modules" conf_names_all
check "they build" build_modules
check "the unpacked tarball makes no other one" tree_knows_itself
[ $failed = 0 ]
