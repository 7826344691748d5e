"""The translation files: complete, built, with all that is put in; and what is chosen of them."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from string import Formatter
from types import ModuleType

import pytest
from PySide6.QtCore import QLocale, QTranslator

from app import language, translations
from app.language import ENGLISH, tr, translated
from tests.test_packaging import script

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / "resources" / "translations").glob("*.ts"))


@pytest.fixture(scope="module")
def making() -> ModuleType:
    return script("translations")


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def file(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


def test_there_is_german() -> None:
    assert ("de", "Deutsch") in translations.offered()
    assert ("en", "English") in translations.offered()


def test_every_text_of_the_window_is_translated(making: ModuleType, file: Path) -> None:
    held = making.translations(file)
    found = making.texts()
    assert sorted(key for key in found if not all(held.get(key, [""]))) == [], "run `make translations`, fill them in"
    assert sorted(held.keys() - found.keys()) == [], "run `make translations`"
    assert making.SENTENCES.read_text("utf-8").splitlines() == making.written_sentences(), "run `make translations`"


def test_a_translation_has_what_is_put_in(making: ModuleType, file: Path) -> None:
    """Each {name}, with the same form of its number, may stand anywhere; one that is unknown would be an error."""
    wrong = [
        (key.text, form)
        for key, forms in making.translations(file).items()
        for form in forms
        if not fields(form) <= fields(key.text) or ends(form) != ends(key.text)
    ]
    assert wrong == []


def fields(text: str) -> set[str]:
    if re.search(r"\{\w*\}|\{\w+[:!]", text) is None:  # braces of the text itself: nothing is put in
        return set()
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def ends(text: str) -> tuple[str, str]:
    """The blanks around a text that joins another one."""
    return text[: len(text) - len(text.lstrip(" "))], text[len(text.rstrip(" ")) :]


def test_what_qt_reads_is_what_the_file_says(making: ModuleType, file: Path) -> None:
    built = QTranslator()
    assert built.load(str(file.with_suffix(".qm")))
    stale = [
        key.text
        for key, forms in making.translations(file).items()
        for count, form in ([(1, forms[0]), (2, forms[1])] if len(forms) > 1 else [(-1, forms[0])])
        if built.translate(making.CONTEXT, key.text, key.about or None, count) != form
    ]
    assert stale == [], "run `make translations`"


@pytest.mark.parametrize(
    ("setting", "wanted", "code"),
    [
        ("de", ["fr-FR"], "de"),
        ("en", ["de-DE"], "en"),
        ("system", ["de-AT", "en-GB"], "de"),
        ("system", ["fr-FR", "de", "en"], "de"),
        ("system", ["en-GB", "de-DE"], "en"),
        ("system", ["fr-FR"], "en"),
        ("system", [], "en"),
        ("no language at all", ["de-DE"], "de"),
    ],
)
def test_the_language_is_that_of_the_setting_or_the_first_of_the_user(
    setting: str, wanted: list[str], code: str
) -> None:
    assert translations.chosen(setting, wanted) == code


def test_german_is_spoken() -> None:
    translations.speak("de")
    try:
        assert tr("{value:,.1f} of {count:,}", value=1.5, count=1000) == "1,5 of 1.000"
        assert translated("No model is loaded. Open a model first.") == (
            "Es ist kein Modell geladen. Öffnen Sie zuerst ein Modell."
        )
    finally:
        translations.speak("en")
    assert language.current() is ENGLISH
    assert QLocale(QLocale.Language.German).nativeLanguageName() == "Deutsch"


def test_no_text_is_made_before_the_language_is_chosen() -> None:
    """A module that translates while it is imported would speak English for ever; none may be on the way to `speak`."""
    early = [path for path in sorted((ROOT / "app").rglob("*.py")) if translates_on_import(path.read_text("utf-8"))]
    names = {".".join(path.relative_to(ROOT).with_suffix("").parts) for path in early}
    program = "import sys, app.__main__, app.translations; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert names & set(done.stdout.split()) == set()


def translates_on_import(source: str) -> bool:
    """Whether a file calls `tr` or `plural` outside of functions, or for the default of an argument."""
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("tr", "plural"):
            return True
        if isinstance(node, ast.FunctionDef):
            waiting += [*node.args.defaults, *(each for each in node.args.kw_defaults if each), *node.decorator_list]
        elif not isinstance(node, ast.Lambda):
            waiting += ast.iter_child_nodes(node)
    return False


def test_what_translates_on_import_is_found() -> None:
    assert translates_on_import('NAME = tr("x")')
    assert translates_on_import('class A:\n    name: str = tr("x")')
    assert translates_on_import('def f(name=tr("x")): pass')
    assert not translates_on_import('def f():\n    return tr("x")')


def test_an_untranslated_text_is_kept_and_named(making: ModuleType, tmp_path: Path) -> None:
    """A new language is an empty file; what was translated stays when the file is brought up to date."""
    path = tmp_path / "headstart_fr.ts"
    path.touch()
    missing = making.update(path)
    assert set(missing) == set(making.texts())
    text = path.read_text("utf-8")
    path.write_text(text.replace('<translation type="unfinished" />', "<translation>Voilà.</translation>", 1), "utf-8")
    assert len(making.update(path)) == len(missing) - 1
    assert "Voilà." in path.read_text("utf-8")
    making.release(path)
    assert path.with_suffix(".qm").stat().st_size > 0
