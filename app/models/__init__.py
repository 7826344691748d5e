"""The models on this computer, and those that can be downloaded."""
