"""The compiled part of the engine: C sources, and the one place that loads them."""
