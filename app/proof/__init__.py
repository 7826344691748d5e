"""The same prompt with the cache and without, side by side."""
