"""What the window says about cache memory: what a token costs, the least there can be, and that a wish was raised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from app.window.preferences import PreferencesDialog
from app.words import least_budget, raised_budget, token_cost
from engine import ModelSpec
from tests.app.fake_engine import MODEL
from tests.app.window.conftest import Screen, accept

LEAST = 8192 * 23_040
SAID = "It takes 189 MB: one whole conversation of 8,192 tokens."


def test_what_a_token_costs_stands_at_the_model(screen: Screen) -> None:
    button = screen.window.sidebar.model_button
    assert "One token costs 23.0 kB of memory" in button.toolTip()
    assert "One token costs 23.0 kB of memory" in button.accessibleName()


def test_preferences_say_what_a_token_costs_and_the_least_budget(screen: Screen) -> None:
    screen.window.commands.preferences.trigger()
    dialog = screen.application.dialogs.open_dialog
    assert isinstance(dialog, PreferencesDialog)
    note = "One token costs 23.0 kB. At least 189 MB: one whole conversation of 8,192 tokens."
    assert dialog.budget_note.text() == note
    dialog.reject()


def test_without_a_model_there_is_nothing_to_say(make_screen: Callable[..., Screen]) -> None:
    screen = make_screen(loaded=False)
    screen.window.commands.preferences.trigger()
    dialog = screen.application.dialogs.open_dialog
    assert isinstance(dialog, PreferencesDialog)
    assert dialog.budget_note.text() == ""
    dialog.reject()
    assert "costs" not in screen.window.sidebar.model_button.toolTip()
    screen.play()


def test_a_budget_that_is_too_small_is_said_to_be_raised(screen: Screen) -> None:
    for budget, said in ((189, False), (100, True), (0, False)):
        screen.window.notice.hide()
        screen.window.commands.preferences.trigger()
        dialog = screen.application.dialogs.open_dialog
        assert isinstance(dialog, PreferencesDialog)
        dialog.budget.setValue(budget)
        accept(dialog)
        assert (screen.window.notice.isVisible() and SAID in screen.window.notice.text) is said
        screen.play()


def test_a_budget_from_the_command_line_too(screen: Screen) -> None:
    screen.window.notice.show_notice("The settings were broken.")
    screen.session.answers.load(ModelSpec(cache_bytes=10_000_000))
    screen.play()
    assert screen.window.notice.text == (f"The settings were broken. 10 MB is too little memory for Fake-1M. {SAID}")


def test_the_words_at_the_border() -> None:
    assert raised_budget(MODEL, LEAST) == raised_budget(MODEL, 0) == ""
    assert raised_budget(MODEL, LEAST - 1).endswith(SAID)
    assert least_budget(replace(MODEL, context_length=1)) == "23 kB: one whole conversation of 1 token"
    assert token_cost(replace(MODEL, cached_bytes_per_token=0)) == "", "a server takes no memory here"
    assert token_cost(replace(MODEL, cached_bytes_per_token=22_528)) == "One token costs 22.5 kB"
    assert token_cost(replace(MODEL, cached_bytes_per_token=1_310_720)) == "One token costs 1,310.7 kB"
