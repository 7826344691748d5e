"""What helps where a turn was read again because of a clock, date or id in the system prompt, or of the form of the
chat template. Pure; no Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.chat.changing_parts import Finding, find
from app.history.records import Conversation, StoredMessage
from app.placeholders import Cure, names_in, with_cure
from engine import Divergence, TemplateSettings

FREEZE, MOVE = "freeze", "move"
KEEP_THOUGHTS, SYSTEM_IN_QUESTION = "keep thoughts", "system in question"


@dataclass(frozen=True, slots=True)
class Culprit:
    """What changed: a placeholder by its `name`, or text that was edited by hand at `pasted`."""

    name: str
    pasted: Finding | None = None

    @property
    def shown(self) -> str:
        """How it is called in a sentence."""
        return f"“{self.pasted.text}”" if self.pasted else f"{{{{{self.name}}}}}"


def find_culprit(
    conversation: Conversation, questions: Sequence[StoredMessage], divergence: Divergence | None
) -> Culprit | None:
    """What made the newest of these questions be read again from the system prompt on, as far as it can be cured.

    `questions` are those of the branch, the newest last. None where the prompt parted elsewhere, or nothing helps.
    """
    if divergence is None or divergence.message_index != 0 or not conversation.system_prompt:
        return None
    if divergence.cause not in ("date", "edited"):
        return None
    cured = {cure.name for cure in conversation.cures}
    before, now = (dict(question.filled) for question in (questions[-2:] if len(questions) > 1 else [*questions] * 2))
    for name in names_in(conversation.system_prompt):
        if name not in cured and name in before and before[name] != now.get(name, before[name]):
            return Culprit(name)
    return _pasted_culprit(conversation.system_prompt, divergence.new_text)


def cured_prompt(conversation: Conversation, culprit: Culprit, cure: Cure) -> Conversation:
    """The conversation with the cure; pasted text becomes the placeholder that is cured."""
    prompt = conversation.system_prompt
    if culprit.pasted:
        start, end = culprit.pasted.start, culprit.pasted.end
        prompt = f"{prompt[:start]}{{{{{culprit.name}}}}}{prompt[end:]}"
    return replace(conversation, system_prompt=prompt, cures=with_cure(conversation.cures, cure))


def template_cure(conversation: Conversation, divergence: Divergence | None) -> TemplateSettings | None:
    """The settings under which the chat template does not part such a prompt again; None where there are none, or where
    they are chosen already."""
    settings = conversation.template
    match divergence.cure if divergence else None:
        case "keep thoughts":
            cured = replace(settings, keep_thoughts=True)
        case "system in question":
            cured = replace(settings, system_place="question")
        case _:
            return None
    return cured if cured != settings else None


def is_moved_away(conversation: Conversation, divergence: Divergence | None) -> bool:
    """Whether what was read again is the cure itself: a placeholder that was moved to the newest message."""
    moved = [cure.name for cure in conversation.cures if cure.kind == "moved"]
    return divergence is not None and any(f"[{name}" in divergence.new_text for name in moved)


def _pasted_culprit(prompt: str, new_text: str) -> Culprit | None:
    """The pasted clock or date that the text around the first different token shows a piece of."""
    for finding in find(prompt):
        is_shown = any(len(part) > 1 and part in new_text for part in finding.text.split())
        if not finding.by_itself and finding.name != "uuid" and (is_shown or new_text.strip() in finding.text):
            return Culprit(finding.name, finding)
    return None
