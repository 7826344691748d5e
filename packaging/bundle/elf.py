"""Facts about the ELF files of a folder, and a strip that leaves alone what it would break. Needs binutils."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

PAGE = 4096


@dataclass
class Facts:
    """What `facts` finds.

    `needed`: libraries that the files need and the folder does not hold, each with one that does. `run_paths`: absolute
    ones, by file. `glibc`: the highest version of GLIBC that a file asks for, and one such file."""

    needed: dict[str, str] = field(default_factory=dict)
    run_paths: dict[str, str] = field(default_factory=dict)
    glibc: tuple[tuple[int, ...], str] = ((0,), "")


def elf_files(folder: Path) -> Iterator[Path]:
    """Every ELF file below the folder, links left out."""
    for directory, _, names in os.walk(folder):
        for name in sorted(names):
            path = Path(directory, name)
            if not path.is_symlink() and path.is_file():
                with path.open("rb") as file:
                    if file.read(4) == b"\x7fELF":
                        yield path


def facts(folder: Path) -> Facts:
    """What the ELF files of the folder need from outside."""
    found, own = Facts(), {path.name for path in folder.rglob("*.so*")}
    for path in elf_files(folder):
        name = path.relative_to(folder).as_posix()
        said = subprocess.run(
            ["readelf", "--wide", "--dynamic", "--version-info", path], capture_output=True, text=True, check=True
        ).stdout
        for needed in re.findall(r"\(NEEDED\).*\[(.*)\]", said):
            if needed not in own:
                found.needed.setdefault(needed, name)
        for places in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", said):
            if any(place.startswith("/") for place in places.split(":")):
                found.run_paths[name] = places
        for version in re.findall(r"GLIBC_([0-9.]+)", said):
            found.glibc = max(found.glibc, (tuple(map(int, version.split("."))), name), key=lambda pair: pair[0])
    return found


def remove_run_paths(folder: Path, patchelf: Path) -> int:
    """Take absolute search paths out of the ELF files: they name folders of the build machine. How many had one."""
    found = facts(folder).run_paths
    for name in found:
        subprocess.run([patchelf, "--remove-rpath", folder / name], check=True)
    return len(found)


def strip(folder: Path) -> tuple[int, list[str]]:
    """Strip the ELF files; return the bytes saved, and the files that are left as they were.

    Wheels whose libraries were patched may not load any more once stripped, so that a copy is stripped and looked at.
    The programs at the top are left alone: the bootloader carries its archive behind its sections.
    """
    saved, left = 0, []
    for path in list(elf_files(folder)):
        if path.parent == folder:
            continue
        copy = path.with_name(f"{path.name}.stripped")
        shutil.copy2(path, copy)
        done = subprocess.run(["strip", "--strip-unneeded", copy], capture_output=True)
        if done.returncode == 0 and segments_are_aligned(copy):
            saved += path.stat().st_size - copy.stat().st_size
            copy.replace(path)
        else:
            copy.unlink()
            left.append(path.relative_to(folder).as_posix())
    return saved, left


def segments_are_aligned(path: Path) -> bool:
    """Whether the system's loader would take a 64-bit ELF file: it maps whole pages, so that a part must begin at the
    same place in its page in the file and in memory."""
    with path.open("rb") as file:
        head = file.read(64)
        (table,), (size, count) = struct.unpack_from("<Q", head, 0x20), struct.unpack_from("<HH", head, 0x36)
        for number in range(count):
            file.seek(table + number * size)
            part = file.read(56)
            (kind,) = struct.unpack_from("<I", part, 0)
            offset, address, *_, alignment = struct.unpack_from("<QQQQQQ", part, 8)
            if kind == 1 and ((address - offset) % PAGE or (alignment > 1 and (address - offset) % alignment)):
                return False
    return True
