"""What a user can choose, kept as JSON that holds only what differs from the defaults."""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

import platformdirs

from engine import Device, Dtype, HeadstartError, InvalidRequestError, Sampling

ThemeChoice = Literal["system", "light", "dark"]


def default_path() -> Path:
    """Where the settings of this user are kept."""
    return Path(platformdirs.user_config_dir("headstart", appauthor=False)) / "settings.json"


@dataclass
class Settings:
    """All settings with their defaults. `Settings()` lives in memory only; `Settings.load` gives one that can be saved.

    `notice` holds a sentence for the user where a broken file was set aside and the defaults are in use.
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
        metadata={"about": "Answers equal to a run without the cache bit for bit, at some cost in speed."},
    )
    cache_budget_mb: int = field(
        default=0, metadata={"about": "Memory for cached prompts in MB; 0 chooses by the memory that is free."}
    )
    sampling: Sampling = field(default=Sampling(), metadata={"about": "How tokens are chosen in new conversations."})
    system_prompt: str = field(default="", metadata={"about": "System prompt of new conversations; empty for none."})
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

        A broken file is set aside under another name, and `notice` says so. Raises HeadstartError when the file is
        there and cannot be read.
        """
        path = path or default_path()
        try:
            settings = cls._read(json.loads(path.read_text("utf-8")))
        except FileNotFoundError:
            settings = cls()
        except OSError as error:
            raise HeadstartError(
                f"The settings in {path} cannot be read. Check its permissions.", str(error)
            ) from error
        except (ValueError, TypeError, InvalidRequestError) as error:
            settings = cls()
            settings.notice = _set_aside(path, str(error))
        settings._path = path
        return settings

    def save(self) -> None:
        """Write what differs from the defaults. Raises HeadstartError when it cannot be written; the old file stays."""
        if self._path is None:
            return
        text = json.dumps({**self._foreign, **self.changed()}, indent=2, ensure_ascii=False)
        draft = self._path.with_name(f"{self._path.name}.{os.getpid()}.tmp")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            draft.write_text(text + "\n", "utf-8")
            os.replace(draft, self._path)
        except OSError as error:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
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
    def _read(cls, values: Any) -> Settings:
        if not isinstance(values, dict):
            raise TypeError("the settings are not a JSON object")
        settings = cls()
        hints = get_type_hints(cls)
        for name, value in values.items():
            if name not in hints:
                settings._foreign[name] = value
            elif name == "sampling":
                settings.sampling = _read_sampling(value)
            else:
                setattr(settings, name, _checked(name, value, hints[name]))
        return settings


def describe(name: str) -> str:
    """The description of one setting, for a tooltip."""
    return next(option.metadata["about"] for option in fields(Settings) if option.name == name)


def _checked(name: str, value: Any, hint: Any) -> Any:
    choices = get_args(hint)
    if choices and value not in choices:
        raise ValueError(f"{name} is {value!r}, not one of {', '.join(choices)}")
    if not choices and type(value) is not hint:
        raise TypeError(f"{name} is {value!r}, not of type {hint.__name__}")
    if name == "cache_budget_mb" and value < 0:
        raise ValueError(f"{name} is {value}, less than 0")
    return value


def _read_sampling(value: Any) -> Sampling:
    if not isinstance(value, dict):
        raise TypeError("sampling is not a JSON object")
    hints = get_type_hints(Sampling)
    for name, number in value.items():
        hint = int | float if hints.get(name) is float else hints.get(name, object)
        if not isinstance(number, hint) or isinstance(number, bool):
            raise TypeError(f"{name} in sampling is {number!r}, not a fitting number")
    return Sampling(**value)


def _sampling_changes(sampling: Sampling) -> dict[str, Any]:
    defaults = asdict(Sampling())
    return {name: value for name, value in asdict(sampling).items() if value != defaults[name]}


def _set_aside(path: Path, reason: str) -> str:
    target = path.with_name(f"{path.name}.broken-{time.strftime('%Y%m%d-%H%M%S')}")
    try:
        os.replace(path, target)
    except OSError as error:
        raise HeadstartError(f"The settings in {path} are broken. Delete this file.", f"{reason}; {error}") from error
    return f"The settings were broken ({reason}). They were kept as {target}, and the defaults are in use."
