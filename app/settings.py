"""What a user can choose, kept as JSON that holds only what differs from the defaults."""

# ruff: noqa: RUF009 (an option is a field of the dataclass, no default that instances would share)

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import platformdirs

from app.files import keep_private, set_aside, write_whole
from engine import LEAST_CONTEXT, Device, Dtype, HeadstartError, InvalidRequestError, ModelSpec, Sampling

MOST_MEGABYTES = 10_000_000
"""The largest cache budget that can be set, in MB."""

MEGABYTE = 1_000_000
"""Bytes."""

MOST_CONTEXT = 100_000_000
"""The longest conversation that can be asked for, in tokens; no model reads as many."""

SHOWN = 40
"""Characters of a value that are repeated to the user."""

ThemeChoice = Literal["system", "light", "dark"]
TooLong = Literal["ask", "trim", "refuse"]
ReadAhead = Literal["plugged", "always", "never"]
T = TypeVar("T")


def default_path() -> Path:
    """Where the settings of this user are kept."""
    return Path(platformdirs.user_config_dir("headstart", appauthor=False)) / "settings.json"


def kept_language() -> str:
    """The language that the settings ask for, before they are loaded: the first text is made before that. "system"
    where the file does not say; what is wrong with it, whoever loads the settings finds out."""
    path = default_path()
    try:
        kept = json.loads(path.read_text("utf-8")) if path.is_file() else {}
        return str(kept.get("language", "system"))
    except (OSError, ValueError, AttributeError):
        return "system"


@cache
def _measured() -> dict[str, Any]:
    """What the committed bench run found (packaging/fill_speed.py writes the file from tests/bench/bench.json)."""
    measured: dict[str, Any] = json.loads((files("resources") / "measured.json").read_text("utf-8"))
    return measured


def quality(dtype: str) -> str:
    """What a number format costs in quality; "" where that was not measured."""
    figures = _measured()["perplexity"]
    if dtype not in figures:
        return ""
    found, best = figures[dtype], figures["fp32"]
    if dtype == "fp32":
        return f"Perplexity of a page of text with the default model: {found:.1f}."
    return f"Perplexity of a page of text with the default model: {found:.1f}, in fp32 {best:.1f} (lower is better)."


def option(default: T, about: str, span: tuple[int, int] | None = None) -> T:
    """A field of Settings: its default, what it is about in whole sentences, and the least and the largest value."""
    made: T = field(default=default, metadata={"about": about, "span": span})
    return made


