"""The Hugging Face Hub: which files a model has there, and their download, which can be broken off and goes on later.

`huggingface_hub` knows the addresses, the user's settings (HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE, proxies) and what
the Hub's errors mean. Its own downloads begin anew after a break, and report every 10 MB only, so that the bytes are
read here, over its connection. No torch.

What is on its way lies in a folder beside where the model will be, `NAME.partial/REVISION`: whole files under their own
names, the one that is being read with `.part` behind it. Only when all are there, and each has the checksum that the
Hub gives for it, are they moved to where models are looked for.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from filelock import FileLock, Timeout

from engine.keys import key_of, store_key
from engine.library.child_process import POLL_S, Progress
from engine.library.download import sha256
from engine.library.places import explain, models_dir, remove_empty
from engine.types import DiskFullError, HeadstartError, ModelError

PARTIAL, PART = ".partial", ".part"
TIMEOUT_S = 10.0
"""For an answer of the Hub, and for the next bytes of a file."""

PAUSES_S = (0.0, 1.0, 3.0)
"""Waits before a cut connection is opened again. After the last one without a single new byte, the download ends."""

NO_KEYRING = (
    "This system keeps no keys, so the token was not stored. Set up a keyring, or start Headstart with HF_TOKEN in its"
    " environment."
)
SUCH_AS = "such as Qwen/Qwen3-0.6B-GGUF"

_REPO = re.compile(r"[\w][\w.-]*/[\w][\w.-]*\Z")
_LATER_PART = re.compile(r"-(\d{5})-of-\d{5}\.gguf\Z", re.IGNORECASE)
_OF_A_FOLDER = ("*.safetensors", "*.safetensors.index.json", "*.json", "*.jinja", "*.model", "vocab.txt", "merges.txt")
"""The files of a model that Headstart reads."""
_NOT_NEEDED = ("consolidated*", "adapter_*", "*.gguf")
"""Names of weights that a repository holds a second time in another form, and of what belongs to no whole model."""
_USUAL = "*q4_k_m.gguf"
"""The form that is taken where a repository holds several and none was named."""


class TokenNeededError(ModelError):
    """A model that the Hub gives only to those who agreed to its licence, or a token that it refused."""


@dataclass(frozen=True, slots=True)
class HubFile:
    """A file on the Hub. `digest` is the SHA-256 of a large one, git's SHA-1 of a small one, in hexadecimal digits."""

    name: str
    bytes: int
    digest: str


@dataclass(frozen=True, slots=True)
class HubModel:
    """What is downloaded of a repository at one revision: a GGUF file with its parts, or the files of a folder.
    `place` is where the model will lie, and what is opened then."""

    repo: str
    revision: str
    files: tuple[HubFile, ...]
    place: Path

    @property
    def bytes(self) -> int:
        """All of it."""
        return sum(file.bytes for file in self.files)


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A download that was broken off: of which repository, of which GGUF file ("" for a folder), and the bytes that are
    here."""

    repo: str
    file: str
    bytes: int


def wish_of(text: str) -> tuple[str, str]:
    """The repository, and the GGUF file ("" for none), that a user means: ORG/NAME, ORG/NAME/FILE.gguf, or the address
    of a page of the Hub. Raises ModelError where it is neither."""
    text = text.strip()
    if "://" in text:
        text = re.sub(r"/(blob|resolve|tree)/[^/]+(/|\Z)", "/", text.partition("://")[2].partition("/")[2])
        text = re.split("[?#]", text)[0].strip("/")
    repo, file = "/".join(text.split("/")[:2]), "/".join(text.split("/")[2:])
    if not _REPO.match(repo) or (file and not file.lower().endswith(".gguf")):
        raise ModelError(f"“{text}” is no name of a model on the Hub, {SUCH_AS}: check it.", text)
    return repo, file


def look_up(repo: str, pattern: str = "") -> HubModel:
    """Which files are to be downloaded: the GGUF file whose name is like `pattern` (with `*`, in any case), or without
    one what the repository holds: a folder, or its only GGUF file, or that of the usual form.

    Raises ModelError, with a sentence for each way in which the Hub can refuse.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HFValidationError

    with _explained(repo):
        try:
            info = HfApi().model_info(repo, files_metadata=True, timeout=TIMEOUT_S, token=_token())
        except HFValidationError:
            raise
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise _no_hub(error) from error
    there = [_file_of(sibling) for sibling in info.siblings or ()]
    chosen = _gguf(repo, there, pattern) or _folder(there)
    if not chosen:
        raise ModelError(
            f"{repo} holds no model that Headstart reads: choose one with safetensors files or a GGUF file."
        )
    is_gguf = chosen[0].name.lower().endswith(".gguf")
    place = _place(repo) / Path(chosen[0].name).name if is_gguf else _place(repo)
    return HubModel(repo, str(info.sha), tuple(chosen), place)


