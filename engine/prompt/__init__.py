"""From messages to token ids, and why a prompt left what was cached."""
