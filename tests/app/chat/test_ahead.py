"""When the engine is asked to read ahead, what it is asked to read, and when it is told to stop."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, trainers
from transformers import PreTrainedTokenizerFast

from app.chat.ahead import ENOUGH_CHARACTERS, HELD_CHARACTERS, alternatives, certain_part, is_wanted
from app.chat.cost import PREVIEW_REST_MS, READING_REST_MS
from app.chat.residents import ResidentPrompt
from app.placeholders import Cure
from app.settings import Settings
from engine import BY_ITSELF, CacheView, Loaded, Message, ModelSpec, Prefill, Request, TemplateSettings, TextDelta
from engine.prompt.comparing import common_length
from engine.prompt.template import PromptBuilder
from tests.app.conftest import Desk
from tests.app.fake_engine import FakeEngine
from tests.engine.chat_templates import CHATML
from tests.engine.tiny_models import make_tokenizer

QUESTION = "Where is my parcel, and when will it be here? I have been waiting since Monday."


def rest(desk: Desk) -> None:
    """Nothing was typed for a while."""
    if desk.session.cost.reader.rest.isActive():
        desk.session.cost.reader.ask()


def write(desk: Desk, text: str) -> None:
    """Type it letter by letter, and no faster than it is read."""
    for end in range(len(text)):
        desk.session.cost.draft_changed(text[: end + 1])
        if desk.bridge.is_reading_ahead:
            desk.play()


def texts(requests: tuple[Request, ...]) -> list[str]:
    return [request.messages[-1].content for request in requests]


@pytest.fixture
def quiet(desk: Desk) -> Desk:
    """A desk that has read what there is to read, and heard of it."""
    desk.session.set_sampling(desk.session.conversation.sampling)
    rest(desk)
    desk.play()
    desk.engine.wishes.clear()
    desk.engine.cancelled.clear()
    return desk


def test_the_last_words_are_held_back() -> None:
    assert certain_part("") == certain_part("Where is") == ""
    assert certain_part("Where is my parcel now") == "Where is my"
    assert certain_part("Where is my parcel now ") == "Where is my"
    unbroken = "あ" * 60
    assert certain_part(unbroken) == unbroken[:-HELD_CHARACTERS]


@given(st.text(st.sampled_from("ab é\n.世 "), max_size=80), st.text(st.sampled_from("ab \n.世"), max_size=8))
def test_what_is_certain_stays_when_more_is_typed(text: str, more: str) -> None:
    """In tokens of a byte-level tokenizer: the prompt of the longer text begins with what was read for the shorter."""
    builder = PromptBuilder(TOKENIZER)
    read = common([text, *alternatives(text)], builder)
    assert tuple(builder.build([Message("user", text + more)]).ids[: len(read)]) == read


def common(written: list[str], builder: PromptBuilder) -> tuple[int, ...]:
    prompts = [builder.build([Message("user", text)]).ids for text in written]
    return prompts[0][: min(common_length(prompts[0], other) for other in prompts[1:])]


TOKENIZER = make_tokenizer()


def merging() -> Any:
    """A tokenizer whose tokens go across words, such as "of the": a blank is a letter like any other."""
    tokenizer = Tokenizer(models.BPE())
    text = (files("resources") / "demo" / "support_bot.md").read_text("utf-8")
    tokenizer.train_from_iterator([text], trainers.BpeTrainer(vocab_size=1000, show_progress=False))
    assert any(" " in token.strip() for token in tokenizer.get_vocab())
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer)
    fast.chat_template = CHATML
    return fast


def test_a_tokenizer_that_merges_across_words() -> None:
    """Of words that stand in one token with what may follow only those before them are read."""
    builder = PromptBuilder(merging())
    for end in range(8, len(QUESTION), 3):
        draft = QUESTION[:end]
        read = common([draft, *alternatives(draft)], builder)
        sent = builder.build([Message("user", QUESTION)]).ids
        assert sent[: len(read)] == read


def test_a_template_that_looks_into_the_text() -> None:
    """It begins the prompt otherwise where the question ends with a mark: what both ways have in common is read."""
    looking = "{% if messages[-1].content.endswith('!') %}LOUD {% endif %}" + CHATML
    builder = PromptBuilder(make_tokenizer(looking))
    draft = f"{QUESTION} Now!"
    assert common([draft, *alternatives(draft)], builder) == ()


def test_typing_is_read_in_stretches(quiet: Desk) -> None:
    """Without a rest, too, whenever enough is certain; each time no more than that."""
    write(quiet, QUESTION)
    asked = [texts(wish) for wish in quiet.engine.wishes]
    assert len(asked) == len(certain_part(QUESTION)) // ENOUGH_CHARACTERS
    assert all(QUESTION.startswith(draft) for draft, *_ in asked)
    assert all(other.startswith(certain_part(draft)) for draft, other in asked)
    quiet.play()
    rest(quiet)
    assert texts(quiet.engine.wishes[-1])[0] == QUESTION


def test_what_is_read_is_not_broken_off_between_two_keys(quiet: Desk) -> None:
    """A preview would: it is asked for a little later then. Where nothing is read, the shorter rest does."""
    previewer, fast = quiet.session.cost.draft, PREVIEW_REST_MS
    quiet.session.cost.draft_changed(QUESTION)
    assert quiet.bridge.is_reading_ahead
    quiet.engine.previews.clear()
    waited = [previewer.rest.interval()]
    previewer.rest.timeout.emit()
    assert not quiet.engine.previews
    assert previewer.rest.isActive()
    waited.append(previewer.rest.interval())
    previewer.rest.timeout.emit()
    assert len(quiet.engine.previews) == 1
    assert waited == [fast, READING_REST_MS - fast]
    quiet.play()
    quiet.session.cost.draft_changed(f"{QUESTION} ")
    assert previewer.rest.interval() == fast
    previewer.rest.timeout.emit()
    assert len(quiet.engine.previews) == 2


def test_nor_is_what_is_read_again(quiet: Desk) -> None:
    """The answer before, where nothing is read ahead."""
    previewer = quiet.session.cost.draft
    for unread, rest in ((40, READING_REST_MS - PREVIEW_REST_MS), (0, PREVIEW_REST_MS)):
        quiet.engine.inject(CacheView(BY_ITSELF, 0.0, 10, 0, 0, 0, 0, 0, unread_tokens=unread))
        quiet.bridge.drain()
        quiet.session.cost.draft_changed(f"Hi {unread}")
        previewer.rest.timeout.emit()
        assert previewer.rest.interval() == rest


def test_a_paste_is_read_at_once(quiet: Desk) -> None:
    quiet.session.cost.draft_changed(QUESTION * 20)
    assert len(quiet.engine.wishes) == 1
    assert not quiet.session.cost.reader.rest.isActive()


def test_what_goes_on_is_not_stopped(quiet: Desk) -> None:
    quiet.session.cost.draft_changed(QUESTION)
    quiet.session.cost.draft_changed(f"{QUESTION} A")
    assert quiet.engine.cancelled == []


@pytest.mark.parametrize("change", ["in the middle", "deleted", "undone", "edit", "other conversation", "sent"])
def test_what_changes_what_was_read_stops_it(quiet: Desk, change: str) -> None:
    """At once, before anything rests; and in the middle of a text nothing is read before it rests."""
    session = quiet.session
    session.send("Hi")
    quiet.play()
    rest(quiet)
    quiet.play()
    quiet.engine.cancelled.clear()
    session.cost.draft_changed(QUESTION)
    asked = len(quiet.engine.wishes)
    if change == "in the middle":
        session.cost.draft_changed(QUESTION.replace("my", "the"))
    elif change == "deleted":
        session.cost.draft_changed("")
    elif change == "undone":
        session.cost.draft_changed(QUESTION[:10])
    elif change == "edit":
        session.cost.draft_changed(QUESTION, session.messages[0].id)
    elif change == "other conversation":
        session.new_conversation()
    else:
        session.send(QUESTION)
    assert len(quiet.engine.cancelled) >= 1
    assert len(quiet.engine.wishes) == asked
    quiet.play()


def test_an_edit_is_read_in_its_place(quiet: Desk) -> None:
    quiet.session.send("Hi")
    quiet.play()
    quiet.session.cost.draft_changed("", None)
    quiet.session.cost.draft_changed(QUESTION, quiet.session.messages[0].id)
    rest(quiet)
    assert [len(request.messages) for request in quiet.engine.wishes[-1]] == [1, 1]


def test_the_frame_behind_an_answer_is_read(quiet: Desk) -> None:
    """What begins a question, whatever it will be."""
    quiet.session.send("Hi")
    quiet.play()
    rest(quiet)
    assert texts(quiet.engine.wishes[-1]) == ["", "0", "a"]
    assert len(quiet.engine.wishes[-1][0].messages) == 3


@pytest.mark.parametrize("change", ["system prompt", "template", "conversation", "trimmed"])
def test_changes_around_the_draft_are_read(quiet: Desk, change: str) -> None:
    session = quiet.session
    if change == "system prompt":
        session.set_system_prompt("Be brief.")
    elif change == "template":
        session.set_template(TemplateSettings(keep_thoughts=True))
    elif change == "conversation":
        session.new_conversation()
    else:
        session.leave_out_first(0)
    assert quiet.engine.wishes == []
    rest(quiet)
    assert len(quiet.engine.wishes) == 1


def test_a_system_prompt_is_read_while_it_is_written(quiet: Desk) -> None:
    cost = quiet.session.cost
    cost.draft_changed("And now?")
    cost.consider_prompt("You answer questions about parcels, and about tents", ())
    cost.prompt_reader.ask()
    systems = [request.messages[0].content for request in quiet.engine.wishes[-1]]
    assert systems[0] == "You answer questions about parcels, and about tents"
    assert systems[1].startswith("You answer questions about parcels, and\n")
    cost.consider_prompt(None)
    assert quiet.engine.cancelled


def test_a_clock_is_not_read_ahead(quiet: Desk) -> None:
    """By the time the question is sent it shows another time, whether it stands in the system prompt or was moved."""
    session = quiet.session
    session.set_system_prompt("It is {{time}} on {{date}}.")
    rest(quiet)
    now, *others = (request.messages[0].content for request in quiet.engine.wishes[-1])
    assert {common_length(now, other) for other in others} == {len("It is ")}
    session.set_system_prompt("It is {{time}}.", (Cure("time", "moved"),))
    rest(quiet)
    systems = {request.messages[0].content for request in quiet.engine.wishes[-1]}
    assert len(systems) == 1


def test_what_was_read_is_said_and_foreseen(quiet: Desk) -> None:
    heard: list[Prefill] = []
    quiet.session.cost.reading_ahead.connect(heard.append)
    quiet.session.cost.draft_changed(QUESTION)
    quiet.play()
    preview = quiet.heard("draft_previewed")[-1]
    assert [event.done for event in heard][-1] == heard[-1].total
    assert 0 < preview.ahead_tokens < preview.prompt_tokens
    quiet.session.send(QUESTION)
    quiet.play()
    assert quiet.heard("matched")[-1].ahead_tokens == preview.ahead_tokens


def test_the_newest_conversation_is_read_at_the_start(make_desk: Callable[..., Desk]) -> None:
    first = make_desk()
    first.session.send("Hi")
    first.play()
    first.close()
    again = make_desk(loaded=False)
    again.session.answers.load(ModelSpec())
    again.play()
    assert [texts(wish)[0] for wish in again.engine.wishes][:1] == [""]
    assert again.engine.wishes[0][0].messages[0].content == "Hi"


@pytest.mark.parametrize(
    ("setting", "plugged", "wanted"),
    [
        ("plugged", None, True),
        ("plugged", True, True),
        ("plugged", False, False),
        ("always", False, True),
        ("never", True, False),
    ],
)
def test_the_battery(setting: Any, plugged: bool | None, wanted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """None: there is no battery."""
    battery = None if plugged is None else SimpleNamespace(power_plugged=plugged)
    monkeypatch.setattr("psutil.sensors_battery", lambda: battery, raising=False)
    assert is_wanted(Settings(read_ahead=setting)) is wanted
    assert not is_wanted(Settings(read_ahead=setting, use_cache=False))
    monkeypatch.delattr("psutil.sensors_battery")
    assert is_wanted(Settings(read_ahead="plugged"))


@pytest.mark.parametrize("settings", [Settings(read_ahead="never"), Settings(use_cache=False)])
def test_nothing_is_read_where_it_is_not_wanted(make_desk: Callable[..., Desk], settings: Settings) -> None:
    desk = make_desk(settings=settings)
    write(desk, QUESTION)
    rest(desk)
    assert desk.engine.wishes == []


def test_nothing_is_read_for_a_server(quiet: Desk) -> None:
    """The model that is open has no use for what a server answers."""
    quiet.session.send("Hi")
    quiet.play()
    quiet.engine.wishes.clear()
    quiet.bridge.server_of = lambda label: "http://host:8000/v1" if label == "#1" else ""
    write(quiet, QUESTION)
    rest(quiet)
    quiet.session.cost.consider_prompt("You answer questions about parcels, and about tents", ())
    quiet.session.cost.prompt_reader.ask()
    assert quiet.engine.wishes == []
    quiet.session.cost.consider_prompt(None)
    quiet.session.new_conversation()
    quiet.session.answers.load(ModelSpec("/models/other"))
    quiet.play()
    assert [wish for wish in quiet.engine.wishes if texts(wish)[0] == "" and len(wish[0].messages) > 1] == []
    write(quiet, QUESTION)
    rest(quiet)
    assert texts(quiet.engine.wishes[-1])[0] == QUESTION


def test_nothing_is_read_while_an_answer_is_written_here(quiet: Desk) -> None:
    quiet.session.send("Hi")
    quiet.until(TextDelta)
    write(quiet, QUESTION)
    rest(quiet)
    assert quiet.engine.wishes == []
    quiet.play()
    rest(quiet)
    assert texts(quiet.engine.wishes[-1])[0] == QUESTION


def test_a_load_and_the_end_in_the_middle(make_desk: Callable[..., Desk]) -> None:
    """What is being read is dropped without a word."""
    desk = make_desk(FakeEngine(manual=True))
    desk.session.cost.draft_changed(QUESTION)
    desk.session.answers.load(ModelSpec("/models/other"))
    assert len(desk.engine.cancelled) == 1
    desk.play()
    desk.session.cost.draft_changed(f"{QUESTION} {QUESTION}")
    desk.session.shutdown()
    assert desk.heard("error") == []


# saved system prompts that are to be resident


PINNED = (ResidentPrompt(3, "You answer questions about parcels."), ResidentPrompt(5, "It is {{time}}. Be brief."))


def test_pinned_prompts_are_read_when_a_model_is_opened(make_desk: Callable[..., Desk]) -> None:
    """Each as the start of a conversation of its own, in a name of its own, as far as it will be the same then. What
    the engine is asked for last it reads first: the chat in view, the newest one, then these, in their order."""
    desk = make_desk(loaded=False)
    desk.session.residents.wanted = lambda: PINNED
    desk.session.answers.load(ModelSpec())
    desk.play()
    clock, parcels = desk.engine.kept
    assert (parcels.conversation, clock.conversation) == ("preset 3", "preset 5")
    assert parcels.messages[0] == Message("system", PINNED[0].system_prompt)
    (mine,) = (wish for wish in desk.engine.wishes if wish[0] is parcels)
    assert [request.messages[-1].content for request in mine] == ["", "0", "a"]
    (clocks,) = (wish for wish in desk.engine.wishes if wish[0] is clock)
    assert common_length(*(request.messages[0].content for request in clocks[:2])) == len("It is ")
    assert desk.engine.wishes.index(clocks) < desk.engine.wishes.index(mine)
    assert desk.session.residents.labels == ["preset 3", "preset 5"]


def test_pinned_prompts_are_not_read_twice_for_another_model(make_desk: Callable[..., Desk]) -> None:
    desk = make_desk(FakeEngine(manual=True), loaded=False)
    desk.session.residents.wanted = lambda: PINNED[:1]
    for _ in range(2):
        desk.session.answers.load(ModelSpec())
        desk.until(Loaded)
    assert len(desk.engine.kept) == 2
    desk.session.residents.read_all()
    assert len(desk.engine.cancelled) == 1, "the one that is not read yet"
    desk.play()


@pytest.mark.parametrize("settings", [Settings(read_ahead="never"), Settings(use_cache=False)])
def test_pinned_prompts_are_not_read_where_that_is_not_wanted(
    make_desk: Callable[..., Desk], settings: Settings
) -> None:
    """By themselves; who asks for one by hand gets it, where anything is remembered at all."""
    desk = make_desk(settings=settings, loaded=False)
    desk.session.residents.wanted = lambda: PINNED
    desk.session.answers.load(ModelSpec())
    desk.play()
    assert desk.engine.wishes == []
    desk.session.residents.prewarm(PINNED[0])
    desk.session.residents.keep(PINNED[0])
    assert len(desk.engine.wishes) == (2 if settings.use_cache else 0)
    assert len(desk.engine.kept) == (1 if settings.use_cache else 0)
    desk.play()
    desk.session.residents.let_go(PINNED[0])
    assert desk.engine.calls[-1] == "forget preset 3"
    desk.play()
