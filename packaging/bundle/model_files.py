"""Which of transformers' files about models the frozen program needs: the classes that write text, what these are built
from, and of every other class what it takes to know it by name and to refuse it with a sentence."""

from __future__ import annotations

import re
from collections.abc import Set
from functools import cache
from pathlib import Path, PurePosixPath

NEVER = ("modular_", "convert_", "image_processing", "video_processing", "feature_extraction")
"""Beginnings of names of files that no class that writes text imports."""

ALWAYS = ("__init__", "configuration_", "tokenization_")
"""Of every class: its name, its sizes, its tokenizer, which other classes may use."""

NAMED = r"from \.\.(\w+)[ .]", r"transformers\.models\.(\w+)", r"CONFIG_MAPPING\[\"(\w+)\"\]"
"""How the source of a class names another class that it is built from."""


def is_needed(name: str) -> bool:
    """Whether a file goes along, by its path inside the bundle."""
    parts = PurePosixPath(name).parts
    if parts[:2] != ("transformers", "models") or len(parts) < 4:
        return True
    return _is_needed(parts[2], parts[-1])


def is_needed_module(name: str) -> bool:
    """The same for a module."""
    parts = name.split(".")
    if parts[:2] != ["transformers", "models"] or len(parts) < 4:
        return True
    return _is_needed(parts[2], parts[-1])


def _is_needed(folder: str, file: str) -> bool:
    if file.startswith(NEVER):
        return False
    return folder in text_classes() or file.startswith(ALWAYS)


@cache
def text_classes() -> Set[str]:
    """The folders of the classes that write text, and of those that these are built from."""
    import transformers
    from transformers.models.auto.configuration_auto import model_type_to_module_name
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    root = Path(transformers.__file__).parent / "models"
    there = {path.name for path in root.iterdir() if path.is_dir()}
    found = ({model_type_to_module_name(name) for name in MODEL_FOR_CAUSAL_LM_MAPPING_NAMES} | {"auto"}) & there
    waiting = list(found)
    while waiting:
        source = "".join(path.read_text(encoding="utf-8") for path in (root / waiting.pop()).glob("*.py"))
        named = (name for pattern in NAMED for name in re.findall(pattern, source))
        new = ({model_type_to_module_name(name) for name in named} & there) - found
        found |= new
        waiting += new
    return found
