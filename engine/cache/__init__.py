"""Keys and values that are kept for reuse: the tree, its blocks, the working buffers, the budget, the disk."""
