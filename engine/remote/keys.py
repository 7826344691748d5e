"""Keys of servers, kept by the system: in its keyring, never in a file of ours."""

from __future__ import annotations

from contextlib import suppress

from engine.types import HeadstartError

SERVICE = "headstart"
NO_KEYRING = "This system keeps no keys, so the key was not stored. Set up a keyring, or use a server without a key."


def key_of(address: str) -> str:
    """The key for a server, "" where there is none, or no keyring."""
    with suppress(Exception):  # every keyring has errors of its own
        import keyring

        return keyring.get_password(SERVICE, address) or ""
    return ""


def keep_key(address: str, key: str) -> None:
    """Keep the key for a server; "" forgets it. Raises HeadstartError where the system cannot."""
    try:
        import keyring

        if key:
            keyring.set_password(SERVICE, address, key)
        elif keyring.get_password(SERVICE, address):
            keyring.delete_password(SERVICE, address)
    except Exception as error:
        if key:
            raise HeadstartError(NO_KEYRING, str(error)) from error
