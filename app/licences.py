"""The licences of Headstart and of all that comes with it, for the About box and for the installers. No Qt.

An installer brings them as one file, written when it was built (packaging/bundle/notices.py). From source they are
those of the installed packages that Headstart needs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution, version
from importlib.resources import files
from pathlib import Path

from engine import installed_folder

NAME = "Headstart"
RULE = "=" * 100
"""The line above and below the title of each part in the file."""
MISSING_TEXTS = {
    "pyside6-essentials": ("LGPL-3.0", "GPL-3.0"),
    "shiboken6": ("LGPL-3.0", "GPL-3.0"),
    "tokenizers": ("Apache-2.0",),
    "sentencepiece": ("Apache-2.0",),
    "latex2mathml": ("MIT-latex2mathml",),
}
"""Licences, by their files in resources/licences, whose text a wheel does not bring."""
WORDS = ("LICEN", "COPYING", "NOTICE", "AUTHORS")
QT = """Qt and PySide6 are used under the LGPL, version 3. Their libraries are files of their own in the folder of the
program and may be replaced by other builds of the same version."""
MODEL = "SmolLM2-135M-Instruct, the default model, is by Hugging Face TB Research, under Apache-2.0."


def own_version() -> str:
    """The version of this program."""
    try:
        return version("headstart")
    except PackageNotFoundError:
        return "(not installed)"


@cache
def parts() -> tuple[tuple[str, str], ...]:
    """Every part with its licence texts: a title such as "numpy 2.3.1: BSD-3-Clause", and the text. Headstart first."""
    own = (f"{NAME} {own_version()}: Apache-2.0", f"{MODEL}\n\n{text_of('Apache-2.0')}")
    file = bundled_file()
    if file is not None and file.is_file():
        others = split(file.read_text(encoding="utf-8"))
        return (own, *(each for each in others if not each[0].startswith("headstart ")))
    return (own, *(_part(each) for each in needed("headstart")))


def bundled_file() -> Path | None:
    """The file with all licences that an installer brought; None where Headstart runs from source."""
    beside = installed_folder()
    if beside is None:
        return None
    is_mac = sys.platform == "darwin"
    return beside.parent / "Resources" / "licences.txt" if is_mac else beside / "LICENCES.txt"


def split(text: str) -> list[tuple[str, str]]:
    """The parts of such a file, as `together` wrote it."""
    _, *pieces = re.split(f"^{RULE}\n(.*)\n{RULE}\n", text, flags=re.MULTILINE)
    return [(title, body.strip("\n")) for title, body in zip(pieces[::2], pieces[1::2], strict=True)]


def together(found: Iterable[Distribution], others: Iterable[tuple[str, str]]) -> str:
    """The file with the texts of these distributions and of `others`, titles with their texts. Raises ValueError where
    one has none."""
    sections = [*(_part(each) for each in found), *others]
    if bare := [title for title, text in sections if not text]:
        raise ValueError(f"No licence text for {', '.join(bare)}: add them to MISSING_TEXTS in {Path(__file__).name}.")
    return "\n\n".join([QT, *(f"{RULE}\n{title}\n{RULE}\n{text}" for title, text in sections)])


def _part(each: Distribution) -> tuple[str, str]:
    name = each.metadata["Name"]
    paths = [Path(str(each.locate_file(file))) for file in each.files or () if is_licence(str(file))]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in paths if path.is_file()]
    texts += [text_of(licence) for licence in MISSING_TEXTS.get(_normal(name), ())]
    if _normal(name) in ("pyside6-essentials", "shiboken6"):
        texts.insert(0, QT)
    return f"{name} {each.version}: {licence_name(each)}", "\n".join(texts)


def text_of(licence: str) -> str:
    """The text of a licence that Headstart brings."""
    return (files("resources") / "licences" / f"{licence}.txt").read_text("utf-8")


def is_licence(file: str) -> bool:
    """Whether a file of a distribution is one of its licence texts."""
    return ".dist-info/" in file and any(word in file.rpartition(".dist-info/")[2].upper() for word in WORDS)


def licence_name(part: Distribution) -> str:
    """What a distribution says its licence is, in one line."""
    fields = (*(part.metadata.get_all("License-Expression") or ()), *(part.metadata.get_all("License") or ()), "")
    said = fields[0]
    classified = [
        line.rpartition("::")[2].strip() for line in part.metadata.get_all("Classifier") or () if "License ::" in line
    ]
    return said.splitlines()[0] if said else "; ".join(classified) or "see below"


def needed(name: str) -> list[Distribution]:
    """The installed distributions that one needs, directly or not, by name, but for optional extras."""
    found: dict[str, Distribution] = {}
    waiting = [name]
    while waiting:
        asked = waiting.pop()
        try:
            each = distribution(asked)
        except PackageNotFoundError:  # another system's, or Headstart itself where it is not installed
            continue
        found[_normal(asked)] = each
        required = [line for line in each.requires or () if "extra ==" not in line]
        names = [match.group() for line in required if (match := re.match(r"[\w.-]+", line))]
        waiting += [each for each in names if _normal(each) not in found]
    found.pop(_normal(name), None)
    return [found[each] for each in sorted(found)]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
