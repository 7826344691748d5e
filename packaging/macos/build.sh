#!/bin/sh
# The disk image for macOS (Apple silicon), in dist/: packaging/macos/build.sh. Needs Python 3.12 and Xcode's tools.
# Signed where CODESIGN_IDENTITY is set; notarised where NOTARY_PROFILE names a profile of `notarytool store-credentials`.
set -eu

cd "$(dirname "$0")/../.."
python3 packaging/build_packages.py
work=$PWD/build/package
app=$work/frozen/Headstart.app
version=$(python3 -c 'import tomllib; print(tomllib.load(open("pyproject.toml", "rb"))["project"]["version"])')
image=dist/Headstart-$version-arm64.dmg
mkdir -p dist "$app/Contents/Resources/models"
cp "$work/model/"*.gguf "$app/Contents/Resources/models/"
cp LICENSE "$work/notices/licences.txt" "$app/Contents/Resources/"

if [ -n "${CODESIGN_IDENTITY:-}" ]; then
	# From the inside out: libraries first, then the programs, the bundle last. (`--deep` would give all the same rights.)
	sign() { codesign --force --timestamp --options runtime --sign "$CODESIGN_IDENTITY" "$@"; }
	find "$app/Contents" -type f \( -name '*.dylib' -o -name '*.so' \) -print | while IFS= read -r file; do sign "$file"; done
	find "$app/Contents" -type d -name '*.framework' -print | while IFS= read -r file; do sign "$file"; done
	find "$app/Contents/Frameworks" -type f -name torch_shm_manager -print | while IFS= read -r file; do sign "$file"; done
	sign --entitlements packaging/macos/entitlements.plist "$app/Contents/MacOS/headstart"
	sign --entitlements packaging/macos/entitlements.plist "$app"
	codesign --verify --strict --verbose=2 "$app"
else
	codesign --force --deep --sign - "$app" # Apple silicon runs nothing without a signature, be it nobody's
fi

"$work/venv/bin/python" -m pip install --quiet 'dmgbuild>=1.6,<2'
rm -f "$image"
"$work/venv/bin/python" -m dmgbuild -s packaging/macos/dmg_settings.py -D app="$app" Headstart "$image"
if [ -n "${CODESIGN_IDENTITY:-}" ]; then
	codesign --force --timestamp --sign "$CODESIGN_IDENTITY" "$image"
fi
if [ -n "${NOTARY_PROFILE:-}" ]; then
	xcrun notarytool submit "$image" --keychain-profile "$NOTARY_PROFILE" --wait
	xcrun stapler staple "$image"
fi
(cd dist && shasum -a 256 "$(basename "$image")" > SHA256SUMS)
