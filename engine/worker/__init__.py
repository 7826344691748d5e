"""The engine's thread: commands in, events out, and how a model is loaded."""
