"""From what a user names as a model to a folder that can be loaded. No torch.

The default model is downloaded, a GGUF file is converted once, and a folder is checked. Converted models lie in
`data_dir()/models/<start of the GGUF's sha256>/<name>`; `source.json` inside says from which file they were made.
"""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
from collections.abc import Sequence
from contextlib import suppress
from glob import glob
from pathlib import Path
from typing import Any

from engine.gguf.header import GgufHeader
from engine.gguf.parts import is_later_part
from engine.library import download
from engine.library.check import check_folder, read_json, refuse_foreign, require_file, unreadable
from engine.library.check_gguf import check_gguf, holds_model, is_gguf, read_gguf
from engine.library.child_process import Progress
from engine.library.convert import run_converter
from engine.library.places import CACHED, SNAPSHOTS, alone, explain, model_name, models_dir, require_space
from engine.types import ModelError

DEFAULT_MODEL = "SmolLM2-135M-Instruct"
_CONVERSION = 3  # counts up when a new version must convert again
_SOURCE = "source.json"


def check_model(path: str) -> None:
    """Find what is wrong with the model at `path` without loading or fetching it. Raises ModelError.

    An empty path, the default model, is always fine; so is the address of a server, which says itself what it has.
    """
    if path and not path.lower().startswith(("http://", "https://")):
        _checked(path)


def default_model() -> Path | None:
    """The folder of the default model, or None while it has not been fetched."""
    return _ready(download.GGUF_SHA256)


def fetch_model(progress: Progress) -> Path:
    """Download and convert the default model, unless it is here already; return its folder.

    Raises ModelError, DiskFullError, and what `progress` raises to cancel it.
    """
    return resolve("", progress)


def resolve(path: str, progress: Progress) -> Path:
    """The folder with config.json, safetensors and tokenizer for `path`: "" (default model), a GGUF file or a folder.

    What `progress` raises cancels, and nothing half done stays. Raises ModelError, DiskFullError.
    """
    try:
        if not path:
            return _default(progress)
        place, gguf = _checked(path)
        return place if gguf is None else _converted(place, gguf, progress)
    except OSError as error:
        raise explain(error) from error


def _checked(path: str) -> tuple[Path, GgufHeader | None]:
    """The whole model folder that `path` means, or the GGUF file with its header."""
    try:
        place = _place(path)
        if not place.is_dir():
            return place, check_gguf(place)
        check_folder(place)
    except OSError as error:
        raise unreadable(Path(path), error) from error
    return place, None


def _place(path: str) -> Path:
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
        place = _snapshot(place)
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


def _snapshot(folder: Path) -> Path:
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
    key = download.GGUF_SHA256
    if ready := _ready(key):
        return ready
    with alone(key, progress) as stage:
        if ready := _ready(key):
            return ready
        require_space(stage, download.DEFAULT_MODEL_BYTES)
        gguf = _kept_gguf(key, stage) or download.fetch_default_gguf(stage, progress)
        # Beside the converted weights: kernels that compute on quantised blocks read the original.
        return _convert(gguf, check_gguf(gguf), DEFAULT_MODEL, key, stage, progress, keep=True)


def _kept_gguf(key: str, stage: Path) -> Path | None:
    """A copy, inside `stage`, of the GGUF file that an older Headstart kept beside what it converted."""
    for name in glob("*/*.gguf", root_dir=_shelf(key)):
        copy = Path(shutil.copy(_shelf(key) / name, stage))
        if download.sha256(copy, lambda _: None) == key:
            return copy
        copy.unlink()
    return None


def _converted(gguf: Path, header: GgufHeader, progress: Progress) -> Path:
    files = header.paths
    key = _known_key(files) or _key(files, progress)
    if ready := _ready(key):
        return ready
    with alone(key, progress) as stage:
        if ready := _ready(key):
            return ready
        return _convert(gguf, header, _name(gguf, files), key, stage, progress)


def _convert(
    gguf: Path, header: GgufHeader, name: str, key: str, stage: Path, progress: Progress, keep: bool = False
) -> Path:
    """Convert inside the folder `stage`, then move the result to its place in one step."""
    require_space(stage, header.parameters * (4 if header.dtype == "fp32" else 2) + 50_000_000)
    made = stage / name
    made.mkdir()
    run_converter(gguf, made, header.dtype, stage / "convert.log", progress)
    check_folder(made)
    source = {"conversion": _CONVERSION, "sha256": key, **_identity(header.paths)}
    if keep:
        gguf.rename(made / gguf.name)
    (made / _SOURCE).write_text(json.dumps(source), encoding="utf-8")
    place = _shelf(key) / name
    shutil.rmtree(place.parent, ignore_errors=True)  # a damaged or older conversion
    place.parent.mkdir(parents=True)
    return made.rename(place)


def _name(gguf: Path, files: Sequence[Path]) -> str:
    """What a model is called after its file; of several parts, what stands before their numbers."""
    return gguf.stem if len(files) == 1 else gguf.stem[: -len("-00001-of-00002")]


def _key(files: Sequence[Path], progress: Progress) -> str:
    """The SHA-256 of a file's content; of several, that of all of theirs."""
    found = [download.sha256(file, lambda part: progress("Reading the GGUF file", part)) for file in files]
    return found[0] if len(found) == 1 else hashlib.sha256("".join(found).encode()).hexdigest()


def _ready(key: str) -> Path | None:
    """The converted model for this GGUF content, if it is here and whole."""
    for source in _made(key[:16]):
        try:
            said = read_json(source)
            if (said["conversion"], said["sha256"]) == (_CONVERSION, key):
                check_folder(source.parent)
                return source.parent
        except (OSError, KeyError, ModelError):
            continue  # damaged or older: it is made again, in its place
    return None


def _known_key(files: Sequence[Path]) -> str | None:
    """The SHA-256 of files that were converted before and have not changed since; they are not read for that."""
    identity = _identity(files)
    for source in _made("*"):
        try:
            said = read_json(source)
            if identity.items() <= said.items():
                return str(said["sha256"])
        except (KeyError, ModelError):
            continue
    return None


def _made(shelf: str) -> list[Path]:
    """The notes beside what was converted. A folder that another Headstart removes meanwhile is passed over, which
    pathlib's `glob` does not do."""
    return [models_dir() / name for name in glob(f"{shelf}/*/{_SOURCE}", root_dir=models_dir())]


def _shelf(key: str) -> Path:
    """The folder for what was made from the GGUF file with this SHA-256."""
    return models_dir() / key[:16]


def _identity(files: Sequence[Path]) -> dict[str, Any]:
    """What becomes another when a file is changed or replaced."""
    first, *others = [(str(file), file.stat()) for file in files]
    path, status = first
    found = {"path": path, "size": status.st_size, "modified_ns": status.st_mtime_ns}
    parts = [[path, status.st_size, status.st_mtime_ns] for path, status in others]
    return {**found, "parts": parts} if parts else found
