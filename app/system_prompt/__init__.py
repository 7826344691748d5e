"""Where a system prompt is written: what changes in it from turn to turn, and presets."""
