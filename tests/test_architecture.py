"""The import rules of the house, held by walking the syntax tree of every file, and by what `import` really loads.

A new engine module gets a layer in LAYERS. It may import lower layers, and siblings while there is no circle.
"""

from __future__ import annotations

import ast
import graphlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import engine

ROOT = Path(__file__).parent.parent
LONGEST_FILE, LONGEST_TEST = 300, 500
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}

LAYERS: tuple[set[str], ...] = (
    {"types"},
    {"events"},
    {
        "port",
        "race",
        "stopping",
        "remembered",
        "rendering",
        "nativelib",
        "garbage",
        "node",
        "tree",
        "store",
        "quant",
        "nativepack",
        "reuse",
        "regime",
        "child",
        "gguf_header",
        "modelfiles",
        "control",
        "datadir",
        "diskindex",
        "diskfiles",
        "disknotes",
    },
    {
        "texts",
        "view",
        "lanecache",
        "attention",
        "lanes",
        "nullcache",
        "template",
        "sampling",
        "detokenize",
        "pieces",
        "metrics",
        "download",
        "convert",
        "device",
        "packing",
        "layers",
        "decode",
        "nativedecode",
        "rows",
        "nativerows",
        "rotary",
        "interface",
    },
    {"lean"},
    {"plain"},
    {"network"},
    {"cache", "model", "diverge", "disk", "disknodes", "library", "fingerprint", "settling", "room", "turn", "jobs"},
    {"generate"},
    {"loading"},
    {"worker"},
    {"__init__"},
)
MODEL = {
    "model",
    "attention",
    "lanecache",
    "lean",
    "layers",
    "decode",
    "rotary",
    "plain",
    "network",
    "interface",
    "quant",
    "reuse",
    "regime",
}  # what makes transformers' models run on our cache
NATIVE = {"nativelib", "nativepack", "nativedecode", "nativerows"}  # what calls compiled code
TORCH = (
    {"packing", "rows", "store", "sampling", "generate", "disk", "convert", "device", "quant", "race"} | MODEL | NATIVE
)
TRANSFORMERS = {"template", "convert"} | MODEL
QT = {"PySide6", "shiboken6", "pyqtgraph", "pytestqt"}
WITHOUT_QT = {"app/history.py", "app/records.py", "app/words.py", "app/markdown.py"} | {
    f"app/charts/{name}.py" for name in ("series", "words", "tree_layout", "tree_camera", "tree_words")
}
SQLITE = {"app/history.py"}
WIDGETS_MAY_IMPORT = {"app.theme", "app.markdown", "app.words", "app.widgets"}


def sources() -> list[str]:
    """Every Python file of the house, relative to the root."""
    files = [path for room in ("app", "engine", "resources", "tests") for path in (ROOT / room).rglob("*.py")]
    return sorted(path.relative_to(ROOT).as_posix() for path in files)


