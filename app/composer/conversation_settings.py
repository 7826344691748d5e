"""How the conversation in view is answered: its sampling and its template settings, in the popover of the composer."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject

from app.chat.session import Session
from app.composer.composer import Composer
from app.composer.sampling import SamplingPopover
from app.composer.template_form import Offered
from engine import Preview, TemplateSettings


class ConversationSettings(QObject):
    """Opens the popover, stores what is changed in it, has the other choices priced while it is open, and sums all up
    on the button of the composer."""

    def __init__(self, composer: Composer, popover: SamplingPopover, session: Session) -> None:
        super().__init__(composer)
        self._composer = composer
        self._popover = popover
        self._session = session
        composer.sampling.clicked.connect(self.open)
        popover.changed.connect(session.set_sampling)
        popover.stop_changed.connect(session.set_stop)
        popover.kept_for_new.connect(session.keep_for_new)
        popover.template.changed.connect(session.set_template)
        popover.closed.connect(lambda: session.cost.consider_template(()))
        session.settings_changed.connect(self._refresh)
        session.conversation_changed.connect(self._refresh)
        session.answers.model_changed.connect(self._refresh)
        session.cost.template_previewed.connect(self._on_previewed)
        self._refresh()

    def open(self) -> None:
        """Show the settings of the conversation in view; a change holds at once."""
        model, conversation = self._session.model, self._session.conversation
        defaults, advice = self._session.new_sampling, model.advice if model else None
        self._show_template()
        self._popover.open_above(self._composer.sampling, conversation.sampling, defaults, advice, conversation.stop)

    def _refresh(self, change: object = None) -> None:
        conversation, model = self._session.conversation, self._session.model
        thinking = conversation.template.thinking
        is_known = model is not None and thinking in model.thinking
        self._composer.show_settings(conversation.sampling, thinking if is_known else "")
        if self._popover.isVisible():
            self._show_template()
            self._popover.fit()

    def _show_template(self) -> None:
        conversation, model, form = self._session.conversation, self._session.model, self._popover.template
        thinking = model.thinking if model else ()
        has_thoughts = bool(thinking) or any(message.thought for message in self._session.messages)
        form.show_settings(conversation.template, Offered(thinking, has_thoughts, bool(conversation.system_prompt)))
        others = [settings for named in form.others.values() for _, settings in named]
        self._session.cost.consider_template(others)

    def _on_previewed(self, now: Preview, others: Mapping[TemplateSettings, Preview]) -> None:
        self._popover.template.show_prices(now, others)
        self._popover.fit()
