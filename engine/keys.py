"""Keys of servers and the token of the Hugging Face Hub, kept by the system in its keyring, never in a file of ours."""

from __future__ import annotations

from contextlib import suppress

from engine.types import HeadstartError

SERVICE = "headstart"


def key_of(address: str) -> str:
    """The key that is kept for an address, "" where there is none, or no keyring."""
    with suppress(Exception):  # every keyring has errors of its own
        import keyring

        return keyring.get_password(SERVICE, address) or ""
    return ""


def store_key(address: str, key: str, no_keyring: str) -> None:
    """Keep a key for an address; "" forgets it. Raises HeadstartError(`no_keyring`) where the system keeps no keys."""
    try:
        import keyring

        if key:
            keyring.set_password(SERVICE, address, key)
        elif keyring.get_password(SERVICE, address):
            keyring.delete_password(SERVICE, address)
    except Exception as error:
        if key:
            raise HeadstartError(no_keyring, str(error)) from error
