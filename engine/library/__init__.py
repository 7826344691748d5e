"""Which models are on this computer: find, download, check."""
