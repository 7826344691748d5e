"""The README's table "what each class gets", made from the classes under test: `python -m tests.engine.model_table`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from transformers import PreTrainedConfig

from engine.models.support import CHOOSE, check_reusable, classify
from engine.types import ModelError, ReuseClass
from tests.engine.model_zoo import CASES, REFUSED, ROPE_CASES, ModelCase

HEADER = ("Model class", "Computed by", "Reuse", "What to know")
OURS, THEIRS = "Headstart", "transformers"
OTHERS = (
    "Any other decoder with attention layers only",
    THEIRS,
    "checked when it is loaded",
    "A test prompt is read in two pieces and at once; a model that gives two answers is refused.",
)
RULER = ("---",) * len(HEADER)


def table() -> str:
    """Markdown. What is reused is what `classify` says of the very configs that the tests run."""
    lines = [HEADER, RULER, *_reused(CASES), OTHERS, *_reused(ROPE_CASES), *_refused()]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _reused(cases: list[ModelCase]) -> Iterator[tuple[str, str, str, str]]:
    """One line for all classes that get and need to know the same."""
    names: dict[tuple[str, str, str], list[str]] = {}
    for case in cases:
        found = _offered(case.config())
        by = OURS if case.is_fast else THEIRS
        names.setdefault((by, found.name, case.note or found.sentence), []).append(case.name)
    for cells, same in names.items():
        yield ", ".join(same), *cells


def _offered(config: PreTrainedConfig) -> ReuseClass:
    """What a user gets: the declared class, unless the door is still shut."""
    found = classify(config)
    try:
        check_reusable(config)
    except ModelError as error:
        return replace(found, name="refused", sentence=str(error))
    return found


def _refused() -> Iterator[tuple[str, str, str, str]]:
    names: dict[str, list[str]] = {}
    for case in REFUSED:
        sentence = classify(case.config()).sentence.removesuffix(CHOOSE).strip()
        names.setdefault(sentence, []).append(case.name)
    for sentence, same in names.items():
        yield ", ".join(same), "–", "refused", sentence


if __name__ == "__main__":
    print(table())
