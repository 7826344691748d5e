"""What a change of an earlier question would cost, from the preview of asking it again. No Qt."""

from __future__ import annotations

from dataclasses import replace

from engine import ModelInfo, Preview


def price_of_change(preview: Preview, model: ModelInfo) -> Preview:
    """The preview of a prompt as it becomes when its last question changes from its first token on, and stays as long.

    Nothing behind that token can be reused. Where as much as that had to be computed anyway, the preview is the price.
    """
    start = max((span.start for span in preview.spans if span.role == "user"), default=0)
    if preview.reused_tokens <= start:
        return preview
    computed = preview.prompt_tokens - start
    seconds = computed / model.prefill_tokens_per_s if model.prefill_tokens_per_s > 0 else preview.seconds
    pinned = min(preview.pinned_tokens, start)
    disk = max(0, preview.disk_tokens - (preview.reused_tokens - start))
    changed = replace(preview, reused_tokens=start, computed_tokens=computed, pinned_tokens=pinned, seconds=seconds)
    return replace(changed, disk_tokens=disk)
