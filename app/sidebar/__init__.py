"""The conversations that are kept, each with what its next turn would wait for."""
