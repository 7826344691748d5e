"""One request from start to end: match, prefill in chunks, decode, publish."""
