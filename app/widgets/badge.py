"""What a list says about a conversation: whether its next turn begins warm, and how soon its first token comes."""

from __future__ import annotations

from dataclasses import dataclass

from app.widgets.words import about_seconds, tokens


@dataclass(frozen=True, slots=True)
class Badge:
    """Whether the next turn of a conversation begins warm, and about how many seconds its first token takes; `fits`
    says whether its next prompt, of `prompt_tokens`, still fits into the context."""

    is_warm: bool
    seconds: float
    reused_tokens: int
    prompt_tokens: int
    fits: bool = True

    @property
    def text(self) -> str:
        """As shown: "warm · 0.12 s"."""
        if not self.fits:
            return "longer than the context"
        return f"{'warm' if self.is_warm else 'cold'} · {about_seconds(self.seconds)}"

    @property
    def explanation(self) -> str:
        """What it means, in a sentence."""
        share = f"{self.reused_tokens:,} of {tokens(self.prompt_tokens)} of its next prompt are in the cache"
        if not self.fits:
            return f"Its next prompt would have {tokens(self.prompt_tokens)}: more than this model reads."
        warmth = "Warm" if self.is_warm else "Cold"
        return f"{warmth}: {share}, and the first token takes about {about_seconds(self.seconds)}."
