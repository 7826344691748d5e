"""What a GGUF file holds: its header, as a configuration, as tensors. No torch: numbers are numpy's."""
