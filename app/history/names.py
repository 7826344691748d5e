"""Names that the user gives: to system prompts, to folders. No Qt."""

from __future__ import annotations

from engine import HeadstartError

LONGEST_NAME = 60
"""Characters that a name may have at most."""


def clean_name(name: str, what: str) -> str:
    """The name as it is stored, of `what` the user names: "preset". Raises HeadstartError where it is of no use."""
    name = " ".join(name.split())
    if not name:
        raise HeadstartError(f"Give the {what} a name.")
    if len(name) > LONGEST_NAME:
        raise HeadstartError(f"This name has {len(name)} characters. Give one of at most {LONGEST_NAME}.")
    if not name.isprintable():
        raise HeadstartError("This name holds characters that cannot be shown. Type it anew.")
    return name
