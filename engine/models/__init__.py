"""Models of any class that transformers knows, which of them are served, and how."""
