"""The window and the session: signals of one become calls of the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject, QTimer

from app.chat.bridge import Bridge
from app.chat.filing import Filing
from app.chat.places import called_tool
from app.chat.rewriting import Rewriting
from app.chat.session import Session
from app.chat.turn import Turn
from app.documents import with_files
from app.history.records import Conversation, ConversationEntry, StoredMessage
from app.language import tr
from app.placeholders import Cure
from app.sidebar.list_search import ListSearch
from app.transcript.message import Answer, MessageContent
from app.window.postponed import Postponed
from app.window.reuse_presenter import ReusePresenter
from app.window.tour import Tour
from app.window.window import Window
from engine import BLOCK_TOKENS, CacheView, Loading, ModelInfo, Prefill, Preview, TurnStats

UNTITLED, TRY_AGAIN = tr("New conversation"), tr("Try again")
WHAT_FOR = tr("It reads everything once.\nThe next answer starts at once.")
HOW = tr(
    "Other chats read the whole conversation again before each answer. Headstart remembers what the "
    "model has read, and shows what that saves. All of it stays on this computer."
)
SUPPORT_BOT, OPEN_DEFAULT, OPEN_FOLDER = "support bot", "default model", "model folder"


class Presenter(QObject):
    """Keeps one window in step with one session. `support_prompt` are the rules of the support bot that the empty page
    offers to ask; "" hides the button."""

    def __init__(
        self,
        window: Window,
        session: Session,
        filing: Filing,
        rewriting: Rewriting,
        bridge: Bridge,
        support_prompt: str = "",
    ) -> None:
        super().__init__(window)
        self._rewriting = rewriting
        self._window = window
        self._session = session
        self._support_prompt = support_prompt
        self._shown_id = 0
        self.postponed = Postponed(self)
        window.transcript.catch_up = self.postponed.draw_now
        self._is_sending = self._has_failed = False
        self._progress: tuple[int, Prefill] | None = None  # how far the prompt of the answer with this id is read
        self._left_text = ""  # what was written in the conversation that was in view before
        self._disk_note = self._error = self._needle = ""
        self._found: Sequence[ConversationEntry] = ()
        self._top_id = 0  # of the messages that are to be built anew, the one at the top of the view
        self._anew = QTimer(self)
        self._anew.setSingleShot(True)
        self._anew.timeout.connect(self._show_anew)
        # The system prompt that was counted last, its tokens, and whether all of them are in the cache.
        self._counted: tuple[str, int, bool] = ("", 0, False)
        self._reuse = ReusePresenter(window, session, self)
        self._tour = Tour(session, support_prompt, self.set_system_prompt, self._send_for_tour, self._offer_next, self)
        self._search = ListSearch(filing.search, self)
        self._search.found.connect(self._on_found)
        window.closing.connect(self.postponed.draw_now)
        window.closing.connect(self._search.stop)
        window.closing.connect(self._keep_draft)
        window.closing.connect(self._anew.stop)
        bridge.cache_view.connect(self._on_cache)
        self._connect_session()
        self._connect_window()
        self._on_conversation(session.conversation)
        window.composer.set_text(session.draft(0))
        self._on_list()

    def _connect_session(self) -> None:
        session = self._session
        session.conversation_changed.connect(self._on_conversation)
        session.conversations_changed.connect(self._on_list)
        session.message_added.connect(self._on_message)
        session.question_taken_back.connect(self._on_question_taken_back)
        session.answers.ended.connect(self._on_ended)
        session.answers.text_added.connect(self._on_text)
        session.answers.thought_added.connect(self._on_thought)
        session.message_reopened.connect(self._on_reopened)
        session.message_finished.connect(self._on_finished)
        session.answers.stats_changed.connect(self._on_stats)
        session.answers.prefill_changed.connect(self._on_prefill)
        session.state_changed.connect(self._on_state)
        session.cost.draft_previewed.connect(self._on_preview)
        session.answers.model_changed.connect(self._on_model)
        session.answers.loading_changed.connect(self._on_loading)
        session.answers.loading_stopped.connect(self._on_loading_stopped)
        session.error.connect(self._on_error)
        session.noticed.connect(self._window.notice.add_notice)
        session.saving.stored_again.connect(self._window.notice.end_lasting)

    def _connect_window(self) -> None:
        window, session = self._window, self._session
        window.composer.send.connect(self.send)
        window.composer.stop.connect(session.stop)
        window.loading_bar.cancel_wanted.connect(session.answers.cancel_load)
        window.header.renamed.connect(lambda title: session.rename(session.conversation.id, title))
        window.transcript.wishes.retry.connect(self.retry)
        window.transcript.wishes.edit.connect(self._on_edit_wanted)
        window.transcript.wishes.sibling.connect(session.choose_version)
        window.sidebar.search_changed.connect(self._on_list)
        window.sidebar.day_changed.connect(self._on_list)
        window.sidebar.list.opened.connect(self.open)
        window.sidebar.list.rename_wanted.connect(self._on_rename_wanted)
        window.empty.chosen.connect(self._on_chosen)
        window.commands.new.triggered.connect(self.new)
        window.commands.retry.triggered.connect(self.retry)
        window.commands.stop.triggered.connect(session.stop)
        window.commands.copy_answer.triggered.connect(self.copy_answer)

    # What the user does

    def send(self, text: str) -> None:
        """Send what the composer holds; it stays there when that fails. What could be undone until now is final before
        the engine has the question, so that it forgets nothing of the new turn."""
        editing, before = self._window.composer.editing, self._shown_id
        self._window.notice.clear()
        self._is_sending = True
        sent = self._session.send(text) if editing is None else self._change(editing, text)
        self._is_sending = False
        if sent:
            self._window.composer.clear_sent()
            self._session.keep_draft(before, "")

    def _change(self, message_id: int, text: str) -> bool:
        """Put this text in place of an earlier question or of an answer."""
        roles = {message.id: message.role for message in self._session.messages}
        is_answer = roles.get(message_id) == "assistant"
        return (self._rewriting.replace_answer if is_answer else self._session.edit)(message_id, text)

    def _send_for_tour(self, text: str) -> None:
        """Ask this; what the composer holds stays there."""
        self._window.notice.clear()
        self._is_sending = True
        self._session.send(text)
        self._is_sending = False
        self._window.composer.edit.setFocus()

    def _offer_next(self, sentence: str, label: str, accept: Callable[[], None]) -> None:
        self._window.notice.show_offer(sentence, label, accept, is_error=False)

    def retry(self) -> None:
        """Answer the last question again."""
        self._window.notice.clear()
        self._session.retry()
        self._window.composer.edit.setFocus()

    def _try_again(self, conversation_id: int) -> None:
        """Answer the last question of this conversation again, wherever the user is by now."""
        self._session.open(conversation_id)
        if self._session.conversation.id == conversation_id:
            self.retry()

    def new(self) -> None:
        """Begin an empty conversation, ready to be written in."""
        self._session.new_conversation()
        self._window.composer.edit.setFocus()

    def open(self, conversation_id: int) -> None:
        """Open a conversation of the list, at what was found in it: in the version of the message that holds it."""
        self._session.open(conversation_id)
        found = next((row.message_id for row in self._found if row.id == conversation_id), 0)
        if found and all(message.id != found for message in self._session.messages):
            self._session.choose_sibling(found)
        if found:
            self._window.transcript.show_found(found, self._window.sidebar.needle)
        self._window.composer.edit.setFocus()

    def copy_answer(self) -> None:
        """Put the newest answer on the clipboard."""
        if answer := self._newest_answer():
            answer.copy()

    def set_system_prompt(self, text: str, cures: tuple[Cure, ...] | None = None) -> None:
        """Change the system prompt of the conversation in view, and what is cured in it; None leaves the cures."""
        self._session.set_system_prompt(text, cures)
        self._refresh_header()
        self._refresh_empty()

    def change_look(self, change: Callable[[], object]) -> None:
        """Do what changes how everything looks. Messages are built anew, behind that and piece by piece: to change a
        hundred of them at once would stop the window for a second."""
        self.postponed.draw_now()  # it goes to the end
        if not self._anew.isActive():
            self._top_id = self._window.transcript.top_id
        self._window.transcript.clear()
        change()
        self._window.composer.edit.show_size()
        self._anew.start()

    def _show_anew(self) -> None:
        self._on_conversation(self._session.conversation)
        if self._top_id:
            self._window.transcript.show_message(self._top_id)

    def _on_edit_wanted(self, message_id: int) -> None:
        for message in self._session.messages:
            if message.id == message_id:
                is_answer = message.role == "assistant"
                self._window.composer.start_editing(message_id, message.content, is_answer=is_answer)

    def _on_rename_wanted(self, conversation_id: int) -> None:
        self._session.open(conversation_id)
        self._window.header.rename()

    def _on_chosen(self, key: str) -> None:
        if key == SUPPORT_BOT:
            self._tour.begin()
        elif key == OPEN_DEFAULT:
            self._window.commands.open_default.trigger()
        else:
            self._window.commands.open_folder.trigger()

    # What the session reports

    def _draw(self, draw: Callable[[], None]) -> None:
        """Draw something of the conversation in view. What sending a question adds there waits for the first word of
        its answer where that is foreseen at once; everything else is drawn now, behind what waits."""
        if self._is_sending and self._session.is_word_soon:
            self.postponed.put_off(draw)
        else:
            self.postponed.draw_now()
            draw()

    def _on_conversation(self, conversation: Conversation) -> None:
        self._draw(partial(self._show_conversation, conversation, self._session.messages, is_sent=self._is_sending))

    def _show_conversation(
        self, conversation: Conversation, messages: Sequence[StoredMessage], *, is_sent: bool = False
    ) -> None:
        """Show these messages of a conversation; `is_sent`: it begins with the question that was just sent."""
        window = self._window
        if conversation.id != self._shown_id:
            window.transcript.mark("")
            window.composer.stop_editing()
            window.header.stop_renaming()
            if not is_sent:
                self._keep_draft()
                self._left_text = window.composer.text
                window.composer.set_text(self._session.draft(conversation.id))
        self._shown_id = conversation.id
        self._refresh_header()
        window.transcript.show_messages(self._contents(messages))
        window.show_transcript(bool(messages))
        self._refresh_empty()
        window.sidebar.list.show_current(conversation.id)
        self._on_state(self._session.state)
        if messages and not messages[-1].finish_reason and messages[-1].role == "assistant":
            self._wait_for(messages[-1])

    def _on_list(self, search: str | None = None) -> None:
        self._draw(self._show_list)

    def _show_list(self) -> None:
        needle = self._window.sidebar.needle
        self._search.start(needle)
        if self._needle and not needle:  # what the bar of Ctrl+F marks stays marked
            self._window.transcript.mark("")
        self._needle = needle
        self._refresh_header()

    def _on_found(self, found: Sequence[ConversationEntry]) -> None:
        self._found = found
        self._window.sidebar.show_rows(found, self._session.conversation.id)

    def _on_message(self, message: StoredMessage) -> None:
        self._on_state(self._session.state)  # one that waits for a model can be stopped, and the state stays "loading"
        self._draw(partial(self._add_message, message))

    def _add_message(self, message: StoredMessage) -> None:
        self._window.show_transcript(True)
        self._window.transcript.add(*self._contents([message]))
        if message.role == "assistant":
            self._wait_for(message)

    def _on_question_taken_back(self, text: str, replaced: int | None) -> None:
        composer = self._window.composer
        if replaced is None:
            written = composer.text if self._shown_id else self._left_text  # its conversation may be gone with it
            composer.set_text(f"{text}\n{written}" if written.strip() else text)
        else:
            composer.start_editing(replaced, text)
        composer.edit.setFocus()

    def _wait_for(self, message: StoredMessage) -> None:
        answer = self._window.transcript.answer(message.id)
        if answer and not (message.content or message.thought):
            loading = self._session.state == "loading"
            answer.wait(tr("waiting for the model to be loaded") if loading else tr("reading the prompt"))
            if self._progress and self._progress[0] == message.id:
                answer.show_progress(self._progress[1], at_once=True)

    def _on_text(self, message_id: int, text: str) -> None:
        if answer := self._window.transcript.answer(message_id):
            answer.append(text)

    def _on_thought(self, message_id: int, text: str) -> None:
        if answer := self._window.transcript.answer(message_id):
            answer.append_thought(text)

    def _on_stats(self, message_id: int, stats: TurnStats) -> None:
        if answer := self._window.transcript.answer(message_id):
            answer.show_stats(stats)

    def _on_finished(self, message: StoredMessage) -> None:
        if answer := self._window.transcript.answer(message.id):
            answer.finish(*self._contents([message]))
            self._window.transcript.mark_newest()
        if message.finish_reason in ("end", "length"):
            self._end_error()

    def _on_reopened(self, message: StoredMessage) -> None:
        if answer := self._window.transcript.answer(message.id):
            answer.finish(*self._contents([message]))
            self._window.transcript.mark_newest()
            self._window.transcript.follow()

    def _on_prefill(self, prefill: Prefill) -> None:
        if answer := self._newest_answer():
            self._progress = answer.content.id, prefill
            answer.show_progress(prefill)

    def _on_state(self, state: str) -> None:
        busy = self._session.is_busy
        self._window.composer.set_busy(busy, can_stop=state != "stopping")
        self._window.commands.stop.setEnabled(busy)
        self._window.commands.retry.setEnabled(bool(self._session.messages) and not busy)
        if state == "loading":
            self._window.sidebar.model_button.show_loading()
        self._refresh_empty()

    def _on_preview(self, preview: Preview) -> None:
        prompt = self._session.conversation.system_prompt
        pinned = preview.pinned_tokens > max(0, preview.system_tokens - BLOCK_TOKENS)
        self._counted = (prompt, preview.system_tokens, pinned)
        self._refresh_header()

    def _on_model(self, model: ModelInfo | None) -> None:
        self._window.loading_bar.hide()
        if model:
            self._end_error()
        self._window.sidebar.model_button.show_model(model)

    def _on_loading(self, event: Loading) -> None:
        self._window.loading_bar.show_stage(event)

    def _on_loading_stopped(self) -> None:
        self._has_failed = False  # a question that waited was given back: no error follows
        model = self._session.model
        self._on_model(model)
        stays = (
            tr("{name} still answers.", name=model.name)
            if model
            else tr("There is no model yet; open one when you want to go on.")
        )
        self._window.notice.show_notice(tr("Loading was stopped. {stays}", stays=stays))

    def _on_cache(self, view: CacheView) -> None:
        self._window.sidebar.model_button.show_cache(view)
        if view.disk_note and view.disk_note != self._disk_note:
            self._window.notice.show_notice(view.disk_note)
        elif self._disk_note and not view.disk_note and self._window.notice.text == self._disk_note:
            self._window.notice.clear()
        self._disk_note = view.disk_note

    def _on_ended(self, turn: Turn, message: StoredMessage, kept: bool) -> None:
        """Note whether an answer in view failed: the error that says so comes next, and can be tried again."""
        is_here = message.conversation_id == self._session.conversation.id
        self._has_failed = is_here and message.finish_reason == "failed" and not turn.is_refused

    def _on_error(self, sentence: str, detail: str) -> None:
        has_failed, self._has_failed = self._has_failed, False
        if has_failed and self._session.model and not self._session.saving.is_failing:
            number = self._session.conversation.id
            self._window.notice.show_offer(sentence, TRY_AGAIN, lambda: self._try_again(number), detail=detail)
        else:
            self._window.notice.show_error(sentence, detail, stays=self._session.saving.is_failing)
        self._error = sentence
        if self._session.state != "loading":
            self._window.loading_bar.hide()
            self._window.sidebar.model_button.show_model(self._session.model)

    def _end_error(self) -> None:
        """What failed works again: the bar that said so goes, unless it says something else by now, or what failed can
        be tried again there."""
        notice = self._window.notice
        has_other_offer = notice.has_offer and notice.offer.text() != TRY_AGAIN
        if self._error and notice.text == self._error and not has_other_offer:
            notice.clear()
        self._error = ""

    def _keep_draft(self) -> None:
        """What is written stays with its conversation, also over the end of the program."""
        self._window.composer.stop_editing()
        self._session.keep_draft(self._shown_id, self._window.composer.text)

    # Small print

    def _newest_answer(self) -> Answer | None:
        newest = self._window.transcript.newest
        return newest if isinstance(newest, Answer) else None

    def _refresh_header(self) -> None:
        conversation = self._session.conversation
        title = conversation.title or UNTITLED
        self._window.header.show_title(title, can_rename=conversation.id != 0)
        prompt, tokens, pinned = self._counted
        if prompt != conversation.system_prompt:
            tokens, pinned = 0, False
        self._window.header.show_prompt(conversation.system_prompt, tokens, pinned)
        said = title.replace("[*]", "[*][*]")  # Qt shows a single one as its mark of what is not stored
        self._window.setWindowTitle(f"{said} – Headstart" if conversation.title else "Headstart")
        for action in (self._window.commands.rename, self._window.commands.delete):
            action.setEnabled(conversation.id != 0)

    def _refresh_empty(self) -> None:
        empty = self._window.empty
        if self._session.state == "no_model":
            models = ((OPEN_DEFAULT, tr("Use the default model")), (OPEN_FOLDER, tr("Open a model folder…")))
            empty.say(
                tr("No model is open"), tr("Choose the model that will answer; it runs on this computer."), models
            )
            return
        offers = bool(self._support_prompt) and not self._session.conversation.system_prompt
        choices = ((SUPPORT_BOT, tr("Show me: ask a support bot two questions · about a minute")),) if offers else ()
        beside = tr("or just start writing") if offers else tr("Just start writing.")
        if self._session.state == "loading":
            beside = tr("{beside}; it is answered as soon as the model is loaded.", beside=beside.removesuffix("."))
        empty.say(WHAT_FOR, HOW, choices, beside, steps=offers)

    def _contents(self, messages: Sequence[StoredMessage]) -> list[MessageContent]:
        first_seen_id = self._session.first_seen_id  # it goes through the whole branch: once for all of them
        return [self._content(message, message.id == first_seen_id) for message in messages]

    def _content(self, message: StoredMessage, is_first_seen: bool) -> MessageContent:
        versions = self._session.versions(message.id)
        return MessageContent(
            id=message.id,
            role=message.role,
            text=message.content,
            stats=message.stats,
            divergence=message.divergence,
            finish_reason=message.finish_reason,
            is_first_seen=is_first_seen,
            added=message.sent.removeprefix(with_files(message.content, message.attachments)).strip(),
            divergence_place=self._session.place_of_divergence(message),
            version=versions.index(message.id) + 1,
            versions=len(versions),
            thought=message.thought,
            tool_calls=message.tool_calls,
            called=called_tool(self._session.messages, message) if message.role == "tool" else "",
            files=message.attachments,
            accepted=message.accepted,
        )
