"""What goes into the engine and what it can refuse: frozen values, no torch, no Qt."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal, get_args

Role = Literal["system", "user", "assistant", "tool"]
Device = Literal["auto", "cuda", "mps", "cpu"]
Dtype = Literal["auto", "fp32", "bf16", "fp16", "int8", "int4"]
Cause = Literal[
    "new",
    "edited",
    "date",
    "reasoning removed",
    "empty thought",
    "answer frame",
    "system moved",
    "settings",
    "tools",
    "trimmed",
    "evicted",
    "other client",
    "positions",
    "other model",
    "cache off",
]

Cure = Literal["keep thoughts", "system in question"]
"""What a user may choose where a template's form makes reuse impossible: `keep_thoughts` or `system_place`."""

SystemPlace = Literal["auto", "question", "refuse"]

ReuseName = Literal["full", "full, masked window", "full, up to a length", "full, on each side of a length", "refused"]

ROLES: tuple[str, ...] = get_args(Role)
DTYPES: tuple[str, ...] = get_args(Dtype)
DEVICES: tuple[str, ...] = get_args(Device)

MOST_CACHE_BYTES = 10**13
"""No computer has more, and sums of such budgets still fit into 64 bits."""

BLOCK_TOKENS = 16
"""Tokens in one cache block, the unit of the prefix tree and of eviction."""

MOST_TOKEN_ID = 2**32 - 1
"""The largest token id that a tokenizer can be asked about."""

MOST_KEPT_S = 86_400
"""The longest time for which a start of a prompt can be kept on request: a day."""

MOST_BIAS = 100.0
"""What may be added to the logit of a token, or taken off: with so much it is written always, or never."""

MOST_SCORES = 20
"""How many of the likeliest tokens can be asked for beside each that was written."""

ANSWER_SHARE = 4
"""A request that keeps room for its answer keeps at most one in so many tokens of the context."""


class HeadstartError(Exception):
    """A refusal in words: `str(error)` is one sentence for the user that says what to do.

    `detail` may hold more (paths, the library's own message) for a "copy details" button or a log.
    """

    def __init__(self, sentence: str, detail: str = "") -> None:
        super().__init__(sentence)
        self.detail = detail


class ModelError(HeadstartError):
    """A model that is missing, damaged, unsafe to open, or that cannot be cached exactly."""


class PromptTooLongError(HeadstartError):
    """A prompt that leaves no room for an answer in the model's context."""


class OutOfMemoryError(HeadstartError):
    """The device has no memory for this request, even after reusable blocks were dropped."""


class ModelGoneError(OutOfMemoryError):
    """There was no memory for another model, and the one before was closed in vain."""


class DiskFullError(HeadstartError):
    """There is not enough disk space to download a model."""