def fetch(model: HubModel, progress: Progress) -> Path:
    """Download a model, or what is missing of it, and return where it lies. One process at a time does that.

    `progress` hears the fraction that is here; what it raises ends the download, and what is here stays for the next
    time. Raises ModelError where the Hub cannot be reached or a checksum is wrong, DiskFullError.
    """
    stage = _stage(model)
    with _explained(model.repo), _alone(stage.parent, progress):
        _drop_other_revisions(stage)
        stage.mkdir(parents=True, exist_ok=True)
        _require_space(model, stage)
        for file in model.files:
            if not (stage / Path(file.name).name).exists():
                _fetch_file(model, file, stage, progress)
        return _move(model, stage)


def discard(repo: str, file: str, progress: Progress) -> None:
    """Delete what is here of a download that was not finished, once nobody writes to it any more."""
    folder = _stages(repo, file)
    with _alone(folder, progress):
        shutil.rmtree(folder, ignore_errors=True)
        remove_empty(folder.parent)


def unfinished() -> list[Unfinished]:
    """The downloads that were broken off, by their names."""
    found = []
    for folder in sorted((*models_dir().glob(f"*/*{PARTIAL}"), *models_dir().glob(f"*/*/*{PARTIAL}"))):
        parts = folder.relative_to(models_dir()).parts
        file = folder.name.removesuffix(PARTIAL) if len(parts) == 3 else ""
        repo = f"{parts[0]}/{parts[1].removesuffix(PARTIAL)}"
        found.append(Unfinished(repo, file, _held(folder)))
    return found


def _held(folder: Path) -> int:
    """Bytes in a folder, which another thread may be moving away."""
    with suppress(OSError):
        return sum(map(_length, folder.rglob("*")))
    return 0


def keep_token(token: str) -> None:
    """Keep the user's token for the Hub in the system's keyring; "" forgets it. Raises HeadstartError without one."""
    token = token.strip()
    if not (token.isascii() and token.isprintable()):
        raise HeadstartError("This is no token of the Hub: copy it once more from the settings of your account.")
    store_key(_endpoint(), token, NO_KEYRING)


def page_of(repo: str) -> str:
    """The address of a model's page, where its licence is agreed to."""
    return f"{_endpoint()}/{repo}"


def _token() -> str | None:
    """The token that is kept in the keyring; None has huggingface_hub look for its own."""
    return key_of(_endpoint()) or None


def _endpoint() -> str:
    from huggingface_hub import constants

    return str(constants.ENDPOINT)


def is_apart(entry: Path) -> bool:
    """Whether what lies in the folder of a repository is a model of its own there, or on its way to be one: its GGUF
    files lie beside the files of its folder."""
    return entry.name.lower().endswith((".gguf", PARTIAL))


# Which files


def _file_of(sibling: Any) -> HubFile:
    digest = sibling.lfs.sha256 if sibling.lfs else sibling.blob_id
    return HubFile(sibling.rfilename, int(sibling.size or 0), str(digest or ""))


def _gguf(repo: str, there: list[HubFile], pattern: str) -> list[HubFile]:
    """The GGUF file that is meant, with its parts; none where the repository holds a folder and none was named."""
    files = [file for file in there if file.name.lower().endswith(".gguf") and "mmproj" not in file.name.lower()]
    if not pattern and any(file.name.endswith(".safetensors") for file in there):
        return []
    for wanted in (pattern,) if pattern else ("*", _USUAL):
        found = [file for file in files if _is_like(file.name, wanted)]
        models = {_LATER_PART.sub(".gguf", file.name) for file in found}
        if len(models) == 1:
            name = models.pop()
            return [file for file in files if _LATER_PART.sub(".gguf", file.name) == name]
    if files:
        raise ModelError(
            f"{repo} holds {len(files)} GGUF files: name one of them, as {repo}/FILE.gguf.",
            "\n".join(file.name for file in files),
        )
    if pattern:
        raise ModelError(f"{repo} has no file {pattern} any more: choose another model.")
    return []


