#!/bin/sh
# Installs Headstart for this user, without a password: ./install.sh
# Models, conversations and settings are not touched, neither here nor by uninstall.sh.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
id=org.headstart.Headstart
: "${HOME:?install.sh needs HOME to know where to install}"
data=${XDG_DATA_HOME:-$HOME/.local/share}
target=${HEADSTART_PREFIX:-$HOME/.local/opt}/headstart
bin=$HOME/.local/bin

say() { printf '%s\n' "$*"; }
fail() { printf 'install.sh: %s\n' "$*" >&2; exit 1; }

[ "$(uname -s)-$(uname -m)" = Linux-x86_64 ] || fail "this package is for Linux on x86-64, and this is $(uname -s) on $(uname -m)."
[ -x "$here/headstart/headstart" ] || fail "unpack the whole archive, and run install.sh where it lies."
mkdir -p "$(dirname "$target")" "$bin" || fail "$(dirname "$target") cannot be written."

needs=$(cat "$here/glibc" 2> /dev/null || true)
has=$(getconf GNU_LIBC_VERSION 2> /dev/null | awk '{ print $2 }' || true)
if [ -n "$needs" ] && [ -n "$has" ] && [ "$(printf '%s\n' "$needs" "$has" | sort -V | head -n 1)" != "$needs" ]; then
	fail "Headstart needs the C library glibc $needs or newer, and this system has $has: it runs on a newer release of your system."
fi
needed=$(du -sk "$here/headstart" | cut -f1)
free=$(df -Pk "$(dirname "$target")" | awk 'NR == 2 { print $4 }')
[ "$free" -gt "$needed" ] || fail "Headstart needs $((needed / 1000)) MB in $(dirname "$target"), and $((free / 1000)) MB are free."

# Whole or not at all: copied beside its place, then renamed.
rm -rf "$target.partial"
trap 'rm -rf "$target.partial"' EXIT
cp -a "$here/headstart" "$target.partial"
cp "$here/uninstall.sh" "$target.partial/"
rm -rf "$target.old"
[ ! -e "$target" ] || mv "$target" "$target.old"
mv "$target.partial" "$target"
rm -rf "$target.old"
ln -sfn "$target/headstart" "$bin/headstart"

mkdir -p "$data/applications" "$data/mime/packages" "$data/icons"
cp -a "$here/share/icons/hicolor" "$data/icons/"
cp "$here/share/mime/packages/$id.xml" "$data/mime/packages/"
# A path in a desktop file is quoted, and what the quotes do not cover is escaped.
quoted=$(printf '%s' "$target/headstart" | sed 's/[\\"`$]/\\&/g; s/\\/\\\\/g; s/%/%%/g')
while IFS= read -r line; do
	case $line in
		Exec=headstart*) printf '%s\n' "Exec=\"$quoted\"${line#Exec=headstart}" ;;
		*) printf '%s\n' "$line" ;;
	esac
done < "$here/share/applications/$id.desktop" > "$data/applications/$id.desktop"
update-desktop-database -q "$data/applications" > /dev/null 2>&1 || true
update-mime-database "$data/mime" > /dev/null 2>&1 || true

say "Headstart is installed in $target and in your menu of programs."
case ":$PATH:" in *":$bin:"*) ;; *) say "In a terminal it is $bin/headstart, which is not on your PATH." ;; esac
