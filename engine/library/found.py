"""Which models lie on this computer: Headstart's own, and those of other programs, which are used where they lie.

Other programs' folders: the Hugging Face cache (huggingface_hub says where), LM Studio's (`models` in its home, which
the file ~/.lmstudio-home-pointer names) and Jan's (`models` in its data folder, by the engine that runs them). Only
names and sizes are looked at, so that hundreds of gigabytes are listed in an instant. No torch.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from engine.library.hub import PARTIAL, is_apart
from engine.library.places import CACHED, installed_models_dir, model_name, models_dir, remove_empty
from engine.library.resolve import default_model, newest_revision, place_of
from engine.types import ModelError

OWN, INSTALLED = "Headstart", "Headstart's package"
HUB_CACHE, LM_STUDIO, JAN = "Hugging Face cache", "LM Studio", "Jan"

DEEPEST = 4
"""Folders below each other that are looked into: LM Studio has ORG/NAME/FILE, Jan two more at most."""

_PART = re.compile(r"-(\d{5})-of-\d{5}\.gguf\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FoundModel:
    """A model on this computer. `path` is what opens it, "" for the default model; `place` is its file or folder.
    `origin` says whose it is, `bytes` what it takes on disk, and `is_own` whether Headstart may delete it."""

    name: str
    path: str
    place: Path
    origin: str
    bytes: int
    is_own: bool


def find_models() -> list[FoundModel]:
    """All models on this computer, by their names. A folder that cannot be read has none."""
    found = [
        *_in_folder(models_dir(), OWN),
        *_in_folder(installed_models_dir(), INSTALLED),
        *_in_cache(hub_cache()),
        *(model for folder in _lm_studio() for model in _in_folder(folder, LM_STUDIO)),
        *(model for folder in _jan() for model in _in_folder(folder, JAN)),
    ]
    once = {model.place: model for model in reversed(found)}
    return sorted(once.values(), key=lambda model: (model.name.casefold(), str(model.place)))


def size_of(path: str) -> int:
    """Bytes on disk of the model that `path` opens, 0 where it is not there."""
    place = default_model() if not path else Path(path)
    if place is None or not place.exists():
        return 0
    if place.is_dir() and place.name.startswith(CACHED):
        with suppress(ModelError):
            place = newest_revision(place)
    return _bytes(place)


def is_same_model(path: str, other: str) -> bool:
    """Whether two paths open the same model: by a link, by the folder around a file, as the default one ("")."""
    if path == other:
        return True
    with suppress(ModelError, OSError):
        places = [place_of(each) if each else default_model() for each in (path, other)]
        return all(places) and len({str(place and place.resolve()) for place in places}) == 1
    return False


def delete_model(place: Path) -> None:
    """Delete a model of Headstart's own, with all its parts. Raises ModelError for one of another program, and where
    the system does not let us."""
    is_within = place.parent.resolve().is_relative_to(models_dir().resolve())  # a link may lead to others' files
    if not (is_within and place.is_relative_to(models_dir())) or place == models_dir():
        raise ModelError(f"{place} is not Headstart's: delete it in the program that it belongs to.")
    try:
        for each in _own_files(place):
            if each.is_dir() and not each.is_symlink():
                shutil.rmtree(each)
            else:
                each.unlink()
    except OSError as error:
        raise ModelError(f"{place} cannot be deleted ({error.strerror}): check its permissions.", str(error)) from error
    remove_empty(place if place.is_dir() and not place.is_symlink() else place.parent)


# The folders of other programs


def hub_cache() -> Path:
    """The folder of the Hugging Face cache, as its own library finds it."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE)


def _lm_studio() -> list[Path]:
    """LM Studio's folders of models: in the home that its pointer file names, in the usual one, and in the older."""
    home = Path.home()
    homes = [home / ".lmstudio", home / ".cache" / "lm-studio"]
    with suppress(OSError, ValueError):
        homes.insert(0, Path((home / ".lmstudio-home-pointer").read_text("utf-8").strip()))
    return [each / "models" for each in homes if each.is_absolute()]


def _jan() -> list[Path]:
    """Jan's folders of models: in the data folder of each system, and in the older one in the user's home."""
    home = Path.home()
    support = {
        "win32": Path(os.environ.get("APPDATA", home / "AppData" / "Roaming")),
        "darwin": home / "Library" / "Application Support",
    }.get(sys.platform, Path(os.environ.get("XDG_DATA_HOME", home / ".local" / "share")))
    data = [support / "Jan" / "data", support / "jan", home / "jan"]
    return [folder / inner for folder in data for inner in (Path("llamacpp", "models"), Path("models"))]


# What lies in a folder


def _in_folder(folder: Path | None, origin: str) -> Iterator[FoundModel]:
    if folder is None:
        return
    default = default_model() if origin in (OWN, INSTALLED) else None
    for place in _places(folder):
        yield FoundModel(
            model_name(place), "" if place == default else str(place), place, origin, _bytes(place), origin == OWN
        )


def _in_cache(folder: Path) -> Iterator[FoundModel]:
    """The models of the Hugging Face cache: each one's newest revision, or the GGUF files in it."""
    for model in _entries(folder):
        if not model.name.startswith(CACHED):
            continue
        with suppress(ModelError, OSError):
            revision = newest_revision(model)
            if _is_model_folder(revision):
                yield FoundModel(model_name(revision), str(model), model, HUB_CACHE, _bytes(revision), False)
            for file in filter(_begins_gguf, _entries(revision)):
                yield FoundModel(model_name(file), str(file), file, HUB_CACHE, _bytes(file), False)


def _places(folder: Path, depth: int = 0) -> Iterator[Path]:
    """Model folders and GGUF files below a folder. What is still being downloaded is none."""
    if folder.name.endswith(PARTIAL) or depth > DEEPEST:
        return
    is_model = _is_model_folder(folder)
    if is_model:
        yield folder
    for entry in _entries(folder):
        if is_model and not is_apart(entry):
            continue
        if entry.is_dir():
            yield from _places(entry, depth + 1)
        elif _begins_gguf(entry):
            yield entry


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _is_model_folder(folder: Path) -> bool:
    with suppress(OSError):
        return (folder / "config.json").is_file() and any(folder.glob("*.safetensors"))
    return False


def _begins_gguf(file: Path) -> bool:
    """Whether a file is, by its name, a GGUF model or the first part of one, and no other's part for images."""
    part, name = _PART.search(file.name), file.name.lower()
    return name.endswith(".gguf") and "mmproj" not in name and (part is None or int(part[1]) == 1) and file.is_file()


def _parts(file: Path) -> list[Path]:
    """A GGUF file with all its parts."""
    if not _PART.search(file.name):
        return [file]
    begins = _PART.sub("", file.name)
    return [each for each in _entries(file.parent) if _PART.search(each.name) and _PART.sub("", each.name) == begins]


def _own_files(place: Path) -> list[Path]:
    """What belongs to a model: a GGUF file with its parts, or all of a folder but for the models in it of another
    form."""
    if not place.is_dir() or place.is_symlink():
        return _parts(place)
    return [each for each in _entries(place) if not (_is_model_folder(place) and is_apart(each))]


def _bytes(place: Path) -> int:
    """What a model takes on disk: links, as in the Hugging Face cache, count as what they lead to."""
    total = 0
    for file in _own_files(place.resolve()) if place.is_dir() else _parts(place):
        with suppress(OSError):
            total += file.stat().st_size if file.is_file() else 0
    return total
