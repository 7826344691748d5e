"""Reads the tools that a model calls out of what it wrote, in the formats that model families have for it.

What is not wholly a call in one of them is none: a wrong call is worse than a text.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from engine.types import InvalidRequestError, Tool, ToolCall

_NAMES = ("name", "tool_name", "function_name", "function")
_ARGUMENTS = ("arguments", "parameters", "args", "input")
_IDS = ("id", "tool_call_id", "call_id")
_KEYS = (*_NAMES, *_ARGUMENTS, *_IDS, "type")
_BEGINS = re.compile(r"[\w.-]+\s*(?:`{0,2}$|([<\[{]|```))")
_DECODER = json.JSONDecoder(strict=False)
"""Lets line breaks stand inside strings, as models write them."""

_BETWEEN = re.compile(r"[\s,;]*")
_BLANKS = re.compile(r"\s*")

_FUNCTION = re.compile(
    r"<(?:｜DSML｜)?(?:function|invoke)(?:=|\s+name=)\"?([^\">\s]+)\"?\s*>(.*?)</(?:｜DSML｜)?(?:function|invoke)>",
    re.DOTALL,
)
_PARAMETER = re.compile(
    r"<(?:｜DSML｜)?param(?:eter)?(?:=|\s+name=)\"?([^\">]+?)\"?(?:\s+string=\"(true|false)\")?\s*>"
    r"(.*?)</(?:｜DSML｜)?param(?:eter)?>",
    re.DOTALL,
)
_KEYED = re.compile(r"<arg_key>([^<]*)</arg_key>\s*<arg_value>(.*?)</arg_value>", re.DOTALL)
_SECTIONS = (
    re.compile(  # Kimi-K2
        r"<\|tool_call_begin\|>\s*(?P<id>(?:functions\.)?(?P<name>[\w.-]{1,128}?)(?::\d{1,9})?)\s*"
        r"<\|tool_call_argument_begin\|>(?P<arguments>.*?)<\|tool_call_end\|>",
        re.DOTALL,
    ),
    re.compile(  # DeepSeek
        r"<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?(?P<name>[\w.-]{1,128})(?:<｜tool▁sep｜>|\s*```json)"
        r"(?P<arguments>.*?)(?:```\s*)?<｜tool▁call▁end｜>",
        re.DOTALL,
    ),
    re.compile(  # Solar
        r"<\|tool_call:begin\|>(?P<id>[^<]*)<\|tool_call:name\|>(?P<name>[^<]*)<\|tool_call:args\|>(?P<arguments>.*?)"
        r"<\|tool_call:end\|>",
        re.DOTALL,
    ),
    re.compile(  # Mistral
        r"(?:\[TOOL_CALLS\])?\s*(?P<name>[\w.-]{1,128})(?:\[CALL_ID\](?P<id>[^\[{]*))?(?:\[ARGS\])?\s*"
        r"(?P<arguments>\{.*?\})\s*(?=\[TOOL_CALLS\]|$)",
        re.DOTALL,
    ),
    re.compile(  # Hunyuan
        r"(?:<tool_call>\s*)?(?P<name>[\w.-]{1,128})\s*```(?:json)?\s*(?P<arguments>\{.*?\})\s*```\s*(?:</tool_call>)?",
        re.DOTALL,
    ),
    re.compile(r">>>(?P<name>[\w.-]{1,128})\n(?P<arguments>.*?)(?=>>>|$)", re.DOTALL),  # functionary
)
"""Calls whose name and arguments stand between marks of their own."""

_GEMMA = re.compile(r"call:(?P<name>[\w.-]{1,128})(?P<arguments>\{.*\})", re.DOTALL)
_GEMMA_VALUE = re.compile(
    r"<\|\"\|>(.*?)<\|\"\|>|(\"(?:\\.|[^\"\\])*\")|(?<=[{,])\s{0,40}([^\s{}\[\],:\"<>][^{}\[\],:\"<>]{0,127}?)(?=\s*:)",
    re.DOTALL,
)
_FENCE = "```"


def read_calls(text: str, tools: Sequence[Tool] = (), *, is_keyed: bool = False) -> tuple[ToolCall, ...]:
    """The calls that a text between the marks of a tool call holds; none where it holds anything else.

    `tools` are those that were offered: where a format does not tell the string "7" from the number, their schema does.
    `is_keyed`: a call is an object whose only key is the name of the tool.
    """
    text = text.strip()
    if text.startswith(_FENCE):
        text = text.removeprefix(_FENCE).removeprefix("json").removesuffix(_FENCE).strip()
    types = {tool.name: _types(tool) for tool in tools}
    ways: tuple[Callable[[], list[ToolCall]], ...] = (
        lambda: list(_from_json(text, 0, is_keyed)),
        lambda: list(_from_functions(text, types)),
        lambda: list(_from_keys(text, types)),
        lambda: list(_from_sections(text)),
        lambda: list(_from_gemma(text)),
        lambda: list(_from_python(text)),
    )
    for way in ways:
        try:
            if calls := way():
                return tuple(calls)
        except (ValueError, LookupError, TypeError, SyntaxError, RecursionError, MemoryError, InvalidRequestError):
            continue  # it is in another format, or none
    return ()


def could_be_call(head: str) -> bool | None:
    """Whether a text that begins like this can be a call: not, or surely, or (None) as far as one can see."""
    head = head.lstrip()
    if not head or (head[0] in "`" and _FENCE.startswith(head)):
        return None
    if head[0] == "{":
        return _could_be_object(head[1:].lstrip())
    if head[0] in "[<" or head.startswith((_FENCE, ">>>")):
        return True
    found = _BEGINS.match(head)
    return False if found is None else True if found[1] else None


def _could_be_object(inside: str) -> bool | None:
    """The same for what stands behind the brace of a JSON object."""
    key, quote, _ = inside[1:].partition('"')
    if not inside.startswith('"'):
        return False if inside else None
    if quote:
        return key in _KEYS
    return None if any(known.startswith(key) for known in _KEYS) else False


def call_of(name: str, arguments: str, call_id: str = "") -> ToolCall:
    """A call whose arguments are JSON, written as an object or as a string that holds one.

    Raises ValueError or InvalidRequestError where they are neither, or there is no name.
    """
    arguments = arguments.strip() or "{}"
    value = json.loads(arguments, strict=False)
    if isinstance(value, str):
        arguments, value = value, json.loads(value, strict=False)
    if value is None:
        arguments, value = "{}", {}
    if not isinstance(value, dict):
        raise ValueError("the arguments are no object")
    f"{name}{arguments}{call_id}".encode()  # a half of a character is no text: UnicodeEncodeError is a ValueError
    return ToolCall(name.strip(), arguments, call_id.strip())


def _from_json(text: str, at: int, is_keyed: bool) -> Iterator[ToolCall]:
    """Objects one after the other, or lists of them."""
    while at < len(text):
        if text[at] not in "[{":
            raise ValueError("no object")
        _, end = _DECODER.raw_decode(text, at)
        for start in _objects(text, at):
            yield _from_object(dict(_members(text, start)), is_keyed)
        at = _after(_BETWEEN, text, end)


def _objects(text: str, at: int) -> Iterator[int]:
    """Where the objects begin: of the list at this place, or the object itself. The JSON there is known to be whole."""
    if text[at] == "{":
        yield at
        return
    at = _after(_BLANKS, text, at + 1)
    while text[at] != "]":
        if text[at] != "{":
            raise ValueError("no object")
        yield at
        _, at = _DECODER.raw_decode(text, at)
        at = _after(_BETWEEN, text, at)


def _members(text: str, at: int) -> Iterator[tuple[str, str]]:
    """The keys of the object at this place, each with its value as it is written."""
    at = _after(_BLANKS, text, at + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        start = _after(_BLANKS, text, _after(_BLANKS, text, at) + 1)
        _, at = _DECODER.raw_decode(text, start)
        yield key, text[start:at]
        at = _after(_BETWEEN, text, at)


def _from_object(members: Mapping[str, str], is_keyed: bool) -> ToolCall:
    if is_keyed and len(members) == 1:
        ((name, arguments),) = members.items()
        return call_of(name, arguments)
    call_id = next((str(json.loads(members[key])) for key in _IDS if members.get(key, "null") != "null"), "")
    inner = members.get("function", "")
    if inner.startswith("{"):
        members = dict(_members(inner, 0))
    name = json.loads(next((members[key] for key in _NAMES if key in members), "null"), strict=False)
    if not isinstance(name, str):
        raise ValueError("the name is no text, or there is none")
    return call_of(name, next((members[key] for key in _ARGUMENTS if key in members), "{}"), call_id)


def _from_functions(text: str, types: Mapping[str, Mapping[str, str]]) -> Iterator[ToolCall]:
    """Functions and parameters as tags: Qwen3-Coder, MiniMax, DeepSeek-V3.2, MiniCPM; functionary has JSON between."""
    for name, body in (call.groups() for call in _one_by_one(_FUNCTION, text)):
        values = {
            key: _value(_without_breaks(value), "string" if kind == "true" else types.get(name, {}).get(key, ""))
            for key, kind, value in (one.groups() for one in _one_by_one(_PARAMETER, body.strip()))
        }
        if not values and body.strip():
            yield call_of(name, body)
        else:
            yield ToolCall(name, json.dumps(values, ensure_ascii=False))


def _from_keys(text: str, types: Mapping[str, Mapping[str, str]]) -> Iterator[ToolCall]:
    """A name, and behind it keys and values as tags: GLM-4.5 and later. Without any, the name must be known."""
    name, tag, rest = text.partition("<arg_key>")
    name = name.strip()
    if re.fullmatch(r"[\w.-]+", name) and (tag or name in types):
        if _KEYED.sub("", tag + rest).strip():
            raise ValueError("there is more than keys and values")
        found = _KEYED.findall(tag + rest)
        values = {key.strip(): _value(value, types.get(name, {}).get(key.strip(), "")) for key, value in found}
        yield ToolCall(name, json.dumps(values, ensure_ascii=False))


def _from_sections(text: str) -> Iterator[ToolCall]:
    for pattern in _SECTIONS:
        for call in _one_by_one(pattern, text):
            parts = call.groupdict()
            yield call_of(parts["name"], parts["arguments"], parts.get("id") or "")


def _from_gemma(text: str) -> Iterator[ToolCall]:
    """`call:name{key:<|"|>text<|"|>,other:7}`: JSON with marks of its own for strings, and without any around keys."""

    def as_json(found: re.Match[str]) -> str:
        return found[2] or json.dumps(found[1] if found[3] is None else found[3], ensure_ascii=False)

    if found := _GEMMA.fullmatch(text):
        arguments = found["arguments"]
        plain = arguments[1:-1] if arguments.startswith("{{") else _GEMMA_VALUE.sub(as_json, arguments)
        yield call_of(found["name"], plain)


def _from_python(text: str) -> Iterator[ToolCall]:
    """`[name(key="text", other=7)]` as of LFM2, and `name.call(key="text")` as of Llama-3."""
    with warnings.catch_warnings(action="ignore"):  # of what Python thinks of escapes in strings
        tree = ast.parse(text, mode="eval").body
    for call in tree.elts if isinstance(tree, ast.List) else [tree]:
        if not isinstance(call, ast.Call) or call.args:
            raise ValueError("no call with names for all values")
        values = {keyword.arg: _literal(keyword.value) for keyword in call.keywords}
        name = ast.unparse(call.func).removesuffix(".call")
        yield call_of(name, json.dumps(values, ensure_ascii=False))


def _literal(node: ast.expr) -> Any:
    words = {"true": True, "false": False, "null": None}
    return words[node.id] if isinstance(node, ast.Name) else ast.literal_eval(node)


def _types(tool: Tool) -> dict[str, str]:
    """The type of each parameter; "" where the schema leaves it open."""
    properties = json.loads(tool.parameters).get("properties", {})
    if not isinstance(properties, dict):
        return {}
    return {key: str(value.get("type", "")) if isinstance(value, dict) else "" for key, value in properties.items()}


def _value(text: str, kind: str) -> Any:
    """A value that is written without quotes: text where the schema says so or it is no JSON."""
    if kind == "string":
        return text
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        words = {"True": True, "False": False, "None": None}
        return words.get(text.strip(), text) if kind else text


def _without_breaks(text: str) -> str:
    """A value without the line break on each side that some templates put around it."""
    return text.removeprefix("\n").removesuffix("\n")


def _one_by_one(pattern: re.Pattern[str], text: str) -> list[re.Match[str]]:
    """What a pattern finds one after the other from the start to the end of a text; nothing where it holds more."""
    found: list[re.Match[str]] = []
    at = 0
    while at < len(text):
        if (next_one := pattern.match(text, at)) is None:
            return []
        found.append(next_one)
        at = _after(_BETWEEN, text, next_one.end())
    return found


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
