"""What the ribbon foresees is what then happens, to the token: random actions on the real engine with a tiny model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QCoreApplication, QEventLoop, SignalInstance

from app.chat.bridge import Bridge
from app.chat.cost import Previewer
from app.chat.session import Session
from app.documents import Attachment
from app.history.history import History
from app.history.records import StoredMessage
from app.settings import Settings
from engine import BLOCK_TOKENS, Engine, Matched, Message, ModelSpec, Preview, Request, Sampling
from engine.cache.prefix_cache import LANE_STEP
from tests.engine.tiny_models import make_folder, make_model
from tests.engine.turns import finish, make_responder

SAMPLING = Sampling(temperature=1.0, seed=3, max_tokens=6)
CONTEXT = LANE_STEP  # the working buffer never grows: see the last test
WORDS = st.lists(
    st.sampled_from(["Where is", "the parcel", "the tent", "29 Nov", "?", "\n", "é"]), min_size=1, max_size=6
)
TEXTS = WORDS.map(" ".join).filter(lambda text: text.strip() != "")
ACTIONS = st.one_of(
    st.tuples(st.just("send"), TEXTS),
    st.tuples(st.just("edit"), TEXTS),
    st.tuples(st.just("retry"), st.just("")),
    st.tuples(st.just("system prompt"), st.one_of(st.just(""), TEXTS)),
    st.tuples(st.just("switch"), TEXTS),
    st.tuples(st.just("other conversation"), TEXTS),
)


class Program:
    """A session on the real engine; each method returns when the engine has nothing more to say."""

    def __init__(self, folder: Path, model: Path) -> None:
        self.engine = Engine()
        self.bridge = Bridge(self.engine)
        self.bridge.timer.setInterval(1)
        self.history = History(folder / "history.sqlite3")
        prompt = "Answer about parcels and tents, briefly."
        self.settings = Settings(sampling=SAMPLING, system_prompt=prompt, read_ahead="always")
        self.session = Session(self.bridge, self.history, self.settings, today=lambda: date(2026, 11, 29))
        self.matched: list[Matched] = []
        self.foreseen: list[Preview] = []
        self.errors: list[str] = []
        self.session.answers.matched.connect(self.matched.append)
        self.session.error.connect(lambda sentence, detail: self.errors.append(f"{sentence} {detail}"))
        self.session.answers.load(ModelSpec(str(model), device="cpu", dtype="fp32"))
        self.rest()

    def rest(self) -> None:
        """Let the engine say everything, and read again what it wrote: that changes what can be reused."""
        while self.bridge.busy or self.bridge.is_reading_ahead:
            QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
        while self.engine.worker.idle_work is not None:
            QCoreApplication.processEvents()
        self.bridge.timer.timeout.emit()  # what the idle work said at its end changes what is foreseen, too
        QCoreApplication.processEvents()
        assert self.errors == []

    def foresee(self, previewer: Previewer, signal: SignalInstance) -> Preview:
        """What the engine says to this previewer's newest question, as `signal` tells it."""
        link = signal.connect(lambda *values: self.foreseen.append(values[-1]))
        previewer.ask()
        self.rest()
        while not self.foreseen:  # it was asked for anew, because something changed meanwhile
            QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
        signal.disconnect(link)
        previewer.drop()
        return self.foreseen.pop()

    def write(self, text: str, edited: int | None = None, pauses: int = 1) -> None:
        """Type this in so many stretches; behind each it is read until there is nothing more to read."""
        for end in range(pauses):
            self.session.cost.draft_changed(text[: len(text) * (end + 1) // pauses], edited)
            self.session.cost.reader.ask()
            self.rest()

    def foresee_draft(self) -> Preview:
        """What sending now would cost."""
        return self.foresee(self.session.cost.draft, self.session.cost.draft_previewed)

    def do(self, act: Callable[[], bool]) -> Matched:
        """What was matched in the turn that this begins."""
        assert act()
        self.rest()
        return self.matched.pop()

    def close(self) -> None:
        self.session.shutdown()
        self.bridge.close()
        self.history.close()


@pytest.fixture(scope="module")
def running(qapp: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    folder = tmp_path_factory.mktemp("cost")
    model = make_folder(folder / "tiny")
    config = json.loads((model / "config.json").read_text("utf-8"))
    (model / "config.json").write_text(json.dumps({**config, "max_position_embeddings": CONTEXT}), "utf-8")
    program = Program(folder, model)
    yield program
    program.close()


@pytest.fixture
def program(running: Program) -> Iterator[Program]:
    yield running
    running.session.cost.drop()
    running.session.saving.save()  # all is stored: its timer rests


def facts(event: Preview | Matched) -> tuple[Any, ...]:
    return event.prompt_tokens, event.reused_tokens, event.computed_tokens, event.ahead_tokens, event.spans


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(actions=st.lists(ACTIONS, min_size=3, max_size=7), chosen=st.integers(0, 99))
def test_what_is_foreseen_is_what_happens(program: Program, actions: list[tuple[str, str]], chosen: int) -> None:
    program.session.new_conversation()
    for action, text in actions:
        foreseen, matched = play(program, action, text, chosen)
        assert facts(matched) == facts(foreseen)
        assert foreseen.pinned_tokens <= foreseen.reused_tokens
        assert len(foreseen.block_texts) == -(-foreseen.prompt_tokens // BLOCK_TOKENS)


def play(program: Program, action: str, text: str, chosen: int) -> tuple[Preview, Matched]:
    """One action, foreseen and done. What asks nothing by itself is followed by a question."""
    session, cost = program.session, program.session.cost
    questions = [message for message in session.messages if message.role == "user"]
    if action in ("edit", "retry") and questions:
        question = questions[chosen % len(questions)] if action == "edit" else questions[-1]
        program.write(text or question.content, question.id, 1 + chosen % 3)
        foreseen = program.foresee_draft()
        return foreseen, program.do(lambda: session.edit(question.id, text) if text else session.retry())
    if action == "system prompt":
        program.write("And now?")
        cost.consider_prompt(text)
        cost.prompt_reader.ask()
        program.rest()
        foreseen = program.foresee(cost.prompt, cost.prompt_previewed)
        cost.consider_prompt(None)
        session.set_system_prompt(text)
        return foreseen, program.do(lambda: session.send("And now?"))
    change_view(session, action, chosen)
    program.write(text or "And now?", pauses=1 + chosen % 3)
    foreseen = program.foresee_draft()
    return foreseen, program.do(lambda: session.send(text or "And now?"))


def change_view(session: Session, action: str, chosen: int) -> None:
    """Go to another branch or to another conversation, where there is one."""
    versions = [version for message in session.messages for version in session.versions(message.id)]
    others = [conversation.id for conversation in session.conversations()]
    if action == "switch" and versions:
        session.choose_sibling(versions[chosen % len(versions)])
    elif action == "other conversation" and others:
        session.open(others[chosen % len(others)])


def test_the_price_of_a_change_is_what_it_costs(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless it is read ahead while it is written."""
    monkeypatch.setattr(program.settings, "read_ahead", "never")
    session, cost = program.session, program.session.cost
    session.new_conversation()
    for question in ("Is it here?", "Is the tent in it?", "And the stove?"):
        program.do(lambda question=question: session.send(question))
    for question in (session.messages[2], session.messages[0]):
        cost.consider_edit(question.id)
        price = program.foresee(cost.edit, cost.edit_priced)
        cost.consider_edit(None)
        changed = as_long(program, question, price.prompt_tokens)
        matched = program.do(lambda id=question.id, changed=changed: session.edit(id, changed))
        assert facts(matched) == facts(price)
        assert matched.reused_tokens == price.spans[-1].start
        assert price.seconds > 0


def as_long(program: Program, question: StoredMessage, tokens: int) -> str:
    """The question with another first letter, in as many tokens."""
    for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789":
        changed = letter + question.content[1:]
        program.session.cost.draft_changed(changed, question.id)
        if changed != question.content and program.foresee_draft().prompt_tokens == tokens:
            return changed
    raise AssertionError("every other first letter takes another number of tokens")


def test_the_prediction_holds_where_the_working_buffer_grows() -> None:
    responder = make_responder(make_model())
    question = "Where is the parcel? " * 50
    request = Request((Message("user", question),), Sampling(temperature=0.0, max_tokens=3))
    answered = finish(responder, request)[1]
    answer = Message("assistant", answered.text, answered.token_ids)
    longer = replace(request, messages=(*request.messages, answer, Message("user", question)))
    foreseen = responder.preview(9, longer)
    assert foreseen.prompt_tokens > LANE_STEP
    assert finish(responder, longer)[0].reused_tokens == foreseen.reused_tokens


def test_a_file_is_read_once_whatever_is_asked_about_it(program: Program) -> None:
    session = program.session
    session.new_conversation()
    session.attached.set_files((Attachment("tent.txt", "The tent is green. " * 30),))
    session.cost.draft_changed("Is it here?")
    whole = program.foresee(session.cost.files, session.cost.files_previewed)
    first = program.do(lambda: session.send("Is it here?"))
    assert first.prompt_tokens == whole.prompt_tokens
    assert first.computed_tokens + first.ahead_tokens > 100, "some of it may be read before it is sent"
    assert session.attached.files() == ()
    for question in ("Is it green?", "And the stove?"):
        before = first.prompt_tokens
        first = program.do(lambda question=question: session.send(question))
        assert first.reused_tokens >= before - BLOCK_TOKENS, "the file and all that was said about it"
