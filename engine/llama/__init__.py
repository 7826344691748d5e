"""Our own forward pass for the plain Llama family."""