def _is_like(name: str, pattern: str) -> bool:
    return fnmatch(name.lower(), pattern.lower()) or fnmatch(Path(name).name.lower(), pattern.lower())


def _folder(there: list[HubFile]) -> list[HubFile]:
    """What Headstart reads of a folder, small files first: what is wrong with them is known early."""
    top = [file for file in there if "/" not in file.name]
    wanted = [file for file in top if any(fnmatch(file.name, each) for each in _OF_A_FOLDER)]
    kept = [file for file in wanted if not any(fnmatch(file.name, each) for each in _NOT_NEEDED)]
    has_weights = any(file.name.endswith(".safetensors") for file in kept)
    return sorted(kept, key=lambda file: file.bytes) if has_weights else []


# Where


def _place(repo: str) -> Path:
    return models_dir() / repo


def _stages(repo: str, file: str) -> Path:
    """The folder of what is on its way; a file lies there without the folder that it has in the repository."""
    place = _place(repo)
    return place / f"{Path(file).name}{PARTIAL}" if file else place.with_name(f"{place.name}{PARTIAL}")


def _stage(model: HubModel) -> Path:
    is_gguf = model.place != _place(model.repo)
    return _stages(model.repo, model.place.name if is_gguf else "") / model.revision


def _drop_other_revisions(stage: Path) -> None:
    """What was read of a model that has changed since is of no use."""
    if stage.parent.is_dir():
        for other in stage.parent.iterdir():
            if other.name != stage.name:
                shutil.rmtree(other, ignore_errors=True)


def _require_space(model: HubModel, stage: Path) -> None:
    here = sum(file.stat().st_size for file in stage.iterdir())
    needed, free = model.bytes - here, shutil.disk_usage(stage).free
    if needed > free:
        raise DiskFullError(
            f"{model.repo} needs {needed / 1e9:.1f} GB more in {models_dir()}, and {free / 1e9:.1f} GB are free: "
            "free some space, or set HEADSTART_DATA_DIR to a folder on another disk."
        )


@contextmanager
def _alone(folder: Path, progress: Progress) -> Iterator[None]:
    """Nobody else writes into this folder meanwhile."""
    models_dir().mkdir(parents=True, exist_ok=True)
    name = hashlib.sha256(str(folder.relative_to(models_dir())).encode()).hexdigest()[:16]
    lock = FileLock(models_dir() / f"{name}.lock")
    while True:
        try:
            lock.acquire(timeout=POLL_S)
            break
        except Timeout:
            progress("Waiting for another download of this model", None)
    try:
        yield
    finally:
        lock.release()


def _move(model: HubModel, stage: Path) -> Path:
    """Put everything where it belongs, in place of what lies there of it."""
    place = model.place
    if place == _place(model.repo):
        for other in filter(is_apart, place.iterdir() if place.is_dir() else ()):
            other.replace(stage / other.name)
        shutil.rmtree(place, ignore_errors=True)
        stage.replace(place)
    else:
        for file in stage.iterdir():
            file.replace(place.with_name(file.name))
    shutil.rmtree(stage.parent, ignore_errors=True)
    return place


# The bytes


def _fetch_file(model: HubModel, file: HubFile, stage: Path, progress: Progress) -> None:
    whole = stage / Path(file.name).name
    part = whole.with_name(whole.name + PART)
    others = sum(each.stat().st_size for each in stage.iterdir() if each != part)

    def heard(what: str = "Downloading") -> None:
        here = part.stat().st_size if part.exists() else 0
        progress(what, min((others + here) / max(model.bytes, 1), 1.0))

    _read_all(model, file, part, heard)
    heard("Checking what was downloaded")
    found = _digest(part, file.digest, heard)
    if file.digest and found != file.digest:
        part.unlink()
        raise ModelError(
            f"{file.name} of {model.repo} did not arrive as it is on the Hub (its checksum is another one), so it was "
            "deleted: download it again.",
            f"{found}, expected {file.digest}",
        )
    part.replace(whole)


def _read_all(model: HubModel, file: HubFile, part: Path, heard: Callable[[], None]) -> None:
    """Read until the file is as long as the Hub says, over as many connections as that takes."""
    import httpx2

    in_vain = 0
    while (here := _length(part)) != file.bytes:
        if here > file.bytes:
            part.unlink()
        try:
            _read_some(model, file, part, heard)
            cut: Exception | None = None
        except httpx2.TransportError as error:
            cut = error
        in_vain = in_vain + 1 if _length(part) <= here else 0
        if in_vain >= len(PAUSES_S):
            raise cut or ModelError(f"The Hub gave too little of {file.name}: try again later.")
        if cut is not None or in_vain:
            _pause(PAUSES_S[in_vain], heard)
    if file.bytes == 0:
        part.touch()