@dataclass
class Settings:
    """All settings with their defaults. `Settings()` lives in memory only; `Settings.load` gives one that can be saved.

    `notice` holds a sentence for the user where a broken file was set aside and defaults are in use: all of them, or
    those of the fields whose values were of no use.
    """

    theme: ThemeChoice = option("system", "The colours of the window.")
    language: str = option("system", "The language of the window. A change is there from the next start on.")
    model_path: str = option("", "Folder or GGUF file of the model; empty for the default model.")
    recent_models: str = option("", "Models that were opened, the newest first, one on a line.")
    device: Device = option("auto", "Where the model computes. A change loads the model again.")
    dtype: Dtype = option(
        "auto",
        "How finely the model's numbers are kept: fewer bits write faster and take less memory. Measured at load, the "
        "fastest that loses nothing is taken. A change loads the model again.",
    )
    contexts: dict[str, int] = field(
        default_factory=dict,
        metadata={
            "about": "How many tokens a conversation may grow to, by the path of the model. Others get as many as the "
            "computer's memory suggests.",
            "span": (LEAST_CONTEXT, MOST_CONTEXT),
        },
    )
    kv_bits: dict[str, int] = field(
        default_factory=dict,
        metadata={
            "about": "In how many bits keys and values are cached, 8 or 16, by the path of the model. Others have 16.",
            "span": (8, 16),
        },
    )
    last_used: dict[str, int] = field(
        default_factory=dict,
        metadata={
            "about": "When each model was opened last, in seconds since 1970, by its path.",
            "span": (0, 100_000_000_000),
        },
    )
    drafts: dict[str, str] = field(
        default_factory=dict,
        metadata={
            "about": "The path of a smaller model of the same family that guesses what a model writes, by the path of "
            "that model. Others have none.",
            "span": None,
        },
    )
    cache_budget_mb: int = option(
        0,
        "For what was read of your prompts: the more, the more conversations go on without reading again. Automatic "
        "chooses by what is free.",
        span=(0, MOST_MEGABYTES),
    )
    disk_budget_mb: int = option(
        -1,
        "So that what was read of your prompts need not be read again after a restart. Automatic takes 2 GB, but at "
        "most a tenth of the free space. With 0 MB nothing is kept there, and what is there is deleted at once.",
        span=(-1, MOST_MEGABYTES),
    )
    sampling: Sampling = option(
        Sampling(),
        "How tokens are chosen in new conversations. As long as nothing is changed here, a model begins as its makers "
        "advise.",
    )
    system_prompt: str = option(
        "", "What the model is told before every conversation that you begin from now on; empty for nothing."
    )
    too_long: TooLong = option("ask", "What to do when a conversation grows longer than the model reads.")
    write_titles: bool = option(
        False,
        "Behind the first answer the model writes a title. What it has read of the conversation is remembered, so that "
        "only the question for a title is read; a question of yours breaks it off.",
    )
    look_for_updates: bool = option(
        False, "Ask at each start whether there is a newer version. Nothing but the question is sent."
    )
    read_ahead: ReadAhead = option(
        "plugged",
        "Read a question while it is written, and a conversation when it is opened, as long as nothing is answered: "
        "not on battery, always, or never. Answers are the same, and begin sooner.",
    )
    write_ahead: bool = option(
        True,
        "Guess the next words of an answer from what was said before, and check several at once: names, quotations and "
        "code come sooner. Answers are the same.",
    )
    use_cache: bool = option(True, "Reuse what was computed for earlier prompts.")
    serve: bool = option(False, "Let other programs on this computer use the model and its cache over HTTP.")
    serve_port: int = option(8642, "Port of this computer at which other programs are answered.", span=(1, 65_535))
    tool_servers: dict[str, str] = field(
        default_factory=dict,
        metadata={"about": "Servers of tools, by their names: the command that starts each, or its address."},
    )
    tool_rules: dict[str, str] = field(
        default_factory=dict,
        metadata={"about": "Which tools are called without asking (always), and which not at all (never)."},
    )
    text_percent: int = option(100, "Size of messages against the usual one, in percent.", span=(50, 300))
    show_charts: bool = option(True, "Show the charts beside the transcript.")
    show_figures: bool = option(False, "Show the figures of a turn under each answer, not only on pointing at it.")
    folded: str = option("prefixes", "Names of the charts that are folded, with commas between them.")
    show_sidebar: bool = option(True, "Show the list of conversations.")
    sidebar_width: int = option(232, "Pixels of the list of conversations.", span=(1, 10_000))
    charts_width: int = option(360, "Pixels of the charts.", span=(1, 10_000))
    window_geometry: str = option("", "Place and size of the window, in Qt's own form as base64.")

    saved_seconds: float = option(0.0, "Sum of the waits for a first token that the cache spared, in seconds.")
    saved_tokens: int = option(0, "Sum of the tokens that were not read again.")
    saved_is_estimate: bool = option(False, "Whether the cold time of any turn in these sums is an estimate.")

    def __post_init__(self) -> None:
        self.notice = ""
        self._path: Path | None = None
        # Fields a newer version wrote; they are written back as they were.
        self._foreign: dict[str, Any] = {}

    @classmethod
    def load(cls, path: Path | None = None) -> Settings:
        """Read the settings at `path` (None: the user's own). A missing file gives the defaults.

        A broken file is set aside under another name, and `notice` says so; what is of use in it stays. Raises
        HeadstartError when the file is there and cannot be read.
        """
        settings = cls()
        settings._path = path or default_path()
        try:
            wrong = settings._take(json.loads(_text_of(settings._path)))
        except FileNotFoundError:
            return settings
        except OSError as error:
            raise HeadstartError(
                f"The settings in {settings._path} cannot be read. Check its permissions.", str(error)
            ) from error
        except (ValueError, TypeError, RecursionError) as error:
            kept = _set_aside(settings._path, str(error))
            settings.notice = (
                f"The settings were broken ({error}). They were kept as {kept}, and the defaults are in use."
            )
            return settings
        if wrong:
            settings._keep_the_rest("; ".join(wrong))
        return settings

    def _take(self, values: Any) -> list[str]:
        """Take over these values; gives a few words for each that is of no use. Raises TypeError where none is."""
        if not isinstance(values, dict):
            raise TypeError("the settings are not a JSON object")
        wrong: list[str] = []
        hints = get_type_hints(Settings)
        for name, value in values.items():
            if name not in hints:
                self._foreign[name] = value
            elif name == "sampling":
                self.sampling = _read_sampling(value, wrong)
            elif reason := _fault(value, hints[name], _option(name).get("span")):
                wrong.append(f"{name} is {_shown(value)}, {reason}")
            else:
                setattr(self, name, value)
        return wrong

    def _keep_the_rest(self, wrong: str) -> None:
        """Set the file aside for what is of no use in it, and write the rest anew."""
        assert self._path is not None
        kept = _set_aside(self._path, wrong)
        self.notice = f"Some settings were of no use and have their defaults: {wrong}. The file was kept as {kept}."
        if self.changed() or self._foreign:
            with suppress(HeadstartError):  # the next save says so
                self.save()

    def save(self) -> None:
        """Write what differs from the defaults. Raises HeadstartError when it cannot be written; the old file stays."""
        if self._path is None:
            return
        text = json.dumps({**self._foreign, **self.changed()}, indent=2, ensure_ascii=False)
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Half a character becomes what JSON has for it: a file may hold one, and so may a path.
            write_whole(self._path, f"{text}\n".encode("utf-8", "backslashreplace"), is_private=True)
        except OSError as error:
            raise HeadstartError(
                f"The settings cannot be written to {self._path}. Check its permissions and the free disk space.",
                str(error),
            ) from error

    def changed(self) -> dict[str, Any]:
        """What differs from the defaults, as plain values; of `sampling` only the fields that differ."""
        changed: dict[str, Any] = {}
        for option in fields(self):
            value = getattr(self, option.name)
            if value == (option.default if option.default is not MISSING else {}):
                continue
            changed[option.name] = _sampling_changes(value) if isinstance(value, Sampling) else value
        return changed


