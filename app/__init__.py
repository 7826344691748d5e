"""The desktop program. A folder is a subject: chat (no widgets), history (the file), the columns and dialogs of the
window, and `application`, which gives each what it needs. tests/test_architecture.py holds who may import whom."""
