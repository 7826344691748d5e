"""The tree of shared prefixes: its layout, its picture, its window."""
