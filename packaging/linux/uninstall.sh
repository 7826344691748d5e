#!/bin/sh
# Removes what install.sh installed for this user. Models, conversations and settings stay: `headstart doctor` says where.
set -eu

id=org.headstart.Headstart
: "${HOME:?uninstall.sh needs HOME to know where Headstart is installed}"
data=${XDG_DATA_HOME:-$HOME/.local/share}
target=${HEADSTART_PREFIX:-$HOME/.local/opt}/headstart

[ "$(readlink "$HOME/.local/bin/headstart" || true)" != "$target/headstart" ] || rm "$HOME/.local/bin/headstart"
rm -f "$data/applications/$id.desktop" "$data/mime/packages/$id.xml"
find "$data/icons/hicolor" -name "$id.*" -delete 2> /dev/null || true
rm -rf "$target"
printf '%s\n' "Headstart is removed. Your models, conversations and settings stay where they are."
