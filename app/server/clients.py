"""What the engine hears of the programs that ask: the names under which their prompts stand in the tree."""

from __future__ import annotations

CLIENT = "api:"
"""How the names begin that the engine hears of other programs."""


def client_label(client: str, digest: str) -> str:
    """The name of what a program asks from turn to turn; `digest` tells its conversations apart."""
    return f"{CLIENT}{client}/{digest}"


def client_name(label: str) -> str:
    """What the program is called, in a name that `client_label` made; "" where it is none."""
    return label.removeprefix(CLIENT).rpartition("/")[0] if label.startswith(CLIENT) else ""
