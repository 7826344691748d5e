"""What a list says about a conversation: whether its next turn begins warm, and how soon its first token comes."""

from __future__ import annotations

from dataclasses import dataclass

from app.widgets.words import about_seconds, from_disk, tokens


@dataclass(frozen=True, slots=True)
class Badge:
    """Whether the next turn of a conversation begins warm, and about how many seconds its first token takes; `fits`
    says whether its next prompt, of `prompt_tokens`, still fits into the context."""

    is_warm: bool
    seconds: float
    reused_tokens: int
    prompt_tokens: int
    fits: bool = True
    disk_tokens: int = 0

    @property
    def text(self) -> str:
        """As shown: "warm · 0.12 s"."""
        if not self.fits:
            return "longer than the context"
        return f"{self._warmth} · {about_seconds(self.seconds)}"

    @property
    def explanation(self) -> str:
        """What it means, in a sentence."""
        share = f"{self.reused_tokens:,} of {tokens(self.prompt_tokens)} of its next prompt are in the cache"
        share += from_disk(self.disk_tokens)
        if not self.fits:
            return f"Its next prompt would have {tokens(self.prompt_tokens)}: more than this model reads."
        return f"{self._warmth.capitalize()}: {share}, and the first token takes about {about_seconds(self.seconds)}."

    @property
    def _warmth(self) -> str:
        """From disk where most of what is reused comes from there."""
        place = " (on disk)" if 2 * self.disk_tokens > self.reused_tokens else ""
        return f"warm{place}" if self.is_warm else "cold"
