"""What a user can choose, kept as JSON that holds only what differs from the defaults."""

from __future__ import annotations

import json
import math
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

import platformdirs

from app.files import keep_private, write_whole
from engine import Device, Dtype, HeadstartError, InvalidRequestError, ModelSpec, Sampling

MOST_MEGABYTES = 10_000_000
"""The largest cache budget that can be set, in MB."""

MEGABYTE = 1_000_000
"""Bytes."""

SHOWN = 40
"""Characters of a value that are repeated to the user."""

ThemeChoice = Literal["system", "light", "dark"]
TooLong = Literal["ask", "trim", "refuse"]


def default_path() -> Path:
    """Where the settings of this user are kept."""
    return Path(platformdirs.user_config_dir("headstart", appauthor=False)) / "settings.json"


@cache
def _measured() -> dict[str, Any]:
    """What the committed bench run found (packaging/fill_speed.py writes the file from tests/bench/bench.json)."""
    measured: dict[str, Any] = json.loads((files("resources") / "measured.json").read_text("utf-8"))
    return measured


def exact_cost() -> str:
    """What exact mode costs in time."""
    cost = _measured()["exact"]
    times = cost["exact_s"] / cost["default_s"]
    return (
        f"The first token of a later turn takes about {times:.1f} times as long for it "
        f"({cost['exact_s']:.2f} s for {cost['default_s']:.2f} s with the default model on two cores)."
    )


def quality(dtype: str) -> str:
    """What a number format costs in quality; "" where that was not measured."""
    figures = _measured()["perplexity"]
    if dtype not in figures:
        return ""
    text = f"Perplexity of a page of text with the default model: {figures[dtype]:.1f}"
    return f"{text}." if dtype == "fp32" else f"{text}, in fp32 {figures['fp32']:.1f} (lower is better)."


@dataclass
class Settings:
    """All settings with their defaults. `Settings()` lives in memory only; `Settings.load` gives one that can be saved.

    `notice` holds a sentence for the user where a broken file was set aside and defaults are in use: all of them, or
    those of the fields whose values were of no use.
    """

    theme: ThemeChoice = field(
        default="system", metadata={"about": "Colours of the window: as the system has them, light, or dark."}
    )
    model_path: str = field(
        default="", metadata={"about": "Folder or GGUF file of the model; empty for the default model."}
    )
    device: Device = field(default="auto", metadata={"about": "Where the model runs; auto takes the fastest there is."})
    dtype: Dtype = field(
        default="auto", metadata={"about": "Number format of the weights; auto measures which is faster."}
    )
    exact: bool = field(
        default=False,
        metadata={"about": f"Answers equal to a run without the cache bit for bit. {exact_cost()}"},
    )
    cache_budget_mb: int = field(
        default=0, metadata={"about": "Memory for cached prompts in MB; 0 chooses by the memory that is free."}
    )
    disk_budget_mb: int = field(
        default=-1,
        metadata={
            "about": "Disk space in MB for what was read of prompts, so that it need not be read again after a "
            "restart; automatic takes 2 GB, but at most a tenth of the free space. With 0 nothing is kept there, and "
            "what is there is deleted at once."
        },
    )
    sampling: Sampling = field(default=Sampling(), metadata={"about": "How tokens are chosen in new conversations."})
    system_prompt: str = field(default="", metadata={"about": "System prompt of new conversations; empty for none."})
    too_long: TooLong = field(
        default="ask",
        metadata={"about": "When a chat outgrows the model: ask, leave out its oldest turns at once, or only refuse."},
    )
    use_cache: bool = field(default=True, metadata={"about": "Reuse what was computed for earlier prompts."})
    show_charts: bool = field(default=True, metadata={"about": "Show the charts beside the transcript."})
    show_sidebar: bool = field(default=True, metadata={"about": "Show the list of conversations."})
    window_geometry: str = field(
        default="", metadata={"about": "Place and size of the window, in Qt's own form as base64."}
    )

    saved_seconds: float = field(
        default=0.0, metadata={"about": "Sum of the waits for a first token that the cache spared, in seconds."}
    )
    saved_tokens: int = field(default=0, metadata={"about": "Sum of the tokens that were not read again."})
    saved_is_estimate: bool = field(
        default=False, metadata={"about": "Whether the cold time of any turn in these sums is an estimate."}
    )

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
        path = path or default_path()
        keep_private(path)
        wrong: list[str] = []
        try:
            if path.exists() and not path.is_file():  # a pipe would be waited for
                raise IsADirectoryError(f"{path} is no file")
            settings = cls._read(json.loads(path.read_text("utf-8")), wrong)
        except FileNotFoundError:
            settings = cls()
        except OSError as error:
            raise HeadstartError(
                f"The settings in {path} cannot be read. Check its permissions.", str(error)
            ) from error
        except (ValueError, TypeError, RecursionError) as error:
            settings = cls()
            kept = _set_aside(path, str(error))
            settings.notice = (
                f"The settings were broken ({error}). They were kept as {kept}, and the defaults are in use."
            )
        settings._path = path
        if wrong:
            settings._keep_the_rest(wrong)
        return settings

    def _keep_the_rest(self, wrong: list[str]) -> None:
        """Set the file aside for what is of no use in it, and write the rest anew."""
        assert self._path is not None
        kept = _set_aside(self._path, "; ".join(wrong))
        self.notice = (
            f"Some settings were of no use and have their defaults: {'; '.join(wrong)}. The file was kept as {kept}."
        )
        if self.changed() or self._foreign:
            with suppress(HeadstartError):  # the next save says so
                self.save()

    def save(self) -> None:
        """Write what differs from the defaults. Raises HeadstartError when it cannot be written; the old file stays."""
        if self._path is None:
            return
        text = json.dumps({**self._foreign, **self.changed()}, indent=2, ensure_ascii=False)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._path, f"{text}\n".encode(), is_private=True)
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
            if value == option.default:
                continue
            changed[option.name] = _sampling_changes(value) if isinstance(value, Sampling) else value
        return changed

    @classmethod
    def _read(cls, values: Any, wrong: list[str]) -> Settings:
        """The settings in these values; `wrong` gets a few words for each that is of no use."""
        if not isinstance(values, dict):
            raise TypeError("the settings are not a JSON object")
        settings = cls()
        hints = get_type_hints(cls)
        for name, value in values.items():
            if name not in hints:
                settings._foreign[name] = value
            elif name == "sampling":
                settings.sampling = _read_sampling(value, wrong)
            elif reason := _fault(value, hints[name], _RANGES.get(name)):
                wrong.append(f"{name} is {_shown(value)}, {reason}")
            else:
                setattr(settings, name, value)
        return settings


