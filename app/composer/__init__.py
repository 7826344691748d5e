"""Where a question is written, and what sending it would cost."""
