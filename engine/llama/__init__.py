"""Our own forward pass for Llama-like models: Llama, Mistral, Qwen2 and Qwen3 with plain attention."""