def describe(name: str) -> str:
    """The description of one setting, for a tooltip."""
    return next(option.metadata["about"] for option in fields(Settings) if option.name == name)


_RANGES = {"cache_budget_mb": (0, MOST_MEGABYTES), "disk_budget_mb": (-1, MOST_MEGABYTES)}
"""The least and the largest value; -1 lets the engine choose."""


def _fault(value: Any, hint: Any, span: tuple[int, int] | None) -> str:
    """What is wrong with a value of this type, "" where nothing is."""
    choices = get_args(hint)
    if choices:
        return "" if value in choices else f"not one of {', '.join(choices)}"
    if type(value) is not hint:
        return f"not of type {hint.__name__}"
    if isinstance(value, float) and not math.isfinite(value):
        return "no number"
    is_outside = span is not None and not span[0] <= value <= span[1]
    return f"not between {span[0]} and {span[1]:,}" if span is not None and is_outside else ""


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
    text = repr(value) if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def _sampling_changes(sampling: Sampling) -> dict[str, Any]:
    defaults = asdict(Sampling())
    return {name: value for name, value in asdict(sampling).items() if value != defaults[name]}


def _set_aside(path: Path, reason: str) -> Path:
    """Give the file another name, and return that."""
    target = path.with_name(f"{path.name}.broken-{time.strftime('%Y%m%d-%H%M%S')}")
    try:
        os.replace(path, target)
    except OSError as error:
        raise HeadstartError(f"The settings in {path} are broken. Delete this file.", f"{reason}; {error}") from error
    return target


def model_spec(settings: Settings) -> ModelSpec:
    """Which model the settings ask for, and how it is to be loaded."""
    return ModelSpec(
        settings.model_path,
        settings.device,
        settings.dtype,
        settings.exact,
        cache_bytes(settings) or None,
        disk_bytes(settings),
    )


def cache_bytes(settings: Settings) -> int:
    """What the cache may hold; 0 lets the engine choose."""
    return settings.cache_budget_mb * MEGABYTE


def disk_bytes(settings: Settings) -> int | None:
    """What may be kept on disk; None lets the engine choose."""
    return None if settings.disk_budget_mb < 0 else settings.disk_budget_mb * MEGABYTE
