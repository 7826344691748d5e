"""`python -m tests.house`: a report on the house, which may warn and never fails.

It counts modules and lines a room, and names what is worth a look: long files, long functions, small files with one
importer, and the longest chain of imports between rooms.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from tests.test_architecture import file_of, imports

ROOT = Path(__file__).parent.parent
LONG_FILE, LONG_FUNCTION, LONGEST_FUNCTION, SMALL_FILE = 400, 40, 60, 30
"""In lines."""

Texts = dict[str, str]
"""The text of each Python file, by its path from the root."""


def texts_of(top: str) -> Texts:
    """Every Python file below a folder."""
    paths = sorted((ROOT / top).rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def room(path: str) -> str:
    """The room of a file: "app/chat/session.py" -> "app/chat"; what lies in a root is one by itself: "app/settings"."""
    return "/".join(path.removesuffix(".py").split("/")[:2])


def functions(texts: Texts) -> dict[str, int]:
    """The length of each function in lines, by its file and name."""
    found: dict[str, int] = {}
    for path, text in texts.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                found[f"{path}: {node.name}"] = (node.end_lineno or node.lineno) - node.lineno + 1
    return found


def importers(texts: Texts) -> dict[str, set[str]]:
    """Who imports each file."""
    found: dict[str, set[str]] = defaultdict(set)
    for path, text in texts.items():
        for name in imports(text):
            if (other := file_of(name)) and other != path:
                found[other].add(path)
    return found


def rooms_below(texts: Texts) -> dict[str, set[str]]:
    """Which rooms each room imports."""
    below: dict[str, set[str]] = defaultdict(set)
    for path, users in importers(texts).items():
        for user in users:
            below[room(user)] |= {room(path)} - {room(user)}
    return below


def circles(below: dict[str, set[str]]) -> Iterator[list[str]]:
    """Rooms that import each other in a circle; one arrow of each circle is taken out of `below`."""
    while True:
        try:
            TopologicalSorter(below).prepare()
            return
        except CycleError as error:
            circle = error.args[1]
            below[circle[1]].discard(circle[0])
            yield circle[::-1]


def longest_chain(below: dict[str, set[str]]) -> list[str]:
    """The longest chain of rooms of which each imports the next."""
    chains: dict[str, list[str]] = {}
    for name in TopologicalSorter(below).static_order():
        longest = max((chains[other] for other in below.get(name, ())), key=len, default=[])
        chains[name] = [name, *longest]
    return max(chains.values(), key=len)


def count(texts: Texts) -> None:
    """Print the modules and lines of each room."""
    for name in sorted({room(path) for path in texts}):
        own = [text.count("\n") for path, text in texts.items() if room(path) == name]
        print(f"    {name:<28}{len(own):>4} files{sum(own):>8,} lines")


def warn(texts: Texts) -> None:
    """Print what is worth a look."""
    for path, text in texts.items():
        if (length := text.count("\n")) > LONG_FILE:
            print(f"long file: {path}, {length} lines")
    for name, length in functions(texts).items():
        if length > LONG_FUNCTION:
            print(f"{'far too long' if length > LONGEST_FUNCTION else 'long'} function: {name}, {length} lines")
    for path, users in importers(texts).items():
        if len(users) == 1 and (length := texts[path].count("\n")) < SMALL_FILE:
            print(f"small file with one importer: {path}, {length} lines, in {min(users)}")


def main() -> None:
    """Print the report."""
    for top in ("engine", "app", "tests"):
        texts = texts_of(top)
        modules = [path for path in texts if not path.endswith("__init__.py")]
        in_root = sum(path.count("/") == 1 for path in modules)
        lines = sum(text.count("\n") for text in texts.values())
        print(f"{top}: {len(modules)} modules, {in_root} of them in its root; {lines:,} lines")
        count(texts)
    for top in ("engine", "app"):
        below = rooms_below(texts_of(top))
        for circle in circles(below):
            print(f"circle of rooms: {' > '.join(circle)}")
        chain = longest_chain(below)
        print(f"{top} has {len(chain)} floors: {' > '.join(chain)}")
    warn({**texts_of("engine"), **texts_of("app")})


if __name__ == "__main__":
    main()
