"""Keys of servers, kept by the system: in its keyring, never in a file of ours."""

from __future__ import annotations

from contextlib import suppress

from engine.remote.wire import Place
from engine.types import HeadstartError

SERVICE = "headstart"
NO_KEYRING = "This system keeps no keys, so the key was not stored. Set up a keyring, or use a server without a key."


def key_of(address: str) -> str:
    """The key for a server, "" where there is none, or no keyring."""
    with suppress(Exception):  # every keyring has errors of its own
        import keyring

        return keyring.get_password(SERVICE, address) or ""
    return ""


def keep_key(path: str, key: str) -> None:
    """Keep the key for the server that a path names; "" forgets it. Raises HeadstartError where it names none, or the
    system keeps no keys."""
    address = Place.of(path).address
    try:
        import keyring

        if key:
            keyring.set_password(SERVICE, address, key)
        elif keyring.get_password(SERVICE, address):
            keyring.delete_password(SERVICE, address)
    except Exception as error:
        if key:
            raise HeadstartError(NO_KEYRING, str(error)) from error
