#!/bin/sh
# Installs longhaul from a release, the files of which are at LONGHAUL_URL:
#
#	curl -fsSL "$LONGHAUL_URL/install.sh" | sh
#
# LONGHAUL_PROGRAM=longhaul-dev installs the program with Temporal built in. LONGHAUL_PREFIX is the
# directory for it: /usr/local by default, or ~/.local where that may not be changed.
set -eu

fail() {
	echo "install.sh: $*" >&2
	exit 1
}

get() {
	if command -v curl >/dev/null; then
		curl -fsSL -o "$2" "$1" || fail "$1 cannot be downloaded"
	else
		wget -q -O "$2" "$1" || fail "$1 cannot be downloaded"
	fi
}

sha256() {
	if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1
}

platform() {
	case $(uname -s) in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	*) fail "there is no program for $(uname -s)" ;;
	esac
	case $(uname -m) in
	x86_64 | amd64) arch=amd64 ;;
	aarch64 | arm64) arch=arm64 ;;
	*) fail "there is no program for $(uname -m)" ;;
	esac
}

# The last line calls it, so that nothing of a script runs that was downloaded in part.
main() {
	url=${LONGHAUL_URL:-}
	program=${LONGHAUL_PROGRAM:-longhaul}
	prefix=${LONGHAUL_PREFIX:-}
	[ -n "$url" ] || fail "set LONGHAUL_URL to the URL of a release"
	[ -n "$prefix" ] || if [ -w /usr/local/bin ]; then prefix=/usr/local; else prefix=$HOME/.local; fi
	platform
	archive=$program-$os-$arch.tar.gz

	dir=$(mktemp -d)
	trap 'rm -rf "$dir"' EXIT
	get "$url/SHA256SUMS" "$dir/SHA256SUMS"
	want=$(sed -n "s/^\([0-9a-f]\{64\}\)  $archive\$/\1/p" "$dir/SHA256SUMS")
	[ -n "$want" ] || fail "SHA256SUMS of the release has no $archive"
	get "$url/$archive" "$dir/$archive"
	[ "$(sha256 "$dir/$archive")" = "$want" ] || fail "$archive is not the one that SHA256SUMS names"

	mkdir -p "$prefix"
	tar -xzof "$dir/$archive" -C "$prefix"
	"$prefix/bin/$program" version
	echo "$program is in $prefix/bin, its documents and completions in $prefix/share"
	case :$PATH: in
	*:"$prefix/bin":*) ;;
	*) echo "Add $prefix/bin to your PATH" ;;
	esac
}

main
