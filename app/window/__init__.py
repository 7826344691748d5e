"""The main window: its columns, actions and dialogs, and what keeps it in step with the chat."""
