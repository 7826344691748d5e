"""Messages as they are read."""