def describe(name: str) -> str:
    """The description of one setting, for a tooltip."""
    return str(_option(name)["about"])


def _option(name: str) -> Mapping[str, Any]:
    """What `option` noted about one setting."""
    return next(each.metadata for each in fields(Settings) if each.name == name)


def _text_of(path: Path) -> str:
    """What the file holds, once nobody else may read it, nor look into its folder. Raises OSError, and ValueError for
    bytes that are no text."""
    keep_private(path.parent)
    keep_private(path)
    if path.exists() and not path.is_file():  # a pipe would be waited for
        raise IsADirectoryError(f"{path} is no file")
    return path.read_text("utf-8")


def _fault(value: Any, hint: Any, span: tuple[int, int] | None) -> str:
    """What is wrong with a value of this type, "" where nothing is."""
    choices = get_args(hint)
    if get_origin(hint) is dict:
        return _fault_in(value, choices[0], choices[1], span)
    if choices:
        return "" if value in choices else f"not one of {', '.join(choices)}"
    if type(value) is not hint:
        return f"not of type {hint.__name__}"
    if isinstance(value, float) and not math.isfinite(value):
        return "no number"
    is_outside = span is not None and not span[0] <= value <= span[1]
    return f"not between {span[0]} and {span[1]:,}" if span is not None and is_outside else ""


def _fault_in(values: Any, key: Any, hint: Any, span: tuple[int, int] | None) -> str:
    """What is wrong with a mapping of such keys to such values, "" where nothing is."""
    if not isinstance(values, dict) or not all(type(each) is key for each in values):
        return "not a JSON object"
    return next((fault for value in values.values() if (fault := _fault(value, hint, span))), "")


def _read_sampling(values: Any, wrong: list[str]) -> Sampling:
    """Sampling with every value that fits; `wrong` gets a few words for each of the others."""
    sampling = Sampling()
    if not isinstance(values, dict):
        wrong.append(f"sampling is {_shown(values)}, not a JSON object")
        return sampling
    hints = get_type_hints(Sampling)
    for name, number in values.items():
        hint = int | float if hints.get(name) is float else hints.get(name, type(None))
        if name not in hints or not isinstance(number, hint) or isinstance(number, bool):
            wrong.append(f"{name} in sampling is {_shown(number)}, not a fitting number")
            continue
        try:
            sampling = replace(sampling, **{name: number})
        except (InvalidRequestError, OverflowError):
            wrong.append(f"{name} in sampling is {_shown(number)}, out of its range")
    return sampling


def _shown(value: Any) -> str:
    """A value as the notice repeats it, cut where it is long."""
    text = repr(value) if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _sampling_changes(sampling: Sampling) -> dict[str, Any]:
    """The fields that differ from their defaults."""
    defaults = asdict(Sampling())
    return {name: value for name, value in asdict(sampling).items() if value != defaults[name]}


def _set_aside(path: Path, reason: str) -> Path:
    """Give the broken file another name, and return that."""
    try:
        return set_aside(path)
    except OSError as error:
        raise HeadstartError(f"The settings in {path} are broken. Delete this file.", f"{reason}; {error}") from error


def model_spec(settings: Settings, path: str | None = None) -> ModelSpec:
    """The model at `path`, or the one that the settings ask for, and how it is to be loaded."""
    path = settings.model_path if path is None else path
    return ModelSpec(
        path,
        settings.device,
        settings.dtype,
        cache_bytes(settings) or None,
        disk_bytes(settings),
        settings.contexts.get(path),
        8 if settings.kv_bits.get(path) == 8 else 16,
        settings.drafts.get(path, ""),
    )


def cache_bytes(settings: Settings) -> int:
    """What the cache may hold; 0 lets the engine choose."""
    return settings.cache_budget_mb * MEGABYTE


def disk_bytes(settings: Settings) -> int | None:
    """What may be kept on disk; None lets the engine choose."""
    return None if settings.disk_budget_mb < 0 else settings.disk_budget_mb * MEGABYTE
