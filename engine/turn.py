"""What one request carries from step to step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from engine.events import Divergence, FinishReason, Matched
from engine.metrics import TurnClock
from engine.nullcache import Cache
from engine.template import Prompt
from engine.types import Request


@dataclass(slots=True)
class Turn:
    """A request that is being answered. The last `from_disk` of the `reused` tokens were read from disk."""

    request_id: int
    request: Request
    prompt: Prompt
    cache: Cache
    clock: TurnClock
    is_cancelled: Callable[[], bool]
    reused: int = 0
    from_disk: int = 0
    ids: list[int] = field(default_factory=list)
    margins: list[float] = field(default_factory=list)
    reason: FinishReason = "stopped"

    def matched(self, divergence: Divergence | None) -> Matched:
        """What the look-up found."""
        return Matched(
            request_id=self.request_id,
            prompt_tokens=len(self.prompt.ids),
            reused_tokens=self.reused,
            computed_tokens=len(self.prompt.ids) - self.reused,
            divergence=divergence,
            spans=self.prompt.spans,
            disk_tokens=self.from_disk,
        )
