"""A chat that is in the middle of a turn."""

from __future__ import annotations

import pytest

from engine.models.loaded import LoadedModel
from engine.types import Message
from tests.engine.turns import Chat, SpyModel, short_chunks

SYSTEM = "You answer questions about parcels and tents. Be brief, be kind, and never guess a price."
QUESTION = "Where is my parcel, and when will it be here? I have been waiting for it since Monday."


@pytest.fixture(params=["exact", "near"])
def chat(tiny: LoadedModel, request: pytest.FixtureRequest) -> Chat:
    """A chat with one answered question and a second one asked, whose answer is reused as it was written, or not."""
    chat = Chat(short_chunks(SpyModel(tiny), near="made up" if request.param == "near" else ""), SYSTEM)
    chat.ask(QUESTION)
    chat.messages.append(Message("user", f"{QUESTION} It is number 7."))
    return chat