def _read_some(model: HubModel, file: HubFile, part: Path, heard: Callable[[], None]) -> None:
    """Read on behind what is here, until the connection ends."""
    from huggingface_hub import hf_hub_url
    from huggingface_hub.utils import build_hf_headers, get_session, hf_raise_for_status

    here = _length(part)
    headers = {**build_hf_headers(token=_token()), "Accept-Encoding": "identity"}
    if here:
        headers["Range"] = f"bytes={here}-"
    url = hf_hub_url(model.repo, file.name, revision=model.revision)
    with get_session().stream("GET", url, headers=headers, timeout=TIMEOUT_S) as answer:
        hf_raise_for_status(answer)
        if answer.status_code != 206:
            _refuse_other(file, answer.headers)
        with part.open("ab" if answer.status_code == 206 else "wb") as target:
            for piece in answer.iter_raw():  # nothing that came is held back
                target.write(piece)
                target.flush()
                heard()


def _refuse_other(file: HubFile, headers: Mapping[str, str]) -> None:
    """Raise ModelError for a page in place of the whole file, before anything is written over what is here."""
    if headers.get("content-length", str(file.bytes)) != str(file.bytes) or "html" in headers.get("content-type", ""):
        raise _no_hub(f"{file.name}: {dict(headers)}")


def _length(file: Path) -> int:
    """Bytes of a file; 0 where there is none, or none any more."""
    with suppress(OSError):
        return file.stat().st_size if file.is_file() else 0
    return 0


def _pause(seconds: float, heard: Callable[[], None]) -> None:
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        heard()
        time.sleep(min(left, POLL_S))


def _digest(part: Path, expected: str, heard: Callable[[str], None]) -> str:
    """The checksum of a file, of the kind that is expected: SHA-256, or what git names its contents by."""
    if len(expected) != 40:
        return sha256(part, lambda _: heard("Checking what was downloaded"))
    data = part.read_bytes()
    return hashlib.sha1(b"blob %d\0%s" % (len(data), data), usedforsecurity=False).hexdigest()


# What the Hub refuses


@contextmanager
def _explained(repo: str) -> Iterator[None]:
    """Raise what went wrong at the Hub, or on the way to it, as a sentence."""
    import httpx2
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, OfflineModeIsEnabled

    try:
        yield
    except OfflineModeIsEnabled as error:
        raise ModelError(
            "Nothing is downloaded while HF_HUB_OFFLINE is set: start Headstart without it.", str(error)
        ) from error
    except HFValidationError as error:
        raise ModelError(f"“{repo}” is no name of a model on the Hub, {SUCH_AS}: check it.", str(error)) from error
    except HfHubHTTPError as error:
        raise _refusal(repo, error.response.status_code, str(error)) from error
    except httpx2.TransportError as error:
        host = urlsplit(_endpoint()).netloc
        raise ModelError(
            f"{host} cannot be reached, or the connection was cut: check the network and go on later. What was "
            "downloaded is kept.",
            str(error),
        ) from error
    except httpx2.HTTPError as error:
        raise _no_hub(error) from error
    except OSError as error:
        raise explain(error) from error


def _no_hub(why: object) -> ModelError:
    """The error for whoever answers in place of the Hub: the page of a network that wants a login, a wrong address."""
    return ModelError(
        f"{urlsplit(_endpoint()).netloc} does not answer as the Hub does: check whether the network wants a login, and "
        "HF_ENDPOINT where that is set. What was downloaded is kept.",
        str(why),
    )


def _refusal(repo: str, status: int, detail: str) -> ModelError:
    if status in (401, 403):
        known = "The token that is kept was refused, or its account may not read it. " if _token() else ""
        return TokenNeededError(
            f"The Hub gives {repo} only to those who agreed to its licence, or there is no such model. {known}Agree on "
            "its page, then give a token of your account.",
            detail,
        )
    if status == 404:
        return ModelError(f"There is no {repo} on the Hub, or a file of it is gone: check the name.", detail)
    if status == 429:
        return ModelError("The Hub had too many requests from here: go on in some minutes.", detail)
    return ModelError(f"The Hub cannot give {repo} now (error {status}): try again later.", detail)
