"""Keeps the translation files by the code: `make translations` finds all texts that the window shows, brings
resources/translations/*.ts up to date, and builds what Qt reads (*.qm). A new language is an empty file of its name:
`headstart_fr.ts`.

Qt's own lupdate is not used: it takes the class that a call stands in for a part of the key, and finds no sentences of
the engine. Qt's lrelease builds the files.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as Xml

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "resources" / "translations"
SENTENCES = FOLDER / "sentences.txt"
CONTEXT = "headstart"
SPEAKERS = (
    *("engine", "app/history", "app/exchange", "app/chat", "app/documents.py", "app/settings.py", "app/updates.py"),
    *("app/files.py", "app/tools", "app/widgets/work.py", "app/system_prompt/preset_files.py"),
)
"""Where sentences are made that stay English until the window shows them. Elsewhere those of errors do."""
SILENT = ("app/history/schema.py", "app/chat/titles.py", "app/server", "app/demo", "app/command", "app/__main__.py")
"""What they say goes to a file, to the model, to other programs or to a terminal."""
STAGES = ("progress", "Loading", "say", "self._say")
"""Calls whose text is no sentence: it names what is being done, beside a bar."""
QUERY = re.compile(r"(SELECT|INSERT|UPDATE|DELETE|PRAGMA|CREATE|DROP|ALTER|WITH|BEGIN|VACUUM) |.* WHERE ")
PLACE = re.compile(r"\{[^{}]*\}")


class Key(NamedTuple):
    """What a translation is found by: the English text, and what tells it from another one of the same words."""

    text: str
    about: str = ""


class Found(NamedTuple):
    """A text of the window: whether it has forms for singular and plural, and the files it stands in."""

    is_plural: bool
    files: set[str]


def texts() -> dict[Key, Found]:
    """All that the window shows: the texts given to `tr` and `plural`, and the sentences."""
    found: dict[Key, Found] = {}
    for path in sorted((ROOT / "app").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        for key, is_plural in _called(ast.parse(path.read_text("utf-8")), name):
            found.setdefault(key, Found(is_plural, set())).files.add(name)
    for text, names in sentences().items():
        found.setdefault(Key(text), Found(False, set())).files.update(names)
    return found


def _called(tree: ast.AST, name: str) -> Iterator[tuple[Key, bool]]:
    """The texts of one file. Raises ValueError for a text that is no literal: nobody could translate it."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or name == "app/language.py":
            continue
        if node.func.id == "tr":
            about = next((each.value for each in node.keywords if each.arg == "about"), None)
            yield Key(_literal(node.args[0], name), _literal(about, name) if about else ""), False
        elif node.func.id == "plural":
            yield Key(_literal(node.args[1], name)), True


def _literal(node: ast.AST, name: str) -> str:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    raise ValueError(f"{name}:{getattr(node, 'lineno', 0)}: only a literal can be translated")


def sentences() -> dict[str, set[str]]:
    """The sentences that are made in English and translated where they are shown, each with the files it stands in."""
    found: dict[str, set[str]] = {}
    for path in sorted([*(ROOT / "engine").rglob("*.py"), *(ROOT / "app").rglob("*.py")]):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(SILENT):
            continue
        tree = ast.parse(path.read_text("utf-8"))
        said = [text for node in _spoken(tree, name.startswith(SPEAKERS)) if _is_sentence(text := _numbered(node))]
        if name.startswith(SPEAKERS):
            said += [text for node in _stages(tree) if _is_stage(text := _numbered(node))]
        for text in said:
            found.setdefault(text, set()).add(name)
    return found


def _spoken(node: ast.AST, everywhere: bool) -> Iterator[ast.JoinedStr | ast.Constant]:
    """The texts of a tree that are said: no documentation, no line of a log, nothing that is translated by name."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func)
        if called.startswith(("log.", "warnings.", "logging.")) or called in ("tr", "plural", "re.compile"):
            return
        everywhere |= called.endswith("Error") and called[:-5] not in ("Value", "Type", "Runtime", "OS", "Key")
    if everywhere and _is_text(node):
        yield node  # type: ignore[misc]  # _is_text says so
    for child in ast.iter_child_nodes(node):
        if not isinstance(node, ast.JoinedStr):
            yield from _spoken(child, everywhere)
        elif isinstance(child, ast.FormattedValue):
            yield from _spoken(child.value, everywhere)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _stages(tree: ast.AST) -> Iterator[ast.JoinedStr | ast.Constant]:
    """What is being done, in the calls that tell of it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in STAGES:
            yield from (each for each in node.args if _is_text(each))  # type: ignore[misc]


