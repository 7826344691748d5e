"""What the disk image shows: `dmgbuild -s packaging/macos/dmg_settings.py -D app=PATH Headstart FILE.dmg`."""

application = defines["app"]  # type: ignore[name-defined]  # noqa: F821 - dmgbuild gives it
format = "ULFO"
filesystem = "HFS+"
files = [application]
symlinks = {"Applications": "/Applications"}
icon_locations = {"Headstart.app": (150, 180), "Applications": (410, 180)}
window_rect = ((200, 200), (560, 380))
icon_size = 110
