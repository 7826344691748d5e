"""The import rules of the house, by folder: a new file needs no entry here, a new folder needs one line.

Rooms are listed from the bottom up. A room may import the rooms of the rows below its own; rooms of one row do not know
each other. The rules are held by walking the syntax tree of every file, and by what `import` really loads.
"""

from __future__ import annotations

import ast
import functools
import graphlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import engine

ROOT = Path(__file__).parent.parent
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}

ENGINE_ROWS: tuple[set[str], ...] = (
    {"types"},
    {"events"},
    {"port", "graphics", "keys", "large_pages", "native", "private_file", "remembered", "side_programs", "stopping"},
    {"gguf"},
    {"cache", "prompt", "library"},
    {"machine", "runtimes", "weights"},
    {"llama"},
    {"models"},
    {"turn"},
    {"worker"},
    {"remote"},
    {"__init__"},
)
APP_ROWS: tuple[set[str], ...] = (
    {"language"},
    {"words", "files", "documents", "licences", "matching", "updates", "theme", "placeholders", "prices"},
    {"settings", "translations"},
    {"server", "tools"},
    {"widgets", "history", "command"},
    {"chat", "exchange", "own_data"},
    {"charts", "transcript", "composer", "sidebar", "system_prompt", "proof", "models"},
    {"window", "crash"},
    {"application"},
    {"demo"},
    {"__main__"},
)
WITHOUT_TORCH = {"types", "events", "port", "prompt", "gguf", "library", "worker", "remote"}
"""Rooms of the engine that never compute, and so load without torch."""
TORCH_IN_CACHE = {
    "store", "copies", "memory_tier", "disk_tier", "prefix_cache", "contract", "null_cache", "rounding", "salted",
}  # fmt: skip
"""The cache's index needs no tensor; these hold and move them."""
TRANSFORMERS = {"models", "prompt"}
COMPILED = {"native"}
SQLITE = {"app/history", "engine/cache"}
QT = {"PySide6", "shiboken6", "pyqtgraph", "pytestqt"}
WITHOUT_QT = {
    "language", "history", "licences", "matching", "updates", "own_data", "words", "files", "documents", "placeholders",
    "prices", "settings", "command", "server", "tools", "exchange",
}  # fmt: skip
QT_CORE_ONLY = {"chat"}
HEAVY = {"torch", "transformers", "safetensors", "gguf"}
PRIVATE_READS = 40
"""How often tests may name a private attribute of an object that is not their own: each stands in the way of whoever
changes what nobody else sees."""
NAMED_SO_BY_A_LIBRARY = {
    "_replace", "_asdict", "_fields", "_attn_implementation", "_C", "_make_wrapper_subclass", "_to_copy", "_cdata",
    "_set_only_lift_cpu_tensors", "_disabled_torch_function_impl", "_dispatch_has_kernel_for_dispatch_key", "_unique2",
    "_local_scalar_dense", "_grouped_mm", "_index_put_impl_",
}  # fmt: skip
"""Public, whatever they look like."""


def sources() -> list[str]:
    """Every Python file of the house, relative to the root."""
    files = [path for top in ("app", "engine", "resources", "tests") for path in (ROOT / top).rglob("*.py")]
    return sorted(path.relative_to(ROOT).as_posix() for path in files)