def _numbered(node: ast.JoinedStr | ast.Constant) -> str:
    """The text with {1}, {2} and so on for what is put in, also for the {names} that `str.format` fills. Blanks around
    it join it to the next sentence."""
    if isinstance(node, ast.Constant):
        parts = PLACE.split(str(node.value))
    else:
        parts = [""]
        for value in node.values:
            if isinstance(value, ast.Constant):
                parts[-1] += str(value.value)
            else:
                parts.append("")
    numbered = [part + (f"{{{number}}}" if number < len(parts) else "") for number, part in enumerate(parts, 1)]
    return "".join(numbered).strip(" ")


def _is_sentence(text: str) -> bool:
    """Whether a text is one that a user reads: some words, the first with a capital letter or put in, and a full stop.
    Two places that touch could not be told apart, nor could one that is the whole text."""
    words = re.findall(r"[A-Za-z’']+", PLACE.sub(" ", text))
    begins = re.match(r"[A-Z“{]", text) is not None
    is_whole = begins and len(words) >= 3 and text[-1:] in ".?!"
    return is_whole and "}{" not in text and "\\" not in text and not QUERY.match(text)


def _is_stage(text: str) -> bool:
    """Whether a text names what is being done: "Looking at the graphics card", "Reading {1}: page {2} of {3}"."""
    return re.match(r"[A-Z][a-z]+ ", text) is not None and "}{" not in text


def update(path: Path) -> list[Key]:
    """Bring one file up to date with the code: what is new has no translation yet, what is gone leaves. Returns what is
    not translated."""
    kept = translations(path)
    root = Xml.Element("TS", version="2.1", language=path.stem.removeprefix("headstart_"), sourcelanguage="en")
    context = Xml.SubElement(root, "context")
    Xml.SubElement(context, "name").text = CONTEXT
    found, missing = texts(), []
    for key in sorted(found):
        forms = kept.get(key, [])
        missing += [] if forms and all(forms) else [key]
        _add(context, key, found[key], forms)
    Xml.indent(root, " ")
    body = Xml.tostring(root, encoding="unicode", short_empty_elements=True)
    path.write_text(f'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n{body}\n', "utf-8")
    return missing


def _add(context: Xml.Element, key: Key, found: Found, forms: list[str]) -> None:
    message = Xml.SubElement(context, "message", {"numerus": "yes"} if found.is_plural else {})
    for name in sorted(found.files):
        Xml.SubElement(message, "location", filename=f"../../{name}")
    Xml.SubElement(message, "source").text = key.text
    if key.about:
        Xml.SubElement(message, "comment").text = key.about
    is_done = bool(forms) and all(forms)
    translation = Xml.SubElement(message, "translation", {} if is_done else {"type": "unfinished"})
    if found.is_plural:
        for form in forms or ["", ""]:
            Xml.SubElement(translation, "numerusform").text = form
    elif forms:
        translation.text = forms[0]


def translations(path: Path) -> dict[Key, list[str]]:
    """What a file holds: for each text its translation, or its forms for singular and plural."""
    if not path.exists() or not path.read_text("utf-8").strip():
        return {}
    held: dict[Key, list[str]] = {}
    for message in Xml.parse(path).iter("message"):
        translation = message.find("translation")
        if translation is None:
            continue
        forms = [each.text or "" for each in translation.iter("numerusform")] or [translation.text or ""]
        held[Key(message.findtext("source", ""), message.findtext("comment", ""))] = forms
    return held


def release(path: Path) -> None:
    """Build what Qt reads of one file. Raises CalledProcessError where the file is wrong."""
    package = Path(str(find_spec("PySide6").origin)).parent  # type: ignore[union-attr]
    tool = next(package.glob("lrelease*"))
    subprocess.run([tool, "-silent", path, "-qm", path.with_suffix(".qm")], check=True)


def main() -> int:
    """Bring everything up to date; say what is not translated. Gives 1 where something is not."""
    SENTENCES.write_text("".join(f"{line}\n" for line in written_sentences()), "utf-8")
    count = 0
    for path in sorted(FOLDER.glob("headstart_*.ts")):
        missing = update(path)
        release(path)
        count += len(missing)
        for key in missing:
            print(f"{path.name}: {key.text!r}{f' ({key.about})' if key.about else ''}")
        print(f"{path.name}: {len(texts()) - len(missing)} of {len(texts())} texts are translated")
    return 1 if count else 0


def written_sentences() -> list[str]:
    """The sentences as their file has them, one on each line."""
    return [text.replace("\n", "\\n") for text in sorted(sentences())]


if __name__ == "__main__":
    sys.exit(main())
