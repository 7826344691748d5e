"""Keys of servers that answer in the window."""

from __future__ import annotations

from engine.keys import store_key
from engine.remote.wire import Place

NO_KEYRING = "This system keeps no keys, so the key was not stored. Set up a keyring, or use a server without a key."


def keep_key(path: str, key: str) -> None:
    """Keep the key for the server that a path names; "" forgets it. Raises HeadstartError where it names none, or the
    system keeps no keys."""
    store_key(Place.of(path).address, key, NO_KEYRING)
