"""Small templates of each kind that real ones are of, held against transformers, and real ones where there are any.

HEADSTART_TEMPLATES names a folder of `*.jinja` files; without it only the small ones are tried. They were written for
this test: each does one thing that made a wrong prompt, a false cause or a traceback of a real one.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.engine import family_table
from tests.engine import kinds_of_templates as kinds
from tests.engine.real_templates import Trial

FOLDER = os.environ.get("HEADSTART_TEMPLATES")
REAL = sorted(Path(FOLDER).glob("*.jinja")) if FOLDER else []


@pytest.mark.parametrize("name", kinds.KINDS)
def test_small_templates(name: str) -> None:
    """Prompts are right, and what the template does to earlier answers is told as what it is."""
    trial = Trial(name, kinds.KINDS[name]).run()
    assert trial.found == []
    assert all("tools 1" in refused for refused in trial.refused)
    assert kinds.CAUSES.get(name, set()) <= set(trial.causes)


@pytest.mark.skipif(not REAL, reason="there are no real templates here")
def test_the_table_of_families_says_what_happens() -> None:
    """What README says of thoughts, system prompts and tools is what the templates of this folder do."""
    assert family_table.table(Path(str(FOLDER))) in Path("README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_real_templates(path: Path) -> None:
    assert Trial(path.stem, path.read_text(encoding="utf-8-sig")).run().found == []
