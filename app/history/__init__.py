"""Conversations, messages and presets on disk: the only folder of the app that knows sqlite3. No Qt.

history: what the chat sees; presets: named system prompts; file: the SQLite file under both; records: the values that
are stored; schema: the tables; errors: what SQLite reports, in sentences.
"""