@functools.cache
def imports(source: str) -> tuple[str, ...]:
    """The dotted names a file imports, also inside functions and through importlib; `from a import b` gives "a.b"."""
    found: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found += [f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            found += [str(argument.value) for argument in node.args if isinstance(argument, ast.Constant)]
    return tuple(found)


def row(rows: tuple[set[str], ...], room: str) -> int:
    """In which row a room stands, counted from the bottom; -1 where it has none."""
    return next((number for number, rooms in enumerate(rows) if room in rooms), -1)


def room_of(dotted: str) -> str:
    """The room of a dotted name: "engine.cache.tree.Match" -> "cache". Names of a package itself -> "__init__"."""
    top, *rest = dotted.split(".")
    is_room = rest and ((ROOT / top / rest[0]).is_dir() or (ROOT / top / f"{rest[0]}.py").exists())
    return rest[0] if is_room else "__init__"


def violations(path: str, source: str) -> list[str]:
    """What the file breaks, in words."""
    top, *rest = path.removesuffix(".py").split("/")
    found = [f"a module may not be called {name}" for name in rest if name in FORBIDDEN_NAMES]
    for name in imports(source):
        if name.startswith("."):
            found.append(f"{name}: imports are absolute")
        elif top == "engine":
            found += [*order(ENGINE_ROWS, rest[0], name, top), *engine_violations(path, rest, name)]
        elif top == "app":
            found += [*order(APP_ROWS, rest[0], name, top), *app_violations(path, rest, name, source)]
    return [f"{path}: {reason}" for reason in found]


def order(rows: tuple[set[str], ...], room: str, name: str, top: str) -> Iterator[str]:
    """What a room imports of its own house lies in it, or in a row below."""
    if row(rows, room) < 0 and room != "__init__":
        yield f"{room} has no row yet: give it one"
    if name.split(".")[0] == top:
        other = room_of(name)
        if other != room and row(rows, other) >= row(rows, room):
            yield f"{room} may not know {name}"


def engine_violations(path: str, rest: list[str], name: str) -> Iterator[str]:
    """The rules inside engine/."""
    room, module, library = rest[0], rest[-1], name.split(".")[0]
    if library in QT | {"app", "resources", "tests"}:
        yield f"engine may not import {name}"
    if library == "torch" and (room in WITHOUT_TORCH or is_index(room, module)):
        yield "has no business with torch"
    if library == "transformers" and room not in TRANSFORMERS:
        yield "transformers belongs to models and prompt"
    if library == "ctypes" and not (room in COMPILED or module.startswith("compiled_")):
        yield "compiled code has its own modules"
    if library == "sqlite3" and "/".join(path.split("/")[:2]) not in SQLITE:
        yield "sqlite3 belongs to the disk tier"


def is_index(room: str, module: str) -> bool:
    """Whether a module belongs to the half of the cache that knows tokens and no tensors."""
    return room == "cache" and module not in TORCH_IN_CACHE


def app_violations(path: str, rest: list[str], name: str, source: str) -> Iterator[str]:
    """The rules inside app/."""
    room, library = rest[0], name.split(".")[0]
    if library in HEAVY:
        yield f"{library} belongs to the engine"
    if library == "engine" and name not in {f"engine.{public}" for public in engine.__all__}:
        yield f"{name} is not a public name of the engine"
    if library == "pyqtgraph" and room != "charts":
        yield "pyqtgraph belongs to the charts"
    if library == "sqlite3" and room != "history":
        yield "sqlite3 belongs to the history"
    if library in QT and (room in WITHOUT_QT or (room in QT_CORE_ONLY and not name.startswith("PySide6.QtCore."))):
        yield f"{room} has no business with {name}"
    if room in APP_ROWS[6] and name.startswith("app.chat") and builds_widgets(source):
        yield "a widget takes values and knows no chat: its presenter does"
    if library == "tests":
        yield "the program may not import its tests"


def builds_widgets(source: str) -> bool:
    """Whether a file defines a widget: a class that derives, in any number of steps, from one of Qt or pyqtgraph."""
    return any(is_widget(base) for bases in classes(source).values() for base in bases)


def is_widget(name: str) -> bool:
    """Whether a class, by the name that `classes` gives it, is a widget."""
    own = classes_of_app().get(name)
    if own is not None:
        return any(is_widget(base) for base in own)
    return name.startswith(("Q", "pyqtgraph.")) and name != "QObject"


@functools.cache
def classes_of_app() -> dict[str, set[str]]:
    """The bases of every class in app/, both by name; classes of one name are taken together."""
    found: dict[str, set[str]] = {}
    for path in (ROOT / "app").rglob("*.py"):
        for name, bases in classes(path.read_text(encoding="utf-8")).items():
            found.setdefault(name, set()).update(bases - {name})
    return found


@functools.cache
def classes(source: str) -> dict[str, set[str]]:
    """The bases of every class in a file. Each goes by its last name, those of pyqtgraph as "pyqtgraph.PlotWidget"."""
    nodes = list(ast.walk(ast.parse(source)))
    plots = {alias.asname or alias.name for node in nodes for alias in imported_from(node, "pyqtgraph")}
    found: dict[str, set[str]] = {}
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            names = [ast.unparse(base).split("[")[0].split(".") for base in node.bases]
            found[node.name] = {f"pyqtgraph.{each[-1]}" if each[0] in plots else each[-1] for each in names}
    return found


def imported_from(node: ast.AST, library: str) -> list[ast.alias]:
    """What an import statement names of a library, or the library itself."""
    if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == library:
        return node.names
    if isinstance(node, ast.Import):
        return [alias for alias in node.names if alias.name.split(".")[0] == library]
    return []


def private_reads(source: str) -> list[str]:
    """The private attributes, by their objects, that a file names of others than itself, its class and its base."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)]
    private = [node for node in nodes if node.attr.startswith("_") and not node.attr.startswith("__")]
    own = ("self", "cls", "super()")
    return [
        ast.unparse(node)
        for node in private
        if node.attr not in NAMED_SO_BY_A_LIBRARY and ast.unparse(node.value) not in own
    ]


def test_files_keep_the_rules() -> None:
    found = [breach for path in sources() for breach in violations(path, (ROOT / path).read_text(encoding="utf-8"))]
    assert found == []


def test_tests_use_public_names() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")]
    found = [read for source in sources for read in private_reads(source)]
    assert len(found) <= PRIVATE_READS, sorted(found)


def test_private_reads_are_counted() -> None:
    source = "engine._worker.idle\nself._a + cls._b + super()._c()\nrow._replace(x=1)\nx.__class__\nself.a._b = 1"
    assert sorted(private_reads(source)) == ["engine._worker", "self.a._b"]


@pytest.mark.parametrize("top", ["engine", "app"])
def test_no_file_imports_itself_in_a_circle(top: str) -> None:
    graph: dict[str, set[str]] = {}
    for path in (ROOT / top).rglob("*.py"):
        if path.name != "__init__.py":
            names = imports(path.read_text(encoding="utf-8"))
            graph[path.relative_to(ROOT).as_posix()] = {file for name in names if (file := file_of(name))}
    assert list(graphlib.TopologicalSorter(graph).static_order())


def file_of(dotted: str) -> str:
    """The file that a dotted name of the house comes from, "" where it is none of ours."""
    parts = dotted.split(".")
    for length in (len(parts), len(parts) - 1):
        path = ROOT.joinpath(*parts[:length]).with_suffix(".py")
        if parts[0] in {"engine", "app"} and length > 1 and path.exists():
            return path.relative_to(ROOT).as_posix()
    return ""


@pytest.mark.parametrize("package", ["engine", "app.application, app.__main__, app.demo.demo"])
def test_import_brings_no_torch(package: str) -> None:
    """The window shows before torch is there, so nothing on the way to it may import torch."""
    heavy = "{'torch', 'transformers'} & set(sys.modules)"
    program = f"import sys, {package}; sys.exit(str(sorted({heavy})) if {heavy} else 0)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


MADE_UP = [
    ("engine/cache/prefix_cache.py", "import ctypes"),
    ("engine/cache/tree.py", "import torch"),
    ("engine/cache/tree.py", "from engine.turn.responder import Responder"),
    ("engine/cache/tree.py", "from engine.prompt.template import Prompt"),
    ("engine/types.py", "def late():\n    import engine.events"),
    ("engine/types.py", "from engine import Message"),
    ("engine/worker/engine.py", "import app.session"),
    ("engine/worker/engine.py", "from PySide6.QtCore import QObject"),
    ("engine/worker/engine.py", "import importlib\nimportlib.import_module('PySide6')"),
    ("engine/worker/engine.py", "__import__('app')"),
    ("engine/turn/responder.py", "from transformers import AutoModel"),
    ("engine/library/resolve.py", "import torch.nn"),
    ("engine/library/resolve.py", "def late():\n    import torch"),
    ("engine/memories.py", "import json"),
    ("engine/models/loaded.py", "from .types import Message"),
    ("engine/turn/turn.py", "import sqlite3"),
    ("engine/cache/utils.py", "import json"),
    ("app/helpers.py", "import json"),
    ("app/common/words.py", "import json"),
    ("app/chat/session.py", "import torch"),
    ("app/chat/session.py", "from engine.types import Message"),
    ("app/chat/session.py", "import engine.worker"),
    ("app/chat/session.py", "from engine import PrefixCache"),
    ("app/chat/session.py", "import sqlite3"),
    ("app/chat/session.py", "import pyqtgraph as pg"),
    ("app/chat/session.py", "from PySide6.QtWidgets import QWidget"),
    ("app/chat/session.py", "from app.window.window import Window"),
    ("app/chat/session.py", "from tests.app.fake_engine import FakeEngine"),
    ("app/window/window.py", "def late():\n    from pyqtgraph import PlotWidget"),
    ("app/window/window.py", "from app.application import build"),
    ("app/history/history.py", "from PySide6.QtCore import QObject"),
    ("app/composer/composer.py", "from app.transcript.message import Answer"),
    ("app/composer/composer.py", "from app.chat.session import Session\nclass Composer(QFrame): ..."),
    ("app/composer/composer.py", "from app.chat.session import Session\nclass Hint(Label): ..."),
    ("app/charts/plot.py", "from app.chat.session import Session\nclass Bars(Card): ..."),
    (
        "app/charts/plot.py",
        "import pyqtgraph as pg\nfrom app.chat import session\nclass Plot(pg.PlotWidget): ...",
    ),
    ("app/charts/plot.py", "from pyqtgraph import PlotItem\nfrom app.chat import session\nclass Plot(PlotItem): ..."),
    ("app/widgets/icons.py", "from app import chat"),
    ("app/widgets/icons.py", "from app.composer.composer import Composer"),
]


@pytest.mark.parametrize(("path", "source"), MADE_UP)
def test_a_breach_is_reported(path: str, source: str) -> None:
    assert violations(path, source)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("engine/cache/prefix_cache.py", "from engine.cache.tree import PrefixTree\nfrom engine.types import Message"),
        ("engine/models/loaded.py", "import torch\nfrom transformers import AutoModelForCausalLM"),
        ("engine/worker/engine.py", "import queue\nfrom engine.turn.responder import Responder"),
        ("app/charts/panel.py", "import pyqtgraph\nfrom engine import TurnStats"),
        ("app/history/file.py", "import sqlite3\nfrom engine import Message"),
        ("app/composer/presenter.py", "from app.chat.session import Session\nclass Presenter(QObject): ..."),
        (
            "app/composer/composer.py",
            "from app import theme\nfrom app.widgets.icons import icon\nfrom engine import Role",
        ),
    ],
)
def test_a_good_file_is_let_through(path: str, source: str) -> None:
    assert violations(path, source) == []
