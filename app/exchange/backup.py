"""Everything of the user's in one file, and back: conversations, saved system prompts and settings, in a ZIP file.

Models are not in it, nor what was computed: both can be had again. To go back, what is there is renamed and kept.
"""

from __future__ import annotations

import json
import shutil
import time
import zipfile
from contextlib import ExitStack
from pathlib import Path

from app.documents import BROKEN_ARCHIVE, refuse_locked
from app.files import rename, set_aside
from app.history.copies import COMPANIONS, OPENED, copy_to, refuse_unusable
from app.history.history import History
from engine import HeadstartError

HISTORY, SETTINGS, ABOUT = "history.sqlite3", "settings.json", "backup.json"
"""The names of what is in the file."""
KIND = "headstart.backup"
BESIDE = (*COMPANIONS, OPENED)
"""Endings of the files beside that of the conversations, which belong to it."""
_CHUNK = 1 << 20


def write_backup(history: History, settings: Path, target: Path) -> None:
    """Write everything into one file, whole or not at all. Raises HeadstartError with a sentence for the user."""
    copy = target.with_name(f"{target.name}.copy")
    draft = target.with_name(f"{target.name}.tmp")
    try:
        with history.file.speaking():
            copy_to(history.file.db, copy)
        about = {"kind": KIND, "made": time.strftime("%Y-%m-%d %H:%M:%S")}
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(ABOUT, json.dumps(about))
            archive.write(copy, HISTORY)
            if settings.is_file():
                archive.write(settings, SETTINGS)
        draft.replace(target)
    except OSError as error:
        raise HeadstartError(f"The backup could not be written: {error.strerror or error}.", str(error)) from error
    finally:
        copy.unlink(missing_ok=True)
        draft.unlink(missing_ok=True)


def unpack(backup: Path, folder: Path) -> None:
    """Take a backup apart into an empty folder, and look whether it can be used. Raises HeadstartError where not."""
    refused = f"{backup.name} is no backup of Headstart, or it is damaged."
    try:
        with zipfile.ZipFile(backup) as archive:
            refuse_locked(archive, backup.name)
            if json.loads(archive.read(ABOUT)).get("kind") != KIND:
                raise HeadstartError(refused)
            for name in {HISTORY, *({SETTINGS} & set(archive.namelist()))}:
                with archive.open(name) as packed, (folder / name).open("wb") as out:
                    shutil.copyfileobj(packed, out, _CHUNK)
        refuse_unusable(folder / HISTORY, backup.name)
    except HeadstartError:
        raise
    except (*BROKEN_ARCHIVE, KeyError, AttributeError) as error:
        raise HeadstartError(refused, str(error)) from None
    except OSError as error:
        raise HeadstartError(f"{backup.name} could not be read: {error.strerror or error}.", str(error)) from error


def put_back(folder: Path, history: Path, settings: Path) -> list[Path]:
    """Put what `unpack` left in a folder in place of what is there, which is renamed; returns the new names of that.

    Call it while nobody has anything of it open. Raises HeadstartError; then what was there is there again.
    """
    kept: list[Path] = []
    wanted = {history: folder / HISTORY, settings: folder / SETTINGS}
    drafts = {target: target.with_name(f"{target.name}.restored") for target in wanted if wanted[target].is_file()}
    try:
        with ExitStack() as undo:
            for target, draft in drafts.items():  # all that takes room, before anything has another name
                target.parent.mkdir(parents=True, exist_ok=True)
                undo.callback(draft.unlink, missing_ok=True)
                shutil.move(wanted[target], draft)
            for target, draft in drafts.items():
                if target.exists():
                    kept.append(set_aside(target, BESIDE, why="before-restore"))
                    undo.callback(rename, kept[-1], target, BESIDE)
                draft.rename(target)
                undo.callback(target.unlink)
            undo.pop_all()
    except OSError as error:
        left = ", ".join(str(each) for each in kept if each.exists())
        there = f"What was there is kept as {left}." if left else "What was there is there again."
        sentence = f"The backup could not be put back: {error.strerror or error}. {there}"
        raise HeadstartError(sentence, str(error)) from error
    return kept