def imports(source: str) -> Iterator[str]:
    """The dotted names a file imports, also inside functions and through importlib; `from a import b` gives "a.b"."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            yield from (str(argument.value) for argument in node.args if isinstance(argument, ast.Constant))


def layer(module: str) -> int:
    """The layer of an engine module, counted from the bottom; -1 where it has none."""
    return next((number for number, names in enumerate(LAYERS) if module in names), -1)


def engine_module(name: str) -> str:
    """ "engine.types.Message" -> "types"; a name of the package itself -> "__init__"."""
    parts = name.split(".")
    known = len(parts) > 1 and (layer(parts[1]) >= 0 or (ROOT / "engine" / f"{parts[1]}.py").exists())
    return parts[1] if known else "__init__"


def violations(path: str, source: str) -> list[str]:
    """What the file breaks, in words."""
    room, module = path.split("/")[0], Path(path).stem
    found = [f"a module may not be called {module}"] if module in FORBIDDEN_NAMES else []
    longest = LONGEST_TEST if room == "tests" else LONGEST_FILE
    if source.count("\n") > longest:
        found.append(f"has more than {longest} lines: one subject a file")
    for name in imports(source):
        if name.startswith("."):
            found.append(f"{name}: imports are absolute")
        elif room == "engine":
            found += engine_violations(module, name)
        elif room == "app":
            found += app_violations(path, name)
    return [f"{path}: {reason}" for reason in found]


def engine_violations(module: str, name: str) -> Iterator[str]:
    """The rules inside engine/."""
    top = name.split(".")[0]
    if top in QT | {"app", "resources"}:
        yield f"engine may not import {name}"
    if top == "torch" and module not in TORCH:
        yield "torch has its own modules"
    if top == "transformers" and module not in TRANSFORMERS:
        yield "transformers has its own modules"
    if top == "ctypes" and module not in NATIVE:
        yield "compiled code has its own modules"
    if top == "sqlite3" and module != "diskindex":
        yield "sqlite3 belongs to the conversations"
    if layer(module) < 0:
        yield "has no layer yet: give it one in LAYERS"
    if top == "engine" and layer(engine_module(name)) > layer(module):
        yield f"{name} lies above it"


def app_violations(path: str, name: str) -> Iterator[str]:
    """The rules inside app/."""
    top = name.split(".")[0]
    if top in {"torch", "transformers", "safetensors", "gguf", "accelerate"}:
        yield f"{top} belongs to the engine"
    if top == "engine" and name not in {f"engine.{public}" for public in engine.__all__}:
        yield f"{name} is not a public name of the engine"
    if top == "pyqtgraph" and not path.startswith("app/charts/"):
        yield "pyqtgraph belongs to the charts"
    if top == "sqlite3" and path not in SQLITE:
        yield "sqlite3 belongs to the history"
    if top in QT and path in WITHOUT_QT:
        yield "has no business with Qt"
    if top == "app" and path.startswith("app/widgets/") and not is_below(name, WIDGETS_MAY_IMPORT):
        yield f"a widget may not know {name}"
    if top == "tests":
        yield "the program may not import its tests"


def is_below(name: str, packages: set[str]) -> bool:
    """Whether the dotted name is one of `packages` or lies inside one."""
    return any(name == package or name.startswith(f"{package}.") for package in packages)


@pytest.mark.parametrize("path", sources())
def test_file_keeps_the_rules(path: str) -> None:
    assert violations(path, (ROOT / path).read_text(encoding="utf-8")) == []


def test_engine_has_no_import_circle() -> None:
    graph = {}
    for path in (ROOT / "engine").glob("*.py"):
        names = {engine_module(name) for name in imports(path.read_text(encoding="utf-8")) if name.startswith("engine")}
        graph[path.stem] = names
    order = list(graphlib.TopologicalSorter(graph).static_order())
    assert order.index("types") < order.index("__init__")


@pytest.mark.parametrize("package", ["engine", "app.application", "app.__main__", "app.demo"])
def test_import_brings_no_torch(package: str) -> None:
    """The window shows before torch is there, so nothing on the way to it may import torch."""
    heavy = "{'torch', 'transformers'} & set(sys.modules)"
    program = f"import sys, {package}; sys.exit(str(sorted({heavy})) if {heavy} else 0)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("path", sorted((ROOT / "engine" / "native").iterdir()), ids=lambda path: path.name)
def test_compiled_sources_are_short_too(path: Path) -> None:
    lines = path.read_text().splitlines()
    assert path.suffix in {".c", ".h"}
    assert len(lines) <= LONGEST_FILE
    assert max(map(len, lines)) <= 120


MADE_UP = [
    ("engine/cache.py", "import ctypes"),
    ("engine/tree.py", "import torch"),
    ("engine/tree.py", "from engine.cache import PrefixCache"),
    ("engine/cache.py", "from engine.worker import Engine"),
    ("engine/types.py", "def late():\n    import engine.events"),
    ("engine/types.py", "from engine import Message"),
    ("engine/worker.py", "import app.session"),
    ("engine/worker.py", "from PySide6.QtCore import QObject"),
    ("engine/worker.py", "import importlib\nimportlib.import_module('PySide6')"),
    ("engine/worker.py", "__import__('app')"),
    ("engine/generate.py", "from transformers import AutoModel"),
    ("engine/library.py", "import torch.nn"),
    ("engine/library.py", "def late():\n    import torch"),
    ("engine/history.py", "import json"),
    ("engine/model.py", "from .types import Message"),
    ("engine/tree.py", "import sqlite3"),
    ("engine/utils.py", ""),
    ("app/helpers.py", ""),
    ("app/common.py", ""),
    ("app/session.py", "import torch"),
    ("app/session.py", "from transformers import AutoTokenizer"),
    ("app/session.py", "from engine.types import Message"),
    ("app/session.py", "import engine.worker"),
    ("app/session.py", "from engine import PrefixCache"),
    ("app/session.py", "import sqlite3"),
    ("app/session.py", "import pyqtgraph as pg"),
    ("app/session.py", "from tests.app.fake_engine import FakeEngine"),
    ("app/window.py", "def late():\n    from pyqtgraph import PlotWidget"),
    ("app/history.py", "from PySide6.QtCore import QObject"),
    ("app/markdown.py", "import PySide6"),
    ("app/charts/series.py", "import pyqtgraph"),
    ("app/widgets/composer.py", "from app.session import Session"),
    ("app/widgets/composer.py", "from app import session"),
    ("app/widgets/composer.py", "from app.themes import LIGHT"),
    ("app/window.py", "\n" * (LONGEST_FILE + 1)),
    ("tests/test_window.py", "\n" * (LONGEST_TEST + 1)),
]


@pytest.mark.parametrize(("path", "source"), MADE_UP)
def test_a_breach_is_reported(path: str, source: str) -> None:
    assert violations(path, source)


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("engine/cache.py", "from engine.tree import PrefixTree\nfrom engine.types import Message"),
        ("engine/model.py", "import torch\nfrom transformers import AutoModelForCausalLM"),
        ("engine/worker.py", "import queue\nfrom engine.generate import generate"),
        ("app/charts/panel.py", "import pyqtgraph\nfrom engine import TurnStats"),
        ("app/history.py", "import sqlite3\nfrom engine import Message"),
        (
            "app/widgets/composer.py",
            "from app import theme\nfrom app.widgets.icons import icon\nfrom engine import Role",
        ),
    ],
)
def test_a_good_file_is_let_through(path: str, source: str) -> None:
    assert violations(path, source) == []