class InvalidRequestError(HeadstartError):
    """A request with values outside their range, or without any message."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A function that the model asked for. `arguments` is a JSON object as text, as the model wrote it. `id` joins the
    call to the message with its result; "" where the model's format has none.

    Raises InvalidRequestError where a field is not of its kind, or there is no name.
    """

    name: str
    arguments: str = "{}"
    id: str = ""

    def __post_init__(self) -> None:
        for value, what in ((self.name, "name"), (self.arguments, "arguments"), (self.id, "id")):
            _require(value, str, f"the {what} of a tool call")
        if not self.name:
            raise InvalidRequestError("A tool call has no name: say which tool is meant.")


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation.

    An answer has parts: `thought`, what a reasoning model wrote before it; `content`, the answer itself; `tool_calls`,
    the functions that it asked for. None of them holds the marks that a model writes around its parts. A message of the
    role "tool" says by `tool_call_id` whose result it is.

    `token_ids` are the ids the model generated for an assistant message: all parts and the marks between them, without
    the end token. When present they are spliced into later prompts as they are; the text is never encoded again.
    `thinking` is what was chosen about thoughts when it was asked for, as in TemplateSettings.

    Raises InvalidRequestError where a field is not of its kind.
    """

    role: Role
    content: str
    token_ids: tuple[int, ...] = ()
    thought: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    thinking: str = ""

    def __post_init__(self) -> None:
        for value, what in (
            (self.thought, "the thought of a message"),
            (self.tool_call_id, "the id of a tool call"),
            (self.thinking, "the thinking of a message"),
        ):
            _require(value, str, what)
        object.__setattr__(self, "tool_calls", _tuple_of(ToolCall, self.tool_calls, "the tool calls of a message"))
        if self.role not in ROLES:
            raise InvalidRequestError(
                f"A message is by one of {', '.join(ROLES)}; {_shown(self.role)} is none of them."
            )
        _require(self.content, str, "the content of a message")
        object.__setattr__(self, "token_ids", _tuple_of(int, self.token_ids, "the token ids of a message"))
        if self.token_ids and not 0 <= min(self.token_ids) <= max(self.token_ids) <= MOST_TOKEN_ID:
            raise InvalidRequestError(f"Token ids lie between 0 and {MOST_TOKEN_ID}: leave the others out.")


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the model may ask for. `parameters` is its JSON Schema as text; it is kept with sorted keys, so
    that the same tool always makes the same tokens.

    Raises InvalidRequestError where there is no name, or the parameters are no JSON object.
    """

    name: str
    description: str = ""
    parameters: str = "{}"

    def __post_init__(self) -> None:
        _require(self.name, str, "the name of a tool")
        _require(self.description, str, "the description of a tool")
        if not self.name:
            raise InvalidRequestError("A tool has no name: give it one.")
        try:
            schema = json.loads(self.parameters)
            text = json.dumps(schema, sort_keys=True, ensure_ascii=False)
        except (ValueError, TypeError, RecursionError) as error:
            raise InvalidRequestError(
                f"The parameters of the tool {self.name} are no JSON: write them as a JSON Schema.", str(error)
            ) from error
        if not isinstance(schema, dict):
            raise InvalidRequestError(f"The parameters of the tool {self.name} are no object: write a JSON Schema.")
        object.__setattr__(self, "parameters", text)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is chosen. `temperature` 0 means greedy; `top_k` 0, `top_p` 1, `min_p` 0 and
    `repetition_penalty` 1 switch that rule off; so do 0 for `presence_penalty`, which is taken off the logit of a token
    that the answer has, and `frequency_penalty`, taken off for each time it has it. `seed` None draws a fresh seed for
    each request.

    Raises InvalidRequestError where a value is outside its range.
    """

    temperature: float = 0.2
    top_p: float = 0.9
    top_k: int = 0
    min_p: float = 0.0
    repetition_penalty: float = 1.1
    seed: int | None = None
    max_tokens: int = 512
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0

    def __post_init__(self) -> None:
        checks: tuple[tuple[str, type, Any, float, float], ...] = (
            ("temperature", float, self.temperature, 0.0, 5.0),
            ("top-p", float, self.top_p, 0.0, 1.0),
            ("top-k", int, self.top_k, 0, 1_000_000),
            ("min-p", float, self.min_p, 0.0, 1.0),
            ("repetition penalty", float, self.repetition_penalty, 0.01, 10.0),
            ("seed", int, 0 if self.seed is None else self.seed, 0, 2**63 - 1),
            ("length", int, self.max_tokens, 1, 1_000_000),
            ("presence penalty", float, self.presence_penalty, -2.0, 2.0),
            ("frequency penalty", float, self.frequency_penalty, -2.0, 2.0),
        )
        for name, kind, value, low, high in checks:
            _require(value, kind, name)
            if not low <= value <= high:
                raise InvalidRequestError(f"Set {name} between {low:g} and {high:g}; it is {_shown(value)}.")

    def answer_room(self, context_length: int) -> int:
        """How many tokens of the context a request leaves for its answer where it keeps room for that."""
        return max(1, min(self.max_tokens, context_length // ANSWER_SHARE))


@dataclass(frozen=True, slots=True)
class KeptStart:
    """A start of a prompt that is to stay resident for `seconds`: up to the end of its first `messages` messages, the
    tools before them included. With 0 messages it is the tools alone, or what else stands before the first message.
    `characters` of the message behind those belong to it, too.

    Raises InvalidRequestError where there are fewer than no messages, or no time.
    """

    messages: int
    seconds: float
    characters: int = 0

    def __post_init__(self) -> None:
        _require(self.messages, int, "the number of messages to keep")
        _require(self.seconds, float, "the time to keep a start of a prompt")
        _require(self.characters, int, "the characters to keep")
        if self.messages < 0 or self.characters < 0 or not 0 < self.seconds <= MOST_KEPT_S:
            raise InvalidRequestError(
                f"Keep a start of a prompt for up to {MOST_KEPT_S:,} seconds, and count messages and characters from 0."
            )


@dataclass(frozen=True, slots=True)
class TemplateSettings:
    """What the user chooses of how a chat template makes the prompts of a conversation.

    `thinking` is one of `ModelInfo.thinking`, "" for what the template does by itself. `keep_thoughts` gives earlier
    thoughts back to the model where its template would drop them: longer prompts, all of which can be reused.
    `system_place` says what is done with a system prompt that the template leaves out or refuses: "auto" puts it in
    front of the first question, and "refuse" refuses the request. "question" always puts it there, also where the
    template takes it, or moves it on with every turn.

    Raises InvalidRequestError where a field is not of its kind.
    """

    thinking: str = ""
    keep_thoughts: bool = False
    system_place: SystemPlace = "auto"

    def __post_init__(self) -> None:
        _require(self.thinking, str, "the thinking of a request")
        _require(self.keep_thoughts, bool, "keep_thoughts of a request")
        if self.system_place not in get_args(SystemPlace):
            known = ", ".join(get_args(SystemPlace))
            raise InvalidRequestError(f"Choose a place for the system prompt among {known}.")


@dataclass(frozen=True, slots=True)
class Request:
    """One turn to answer. `messages` is the whole conversation, oldest first, the new user message last.

    `conversation` names the owner in the cache view. `use_cache` False reads and writes no cached block (the cold
    run). `pin_system` keeps the blocks of the system prompt, and of the tools, resident. `day` is the date the chat
    began on, for chat templates that print one. `record_margins` keeps the logit distance between the two best tokens
    of every step. `tools` are kept sorted by name: in another order they are the same prompt. `keep_room` refuses the
    request where the context leaves no room for `max_tokens` tokens of an answer, or for a quarter of the context where
    that is less.

    `client` names the program that asked, "" for the window: the window's requests go first. `salt` separates caches:
    what was computed under one is never reused, shown or named under another. `is_plain`: the one message is the whole
    prompt, and no chat template is used; its text may spell out special tokens, or its `token_ids` stand for it.
    `kept` says which starts of the prompt stay resident for a time. `scores` asks for the log probability of each
    written token, and of so many of the likeliest beside it; None asks for none. `schema` is a JSON Schema as text that
    the answer has to fit; "" for none. `bias` adds to the logits of some tokens, each up to MOST_BIAS.

    `must_call` names tools of which the answer has to call one, with arguments that fit its parameters; behind a
    thought where the prompt opens one. `held_calls` names tools whose arguments have to fit wherever the answer calls
    them. `may_call` names tools of which alone it may call any, though all of them stand in the prompt; all are meant
    where it is empty. `one_call` ends the answer behind its first call.

    `server` is the address of a server that answers in place of the model that is loaded, as in ModelSpec; "" for none.

    `begun` is an answer to these messages that was cut off and goes on: its token ids, or where they are none of this
    model's its text's, stand behind the prompt, and what is written stands behind them. All that comes out, but the
    text deltas and the counts of what was written, is of the whole answer.

    `asked_at` is when the user asked, as `time.perf_counter` gives it; None: when it is submitted.

    `write_ahead` lets the engine guess tokens of the answer from what was written before, and check several in one pass
    of the model. The answer is the same without; it only comes later.

    Raises InvalidRequestError where a field is not of its kind.
    """

    messages: tuple[Message, ...]
    sampling: Sampling = field(default_factory=Sampling)
    conversation: str = ""
    use_cache: bool = True
    pin_system: bool = True
    day: date | None = None
    stop: tuple[str, ...] = ()
    record_margins: bool = False
    tools: tuple[Tool, ...] = ()
    keep_room: bool = False
    template: TemplateSettings = field(default_factory=TemplateSettings)
    asked_at: float | None = field(default=None, compare=False)
    client: str = ""
    salt: str = ""
    is_plain: bool = False
    kept: tuple[KeptStart, ...] = ()
    scores: int | None = None
    schema: str = ""
    bias: tuple[tuple[int, float], ...] = ()
    must_call: tuple[str, ...] = ()
    held_calls: tuple[str, ...] = ()
    may_call: tuple[str, ...] = ()
    one_call: bool = False
    server: str = ""
    begun: Message | None = None
    write_ahead: bool = True

    def __post_init__(self) -> None:
        if not self.messages:
            raise InvalidRequestError("There is no message to answer: write one first.")
        kinds = {
            "messages": Message,
            "stop": str,
            "tools": Tool,
            "kept": KeptStart,
            "must_call": str,
            "held_calls": str,
            "may_call": str,
        }
        for name, kind in kinds.items():
            object.__setattr__(self, name, _tuple_of(kind, getattr(self, name), f"the {name} of a request"))
        _require(self.sampling, Sampling, "the sampling of a request")
        _require(self.conversation, str, "the conversation of a request")
        if self.day is not None:
            _require(self.day, date, "the day of a request")
        _require(self.template, TemplateSettings, "the template settings of a request")
        for name in ("client", "salt", "schema", "server"):
            _require(getattr(self, name), str, f"the {name} of a request")
        for name in ("use_cache", "pin_system", "record_margins", "keep_room", "is_plain", "one_call", "write_ahead"):
            _require(getattr(self, name), bool, f"{name} of a request")
        if self.begun is not None:
            _require(self.begun, Message, "the begun answer of a request")
            if self.begun.role != "assistant" or self.begun.tool_calls or self.is_plain:
                raise InvalidRequestError("Only an answer of a chat that called no tool can go on.")
        if self.asked_at is not None:
            _require(self.asked_at, float, "asked_at of a request")
        if self.scores is not None:
            _require(self.scores, int, "the scores of a request")
            if not 0 <= self.scores <= MOST_SCORES:
                raise InvalidRequestError(f"Ask for the scores of up to {MOST_SCORES} tokens beside each.")
        if self.schema and self.tools:
            raise InvalidRequestError("An answer that has to fit a JSON Schema calls no tools: send one of the two.")
        if self.is_plain and (len(self.messages) != 1 or self.tools):
            raise InvalidRequestError("A plain prompt is one message, without tools.")
        self._check_bias()
        names = [tool.name for tool in self.tools]
        if unknown := sorted({*self.must_call, *self.held_calls, *self.may_call}.difference(names)):
            raise InvalidRequestError(
                f"No tool is called {unknown[0]}, so it cannot be called: send it with the tools."
            )
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise InvalidRequestError(f"Two tools are called {twice[0]}: give each a name of its own.")
        object.__setattr__(self, "tools", tuple(sorted(self.tools, key=lambda tool: tool.name)))

    def _check_bias(self) -> None:
        object.__setattr__(self, "bias", _tuple_of(tuple, self.bias, "the bias of a request"))
        for pair in self.bias:
            if len(pair) != 2:
                raise InvalidRequestError("Let a bias be pairs of a token and what is added to its logit.")
            token, value = pair
            _require(token, int, "a token of a bias")
            _require(value, float, "a bias")
            if not (0 <= token <= MOST_TOKEN_ID and -MOST_BIAS <= value <= MOST_BIAS):
                raise InvalidRequestError(f"Give tokens a bias between -{MOST_BIAS:g} and {MOST_BIAS:g}.")

    def answer_room(self, context_length: int) -> int:
        """How many tokens of the context must be left for the answer; without them the request is refused."""
        return self.sampling.answer_room(context_length) if self.keep_room else 1


KVBits = Literal[8, 16]

LEAST_CONTEXT = 1024
"""Tokens that a conversation may have at least, whatever memory there is."""


def is_server(path: str) -> bool:
    """Whether the path of a model is the address of a server."""
    return path.lower().startswith(("http://", "https://"))


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """Which model to load and how. An empty `path` means the default model, which is fetched once.

    `path` is a folder with config.json and safetensors files, or a GGUF file. `cache_bytes` None takes a share of the
    free device memory; less than one whole conversation takes is raised to that (`ModelInfo.cache_budget_bytes`).
    `disk_bytes` is what may be kept on disk for the next start, 0 for nothing; None takes 2 GiB, but at most a tenth of
    the free disk space. `context_tokens` is how long a conversation may grow, at most as long as the model reads; None
    takes what the computer's memory suggests, the same at every start. `kv_bits` is in how many bits keys and values
    are cached: in 8 they take half of the room, in memory and on disk, and answers differ a little from those in 16.

    `draft` is the path of a smaller model of the same tokenizer that guesses what this one writes, "" for none. Answers
    are the same with and without.
    """

    path: str = ""
    device: Device = "auto"
    dtype: Dtype = "auto"
    cache_bytes: int | None = None
    disk_bytes: int | None = 0
    context_tokens: int | None = None
    kv_bits: KVBits = 16
    draft: str = ""

    def __post_init__(self) -> None:
        _require(self.draft, str, "the path of a small model")
        if is_server(self.draft):
            raise InvalidRequestError("A server cannot write ahead for a model that is here: choose a small model.")
        if self.kv_bits not in (8, 16):
            raise InvalidRequestError(f"Keep keys and values in 8 or 16 bits; {_shown(self.kv_bits)} is neither.")
        _require(self.path, str, "the path of a model")
        for name, value, known in (("device", self.device, DEVICES), ("number type", self.dtype, DTYPES)):
            if value not in known:
                raise InvalidRequestError(f"Choose a {name} among {', '.join(known)}; {_shown(value)} is none of them.")
        if self.cache_bytes is not None:
            check_budget(self.cache_bytes)
        check_disk_budget(self.disk_bytes)
        if self.context_tokens is not None:
            _require(self.context_tokens, int, "the length of a conversation")
            if self.context_tokens < LEAST_CONTEXT:
                raise InvalidRequestError(
                    f"Let a conversation have at least {LEAST_CONTEXT:,} tokens; it is {_shown(self.context_tokens)}."
                )


@dataclass(frozen=True, slots=True)
class ModelFit:
    """What a model will take, computed from its files before anything of it is read. All but tokens is in bytes.

    `weights` and `scratch` (room to compute in) are taken at once, `token` by each token of a conversation, which may
    grow to `context` tokens here, and to `longest` in the model. `free` and `total` are the device's memory. `draft` is
    all that a small model takes that writes ahead, 0 where there is none.
    """

    name: str
    dtype: str
    weights: int
    scratch: int
    token: int
    context: int
    longest: int
    free: int
    total: int
    draft: int = 0

    @property
    def conversation(self) -> int:
        """A conversation of the whole context."""
        return self.context * self.token

    @property
    def whole(self) -> int:
        """All of it."""
        return self.weights + self.scratch + self.conversation + self.draft

    @property
    def fits(self) -> bool:
        """Whether there is room now."""
        return self.whole <= self.free

    @property
    def sentence(self) -> str:
        """What it takes of what there is."""
        needs = [
            (self.weights, "for its weights"),
            (self.scratch, "to compute in"),
            (self.conversation, f"for a conversation of {self.context:,} tokens"),
        ]
        if self.draft:
            needs.append((self.draft, "for the small model that writes ahead"))
        parts = ", ".join(f"{nbytes / 1e9:.1f} {what}" for nbytes, what in needs)
        there = (
            f"{self.total / 1e9:.1f} GB are there" if self.whole > self.total else f"{self.free / 1e9:.1f} GB are free"
        )
        return f"{self.name} takes {self.whole / 1e9:.1f} GB of memory ({parts}), and {there}"

    @property
    def ways_out(self) -> str:
        """What may be done about it; "" where it fits."""
        if self.fits:
            return ""
        room = (
            (self.free - self.weights - self.scratch - self.draft)
            // max(self.token, 1)
            // LEAST_CONTEXT
            * LEAST_CONTEXT
        )
        shorter = f"choose a shorter conversation (up to {room:,} tokens fit), " if room >= LEAST_CONTEXT else ""
        alone = "leave out the small model that writes ahead, " if self.draft else ""
        return f"{alone}{shorter}close other programs, get the model in fewer bits, or choose a smaller one."

    @property
    def refusal(self) -> str:
        """Both in a sentence; "" where it fits."""
        return f"{self.sentence}: {self.ways_out}" if self.ways_out else ""


def check_budget(nbytes: int) -> int:
    """A budget for the cache in bytes as it is. Raises InvalidRequestError where no computer could have it."""
    _require(nbytes, float, "the cache budget")
    if not 0 <= nbytes <= MOST_CACHE_BYTES:
        raise InvalidRequestError(
            f"Set the cache budget between 0 and {MOST_CACHE_BYTES // 10**6:,} MB; it is {_shown(nbytes / 10**6)} MB."
        )
    return int(nbytes)


def check_disk_budget(nbytes: int | None) -> int | None:
    """What may be kept on disk as it is. Raises InvalidRequestError where it is less than nothing."""
    if nbytes is None:
        return None
    _require(nbytes, float, "what is kept on disk")
    if not nbytes >= 0:
        raise InvalidRequestError(f"Set what is kept on disk to 0 MB or more; it is {nbytes / 1e6:g} MB.")
    return nbytes


_KINDS = {str: "text", int: "a whole number", float: "a number", bool: "True or False", date: "a date"}


def _require(value: object, kind: type, what: str) -> None:
    """Raise InvalidRequestError unless `value` is of this kind. Whole numbers are numbers; True and False are not."""
    kinds = (int, float) if kind is float else kind
    if not isinstance(value, kinds) or (isinstance(value, bool) and kind is not bool):
        wanted = _KINDS.get(kind, f"a {kind.__name__}")
        raise InvalidRequestError(f"Let {what} be {wanted}; it is {_shown(value)}.")


def _tuple_of(kind: type, values: object, what: str) -> tuple[Any, ...]:
    """A list or tuple as a tuple. Raises InvalidRequestError where it is neither, or one of `values` is of another
    kind."""
    if not isinstance(values, (list, tuple)):
        raise InvalidRequestError(f"Let {what} be a tuple; it is {_shown(values)}.")
    if set(map(type, values)) != {kind}:  # the usual case is decided without a step for each of 100,000 ids
        for value in values:
            _require(value, kind, f"each of {what}")
    return tuple(values)


def _shown(value: object) -> str:
    """A value as it is shown in a sentence, cut where it is long."""
    if isinstance(value, int) and abs(value) >= 10**18:
        return "a number of more than 18 digits"
    if isinstance(value, (int, float)):
        return f"{value:g}" if not isinstance(value, bool) else str(value)
    return f"{value[:40]!r}" if isinstance(value, (str, bytes)) else f"a {type(value).__name__}"


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What was loaded. Sizes in bytes; `kv_bytes_per_token` is what one token of a conversation costs while it is
    computed, `cached_bytes_per_token` what it costs in the cache, which is less where that keeps 8 bits of a number.

    `thinking` lists what the chat template lets one choose about thoughts, such as ("on", "off") or ("low", "medium",
    "high"); empty where it knows no such switch. `advice` is how the model's makers say to sample, None where they say
    nothing. `has_tools`: the template takes tools. `kv_bits`: of a number in a cached block.

    `draft` is the name of the small model that writes ahead, "" where there is none; it takes `draft_bytes` without its
    lane.

    `near` says why an answer may differ from one without the cache, where two tokens are nearly equally likely; it is
    empty where both are equal bit for bit.
    """

    name: str
    path: str
    architecture: str
    device: str
    dtype: str
    near: str
    context_length: int
    weights_bytes: int
    kv_bytes_per_token: int
    cached_bytes_per_token: int
    cache_budget_bytes: int
    prefill_tokens_per_s: float
    thinking: tuple[str, ...] = ()
    advice: Sampling | None = None
    has_tools: bool = False
    kv_bits: KVBits = 16
    draft: str = ""
    draft_bytes: int = 0


SHORT, LONG = "short", "long"
"""The regimes of a model that has two."""


@dataclass(frozen=True, slots=True)
class ReuseClass:
    """What the cache can do for a model: by itself, reuse every block. `sentence` says it to the user, `detail` is for
    the log.

    `limit` is the context length in tokens up to which reuse is exact, None where every length is fine. Some models
    compute sequences of more than `switch` tokens with other rotary frequencies (LongRoPE). The same token then has
    other keys and values. We call the two ways of computing a sequence its regimes.
    """

    name: ReuseName = "full"
    sentence: str = "Every block is reused."
    limit: int | None = None
    switch: int | None = None
    detail: str = ""

    def regime(self, length: int) -> str:
        """The regime of a sequence of `length` tokens, chosen as transformers' `generate` does, by the tokens that are
        there: "short" or "long", and "" for a model that has only one.

        Blocks of one regime must never be used in another, so the name is a part of the cache's namespace.
        """
        if self.switch is None:
            return ""
        return SHORT if length <= self.switch else LONG


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """The tokens `start` to `end` (exclusive) of a prompt hold message number `message_index`."""

    message_index: int
    role: Role
    start: int
    end: int


NOTHING_CHOSEN = TemplateSettings()
"""The template does as it does by itself."""
