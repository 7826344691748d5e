"""A model that is split over several GGUF files: which files, and one header for all of them.

llama.cpp's `llama-gguf-split` names them NAME-00001-of-00003.gguf and so on, and counts them in `split.no` from 0 on.
The first has all the metadata. https://github.com/ggml-org/llama.cpp/tree/master/tools/gguf-split
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from engine.gguf.header import GgufForeignError, GgufHeader

_NAME = re.compile(r"(.*)-(\d{5})-of-(\d{5})\.gguf\Z", re.IGNORECASE | re.DOTALL)


def paths_of_parts(first: Path, header: GgufHeader) -> list[Path]:
    """The files of the model whose first one is `first`, in their order; that file alone where there are no others.

    Raises GgufForeignError where `first` is another part, or one is missing.
    """
    if header.parts < 2:
        return [first]
    named = _NAME.match(first.name)
    if named is None or int(named[3]) != header.parts:
        raise GgufForeignError(
            f"is one of {header.parts} parts of a model and has lost the end of its name: name the parts as they were, "
            f"such as NAME-00001-of-{header.parts:05}.gguf."
        )
    paths = [
        first.with_name(f"{named[1]}-{number:05}-of-{named[3]}{first.suffix}") for number in range(1, header.parts + 1)
    ]
    if missing := [path.name for path in paths if not path.is_file()]:
        others = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise GgufForeignError(f"needs all its parts in one folder: {missing[0]}{others} missing.")
    if header.metadata.get("split.no", 0) != 0:
        raise GgufForeignError(f"is not the first of its {header.parts} parts: open {paths[0].name} instead.")
    return paths


def is_later_part(header: GgufHeader) -> bool:
    """Whether a file is a part of a model, and not the first one."""
    return header.parts > 1 and header.metadata.get("split.no", 0) != 0


def joined(headers: Sequence[GgufHeader]) -> GgufHeader:
    """One header for a model, from those of all its parts.

    Raises GgufForeignError where they do not belong together.
    """
    first = headers[0]
    if len(headers) == 1:
        return first
    tensors = {name: tensor for header in headers for name, tensor in header.tensors.items()}
    numbers = [(header.metadata.get("split.no"), header.parts) for header in headers]
    count = first.metadata.get("split.tensors.count", len(tensors))
    if numbers != [(number, len(headers)) for number in range(len(headers))] or len(tensors) != count:
        raise GgufForeignError("and its other parts do not belong together: download all of them again.")
    return replace(first, tensors=tensors, paths=tuple(path for header in headers for path in header.paths))
