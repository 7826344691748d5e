"""Which languages there are, and the one the window is in. A language is a file of Qt's, resources/translations/NAME.qm
(`make translations` builds it): whoever adds one has added a language.

`speak` comes before the first module that holds texts is imported, since some of them are made into constants there.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator
from PySide6.QtGui import QGuiApplication

from app import language
from app.language import ENGLISH, Language

FOLDER = Path(str(files("resources"))) / "translations"
PREFIX = "headstart_"
SENTENCES = FOLDER / "sentences.txt"
"""The sentences that `language.translated` may meet, one on each line, with what changes in them numbered."""
CONTEXT = "headstart"
"""The context of all messages in Qt's files."""


def offered() -> list[tuple[str, str]]:
    """The languages, each with its own name for itself: ("en", "English"), ("de", "Deutsch")."""
    codes = [ENGLISH.code, *sorted(path.stem.removeprefix(PREFIX) for path in FOLDER.glob(f"{PREFIX}*.qm"))]
    return [(code, _own_name(code)) for code in codes]


def _own_name(code: str) -> str:
    name = QLocale(code).nativeLanguageName()
    return "English" if code == ENGLISH.code else name[:1].upper() + name[1:]


def chosen(setting: str, wanted: list[str] | None = None) -> str:
    """The language for a setting: a code, or "system", which is the first of the user's languages that there is.
    `wanted` are those of the system, the dearest first ("de-AT"); English where none is offered."""
    codes = [code for code, _ in offered()]
    if setting in codes:
        return setting
    for name in QLocale.system().uiLanguages() if wanted is None else wanted:
        for code in (name.replace("-", "_"), name.partition("-")[0]):
            if code in codes:
                return code
    return ENGLISH.code


def speak(setting: str) -> None:
    """Have all texts in the language of this setting from now on; one whose file cannot be read leaves English."""
    code = chosen(setting)
    language.use(ENGLISH if code == ENGLISH.code else _from_file(code))


def _from_file(code: str) -> Language:
    translator = QTranslator()
    if not translator.load(str(FOLDER / f"{PREFIX}{code}.qm")):
        return ENGLISH
    locale = QLocale(code)

    def translate(text: str, about: str, count: int) -> str:
        return translator.translate(CONTEXT, text, about or None, count) or "" if text else ""

    sentences = tuple(line.replace("\\n", "\n") for line in SENTENCES.read_text("utf-8").splitlines())
    return Language(code, translate, locale.groupSeparator(), locale.decimalPoint(), sentences)


def dress(app: QGuiApplication) -> None:
    """Give Qt's own texts (the standard buttons, the menus of text fields) the language in use, and the window its
    direction. Numbers in Qt's fields are written as the system does, where the system's language is the same."""
    code = language.current().code
    system = QLocale.system()
    is_systems = system.name().partition("_")[0] == code or (system.name() == "C" and code == ENGLISH.code)
    locale = system if is_systems else QLocale(code)
    QLocale.setDefault(locale)
    app.setLayoutDirection(locale.textDirection())
    translator = QTranslator(app)
    if code != ENGLISH.code and translator.load(
        f"qtbase_{code}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    ):
        QCoreApplication.installTranslator(translator)
