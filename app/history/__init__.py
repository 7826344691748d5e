"""Conversations, messages and presets on disk. The only door to sqlite3; no Qt."""
