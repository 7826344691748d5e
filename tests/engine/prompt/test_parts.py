"""What a model writes is read into thought, text and tool calls: every format, in every way of cutting it up."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass
from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import AddedToken

from engine.prompt.marks import AnswerFormat
from engine.prompt.parts import AnswerReader, Part
from engine.prompt.token_text import CONTROL, CONTROL_END, as_control
from engine.prompt.tool_call_text import read_calls
from engine.types import Tool
from tests.engine.tiny_models import make_tokenizer

WEATHER = Tool(
    "get_weather",
    parameters='{"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}',
)
TIME = Tool("now")
ROME = ("get_weather", {"city": "Rome", "days": 3}, "")
OSLO = ("get_weather", {"city": "Oslo"}, "")
NOW = ("now", {}, "")


@dataclass(frozen=True)
class Form:
    """A format: what of it a template knows, which of its marks are special tokens, how the prompt ends, and which
    marks are tokens of the vocabulary that are not special."""

    knows: str
    special: tuple[str, ...] = ()
    prompt_end: str = ""
    added: tuple[str, ...] = ()


THINK = Form("content.split('</think>')")
OPENED = Form(THINK.knows, prompt_end="<|im_end|>\n<|im_start|>assistant\n<think>\n")
CLOSED = Form(THINK.knows, prompt_end="<|im_start|>assistant\n<think>\n\n</think>\n\n")
HERMES = Form("'<think>' + thought + '</think>' + '<tool_call>\n' + call + '\n</tool_call>'")
COMMAND_MARKS = ("THINKING", "RESPONSE", "ACTION")
COMMAND = Form(
    "".join(f"<|START_{name}|><|END_{name}|>" for name in COMMAND_MARKS),
    tuple(f"<|{side}_{name}|>" for name in COMMAND_MARKS for side in ("START", "END")),
)
HARMONY = Form(
    "<|start|><|channel|><|message|><|end|>",
    ("<|start|>", "<|channel|>", "<|message|>", "<|end|>", "<|call|>", "<|return|>", "<|constrain|>"),
    "<|end|><|start|>assistant",
)
GEMMA = Form("", ("<|channel>", "<channel|>", "<|tool_call>", "<tool_call|>", '<|"|>'), "<|turn>model\n")
MISTRAL = Form("'[TOOL_CALLS]' '[ARGS]'", ("[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "[THINK]", "[/THINK]"), "[/INST]")
GIGACHAT = Form(
    "'role': 'function call' <|message_sep|>", ("<|message_sep|>", "<|role_sep|>"), "assistant<|role_sep|>\n"
)
KIMI = Form("<|tool_calls_section_begin|> <|tool_calls_section_end|>")
DEEPSEEK = Form("<｜tool▁calls▁begin｜> <｜tool▁calls▁end｜> </think>")
LLAMA = Form("""'{"name": "' + call.name + '", ' '"parameters": '""", ("<|python_tag|>",))
GLM_4 = Form("Json 格式表示调用的参数")
HUNYUAN = Form("<tool_calls><tool_call></tool_call></tool_calls>")
FUNCTIONARY = Form("'>>>all\n'", prompt_end="assistant<|end_header_id|>\n\n>>>")
APRIEL = Form(
    "Here are my reasoning steps: [BEGIN FINAL RESPONSE]", prompt_end="<|end|>\nHere are my reasoning steps:\n"
)
APERTUS = Form("", ("<|inner_prefix|>", "<|inner_suffix|>", "<|tools_prefix|>", "<|tools_suffix|>"))
SOLAR = Form(
    "<|begin|><|think|><|content|><|tool_calls|>",
    ("<|begin|>", "<|think|>", "<|content|>", "<|end|>", "<|tool_calls|>", "<|tool_call:begin|>", "<|tool_call:end|>"),
)
PARAMETERS = "<parameter=city>\nRome\n</parameter>\n<parameter=days>\n3\n</parameter>"
JSON = '{"city": "Rome", "days": 3}'

CASES = {
    # name: format, what is written, thought, text, calls
    "plain": (Form("{{ message['content'] }}"), " <think>a</think>\n<tool_call>\n", "", None, ()),
    "thought": (THINK, "<think>\nWhy?\n\nSo.\n</think>\n\nIt left.\n", "Why?\n\nSo.", "It left.\n", ()),
    "thought that only the tokenizer knows": (
        Form("", added=("<think>", "</think>")),
        "<think>a</think>b",
        "a",
        "b",
        (),
    ),
    "blanks before the thought": (THINK, "\n <think>Why?</think>It left.", "Why?", "It left.", ()),
    "no thought": (THINK, "\nIt left.", "", "\nIt left.", ()),
    "empty thought": (THINK, "<think>\n\n</think>\n\nIt left.", "", "It left.", ()),
    "thought that the prompt opens": (OPENED, "Why?\n</think>\n\nIt left.", "Why?", "It left.", ()),
    "thought that the prompt closes": (CLOSED, "<think> is a tag.", "", "<think> is a tag.", ()),
    "unfinished thought": (THINK, "<think>\nWhy? </thi", "Why? </thi", "", ()),
    "unfinished thought of the prompt": (OPENED, "Why?\n\n", "Why?", "", ()),
    "thought about thoughts": (THINK, "<think>a <think></think>`<think>` opens.", "a <think>", "`<think>` opens.", ()),
    "second thought is text": (THINK, "<think>a</think><think>b</think>", "a", "<think>b</think>", ()),
    "thought in the middle is text": (THINK, "The <think> tag, </think>.", "", "The <think> tag, </think>.", ()),
    "seed": (Form("</seed:think>", ("<seed:think>", "</seed:think>")), "<seed:think>a</seed:think>b", "a", "b", ()),
    "mistral": (MISTRAL, "[THINK]a[/THINK]b", "a", "b", ()),
    "granite": (
        Form("<think></think> <response></response>"),
        "<think>a</think>\n<response>\nb <response> c</response>\n",
        "a",
        "b <response> c",
        (),
    ),
    "apriel": (APRIEL, "a\n[BEGIN FINAL RESPONSE]\nb\n[END FINAL RESPONSE]\n", "a", "b", ()),
    "apertus": (
        APERTUS,
        '<|inner_prefix|>a<|inner_suffix|>b<|tools_prefix|>[{"get_weather": '
        f'{JSON}}}, {{"now": {{}}}}]<|tools_suffix|>',
        "a",
        "b",
        (ROME, NOW),
    ),
    "command": (
        COMMAND,
        "<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>b<|END_RESPONSE|>",
        "a",
        "b",
        (),
    ),
    "command, call": (
        COMMAND,
        '<|START_THINKING|>a<|END_THINKING|><|START_ACTION|>[\n    {"tool_call_id": "0", "tool_name": "get_weather", '
        f'"parameters": {JSON}}},\n    {{"tool_call_id": "1", "tool_name": "now", "parameters": {{}}}}\n]'
        "<|END_ACTION|>",
        "a",
        "",
        (("get_weather", {"city": "Rome", "days": 3}, "0"), ("now", {}, "1")),
    ),
    "harmony": (
        HARMONY,
        "<|channel|>analysis<|message|>User asks.<|end|><|start|>assistant<|channel|>final<|message|>It left.",
        "User asks.",
        "It left.",
        (),
    ),
    "harmony, call": (
        HARMONY,
        "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary<|message|>Let me see.<|end|>"
        f"<|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{JSON}",
        "a",
        "Let me see.",
        (ROME,),
    ),
    "harmony, call as in the history": (
        HARMONY,
        f" to=functions.get_weather<|channel|>commentary json<|message|>{JSON}",
        "",
        "",
        (ROME,),
    ),
    "harmony, two thoughts": (
        HARMONY,
        "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>analysis<|message|>b<|end|>"
        "<|start|>assistant<|channel|>final<|message|>c",
        "a\n\nb",
        "c",
        (),
    ),
    "harmony, cut in a header": (HARMONY, "<|channel|>analysis<|message|>a<|end|><|start|>assist", "a", "", ()),
    "harmony without a channel": (HARMONY, "It left. " * 30, "", "It left. " * 30, ()),
    "harmony without a channel, short": (HARMONY, "It left.", "", "It left.", ()),
    "solar": (
        SOLAR,
        "<|think|>a<|end|><|begin|>assistant<|content|>b<|end|><|begin|>assistant<|tool_calls|><|tool_call:begin|>7"
        f"<|tool_call:name|>get_weather<|tool_call:args|>{JSON}<|tool_call:end|>",
        "a",
        "b",
        (("get_weather", {"city": "Rome", "days": 3}, "7"),),
    ),
    "gemma": (GEMMA, "<|channel>thought\na\n<channel|>b", "a", "b", ()),
    "gemma, call": (
        GEMMA,
        'b<|tool_call>call:get_weather{city:<|"|>Rome<|"|>,days:3}<tool_call|><|tool_call>call:now{}<tool_call|>',
        "",
        "b",
        (ROME, NOW),
    ),
    "hermes": (
        HERMES,
        '<think>a</think>\n\nb\n<tool_call>\n{"name": "get_weather", "arguments": ' + JSON + "}\n</tool_call>\n"
        '<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>',
        "a",
        "b",
        (ROME, NOW),
    ),
    "hermes, not closed": (HERMES, '<tool_call>\n{"name": "now", "arguments": {}}', "", "", (NOW,)),
    "hermes, arguments as a string": (
        HERMES,
        '<tool_call>{"name": "get_weather", "arguments": "{\\"city\\": \\"Oslo\\"}"}</tool_call>',
        "",
        "",
        (OSLO,),
    ),
    "hermes, cut": (HERMES, 'b\n<tool_call>\n{"name": "now", "argum', "", None, ()),
    "hermes, broken": (HERMES, '<tool_call>\n{"name": 7}\n</tool_call> c', "", None, ()),
    "hermes, quoted": (HERMES, "Write `<tool_call>{}</tool_call>` for it.", "", None, ()),
    "hermes, in code": (
        HERMES,
        '```xml\n<tool_call>\n{"name": "now", "arguments": {}}\n</tool_call>\n```\n',
        "",
        None,
        (),
    ),
    "hermes, told of": (HERMES, "The tag <tool_call> begins a call.", "", None, ()),
    "hermes, told of, then called": (
        HERMES,
        'I use <tool_call> now: <tool_call>{"name": "now"}</tool_call>',
        "",
        "I use <tool_call> now:",
        (NOW,),
    ),
    "qwen3-coder": (
        Form("</tool_call> <function="),
        f"b\n\n<tool_call>\n<function=get_weather>\n{PARAMETERS}\n</function>\n</tool_call>",
        "",
        "b",
        (ROME,),
    ),
    "qwen3-coder without the outer mark": (
        Form("</tool_call> <function="),
        f"<function=get_weather>\n{PARAMETERS}\n</function>",
        "",
        "",
        (ROME,),
    ),
    "glm": (
        Form("</think> </tool_call>"),
        "\n<think>a</think>\nb\n<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Rome</arg_value>\n"
        "<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>\n<tool_call>now\n</tool_call>",
        "a",
        "b",
        (ROME, NOW),
    ),
    "minimax": (
        Form("</think> </minimax:tool_call>", prompt_end="ai\n<think>\n"),
        'a\n</think>\n\n<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Rome</parameter>\n'
        '<parameter name="days">3</parameter>\n</invoke>\n</minimax:tool_call>',
        "a",
        "",
        (ROME,),
    ),
    "minimax, list": (
        Form("</tool_calls>"),
        f'<tool_calls>\n{{"name": "get_weather", "arguments": {JSON}}}\n{{"name": "now", "arguments": {{}}}}\n'
        "</tool_calls>",
        "",
        "",
        (ROME, NOW),
    ),
    "nemotron": (Form("</TOOLCALL>"), '<TOOLCALL>[{"name": "now", "arguments": {}}]</TOOLCALL>', "", "", (NOW,)),
    "minicpm": (
        Form('<function name="'),
        '<function name="get_weather"><param name="city">Rome</param><param name="days">3</param></function>',
        "",
        "",
        (ROME,),
    ),
    "deepseek-v3.2": (
        Form("</think> ｜DSML｜"),
        'b\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" '
        'string="true">Rome</｜DSML｜parameter>\n<｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>\n'
        "</｜DSML｜invoke>\n</｜DSML｜function_calls>",
        "",
        "b",
        (ROME,),
    ),
    "deepseek-v3.1": (
        DEEPSEEK,
        f"b<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{JSON}<｜tool▁call▁end｜>"
        "<｜tool▁call▁begin｜>now<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "",
        "b",
        (ROME, NOW),
    ),
    "deepseek-r1": (
        DEEPSEEK,
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n"
        f"{JSON}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "",
        "",
        (ROME,),
    ),
    "kimi": (
        KIMI,
        "b<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
        f"{JSON}<|tool_call_end|><|tool_calls_section_end|>",
        "",
        "b",
        (("get_weather", {"city": "Rome", "days": 3}, "functions.get_weather:0"),),
    ),
    "mistral, list": (
        MISTRAL,
        f'[TOOL_CALLS][{{"name": "get_weather", "arguments": {JSON}, "id": "abc123def"}}]',
        "",
        "",
        (("get_weather", {"city": "Rome", "days": 3}, "abc123def"),),
    ),
    "mistral, names": (
        MISTRAL,
        f"b[TOOL_CALLS]get_weather[CALL_ID]abc123def[ARGS]{JSON}[TOOL_CALLS]now[ARGS]{{}}",
        "",
        "b",
        (("get_weather", {"city": "Rome", "days": 3}, "abc123def"), NOW),
    ),
    "mistral, name and braces": (MISTRAL, "[TOOL_CALLS]get_weather" + JSON, "", "", (ROME,)),
    "llama-3.1": (LLAMA, f'{{"name": "get_weather", "parameters": {JSON}}}', "", "", (ROME,)),
    "llama-3.1, two": (
        LLAMA,
        f'{{"name": "get_weather", "parameters": {JSON}}}; {{"name": "now", "parameters": {{}}}}',
        "",
        "",
        (ROME, NOW),
    ),
    "llama-3.1, other JSON": (LLAMA, '{"city": "Rome"}', "", None, ()),
    "llama-3.1, unknown tool": (LLAMA, '{"name": "Ann", "args": {}}', "", None, ()),
    "llama-3.1, built in": (
        LLAMA,
        '<|python_tag|>search.call(query="Rome")',
        "",
        "",
        (("search", {"query": "Rome"}, ""),),
    ),
    "functionary-3.1": (Form("<function="), f"b<function=get_weather>{JSON}</function>", "", "b", (ROME,)),
    "functionary-3.2": (FUNCTIONARY, f"all\nb>>>get_weather\n{JSON}>>>now\n{{}}", "", "b", (ROME, NOW)),
    "functionary-3.2, neither": (FUNCTIONARY, ">It left.", "", ">It left.", ()),
    "functionary-3.2, call": (FUNCTIONARY, f"get_weather\n{JSON}", "", "", (ROME,)),
    "glm-4": (GLM_4, f"get_weather\n{JSON}", "", "", (ROME,)),
    "glm-4, no call": (GLM_4, "now\nIt rains in Rome.", "", None, ()),
    "glm-4, a word like it": (GLM_4, "I know\n{}", "", None, ()),
    "glm-4, more behind it": (GLM_4, f"get_weather\n{JSON} is what I would ask.", "", None, ()),
    "glm-4, in a text": (GLM_4, f"I would ask\nget_weather\n{JSON}", "", None, ()),
    "hunyuan": (
        HUNYUAN,
        f"b<tool_calls>\n<tool_call>get_weather\n```json\n{JSON}\n```\n</tool_call>\n"
        "<tool_call>now\n```json\n{}\n```\n</tool_call>\n</tool_calls>",
        "",
        "b",
        (ROME, NOW),
    ),
    "hunyuan, one": (HUNYUAN, f"<tool_call>get_weather\n```json\n{JSON}\n```\n</tool_call>", "", "", (ROME,)),
    "hunyuan, code": (HUNYUAN, f"<tool_call>get_weather\n```json\n{JSON[:-1]}\n```\n</tool_call>", "", None, ()),
    "lfm2": (
        Form("", ("<|tool_call_start|>", "<|tool_call_end|>")),
        '<|tool_call_start|>[get_weather(city="Rome", days=3), now()]<|tool_call_end|>b',
        "",
        "b",
        (ROME, NOW),
    ),
    "llama-4": (
        Form("", ("<|python_start|>", "<|python_end|>")),
        '<|python_start|>[get_weather(city="Rome", days=3), now()]<|python_end|>',
        "",
        "",
        (ROME, NOW),
    ),
    "internlm": (
        Form("", ("<|action_start|>", "<|plugin|>", "<|action_end|>")),
        f'b<|action_start|><|plugin|>\n{{"name": "get_weather", "parameters": {JSON}}}<|action_end|>',
        "",
        "b",
        (ROME,),
    ),
    "granite-3": (
        Form("<|tool_call|>", ("<|tool_call|>",)),
        '<|tool_call|>[{"name": "now", "arguments": {}}]',
        "",
        "",
        (NOW,),
    ),
    "gigachat": (
        Form("", ("<|function_call|>",)),
        f'b<|function_call|>{{"name": "get_weather", "arguments": {JSON}}}',
        "",
        "b",
        (ROME,),
    ),
    "gigachat-3": (
        GIGACHAT,
        f'b<|message_sep|>\n\nfunction call<|role_sep|>\n{{"name": "get_weather", "arguments": {JSON}}}',
        "",
        "b",
        (ROME,),
    ),
    "gigachat-3, no call": (GIGACHAT, "b<|message_sep|>\n\nfunction", "", "b", ()),
    "command-r": (
        Form("Action:\n```json\n[\n"),
        f'b\nAction:\n```json\n[\n    {{"tool_name": "get_weather", "parameters": {JSON}}}\n]```',
        "",
        "b",
        (ROME,),
    ),
    "firefunction": (
        Form("' functools['"),
        f'b functools[{{"name": "get_weather", "arguments": {JSON}}}]',
        "",
        "b",
        (ROME,),
    ),
}


@cache
def format_of(form: Form) -> AnswerFormat:
    tokenizer = make_tokenizer(form.knows)
    tokenizer.add_special_tokens(
        {"additional_special_tokens": [AddedToken(name, special=True) for name in form.special]}
    )
    tokenizer.add_tokens([AddedToken(name, special=False) for name in form.added])
    return AnswerFormat.of(tokenizer)


def pieces(text: str, special: tuple[str, ...]) -> list[str]:
    """The text as characters, with special tokens as they come from the model."""
    if not special:
        return list(text)
    parts = re.split("(" + "|".join(map(re.escape, special)) + ")", text)
    return [piece for part in parts for piece in ([as_control(part)] if part in special else part)]


def read(
    form: Form, written: list[str], tools: tuple[Tool, ...] = (WEATHER, TIME)
) -> tuple[str, str, tuple[object, ...]]:
    prompt_end = "".join(pieces(form.prompt_end, form.special))
    reader = AnswerReader(format_of(form), prompt_end, tools)
    parts: list[Part] = []
    for piece in written:
        parts += reader.add(piece)
    parts += reader.finish()
    calls = tuple((call.name, json.loads(call.arguments), call.id) for call in reader.calls)
    return (
        "".join(part.text for part in parts if part.is_thought),
        "".join(part.text for part in parts if not part.is_thought),
        calls,
    )


@pytest.mark.parametrize("name", CASES)
def test_every_format_character_by_character_and_at_every_cut(name: str) -> None:
    form, written, thought, text, calls = CASES[name]
    expected = (thought, written if text is None else text, calls)
    single = pieces(written, form.special)
    assert read(form, single) == expected
    for cut in range(len(single)):
        assert read(form, ["".join(single[:cut]), "".join(single[cut:])]) == expected


@given(name=st.sampled_from(list(CASES)), data=st.data())
def test_every_format_in_any_cuts(name: str, data: st.DataObject) -> None:
    form, written, thought, text, calls = CASES[name]
    parts = data.draw(cut_up(pieces(written, form.special)))
    assert read(form, parts) == (thought, written if text is None else text, calls)


@st.composite
def cut_up(draw: st.DrawFn, single: list[str]) -> list[str]:
    """The same in larger pieces."""
    ends = [0, *sorted(draw(st.sets(st.integers(1, max(1, len(single) - 1))))), len(single)]
    return ["".join(single[start:end]) for start, end in itertools.pairwise(ends)]


def fragments(form: Form) -> list[str]:
    """What may stand in an answer in this format: its marks, parts of them, calls, code, blanks, words."""
    marks = [side for one in format_of(form).marks for side in (one.opens, one.closes) if side]
    cut = [mark[: len(mark) // 2] for mark in marks if CONTROL not in mark]
    return [*marks, *cut, *WORDS]


WORDS = (
    "a",
    " ",
    "\n",
    "`",
    "```",
    "{",
    '{"name": "now"}',
    '"',
    "[",
    "]",
    "analysis",
    "to=now",
    "now",
    "all",
    ">>>",
    "<",
)


@given(form=st.sampled_from(list({form: None for form, *_ in CASES.values()})), data=st.data())
def test_whatever_is_written_the_cuts_change_nothing(form: Form, data: st.DataObject) -> None:
    """Marks in any order, whole and in parts: the same comes of it however it is cut, and no mark of a special token
    is shown."""
    written = "".join(data.draw(st.lists(st.sampled_from(fragments(form)), max_size=12)))
    single = re.findall(f"{CONTROL}.*?{CONTROL_END}|.", written, re.DOTALL)
    thought, text, calls = read(form, data.draw(cut_up(single)))
    assert (thought, text, calls) == read(form, single)
    assert CONTROL not in thought + text


CALL_PIECES = (
    *(
        '{"name": "now"}',
        '{"name": "now", "arguments": {',
        "}",
        "{",
        "[",
        "]",
        '"',
        ",",
        ":",
        "(",
        ")",
        "=",
        "now",
        "1",
        "-",
    ),
    *("<function=now>", "</function>", "<parameter=a>", "</parameter>", '<invoke name="now">', "</invoke>", "\\ud800"),
    *(
        "<arg_key>",
        "</arg_key>",
        "<arg_value>",
        "</arg_value>",
        "call:",
        '<|"|>',
        "[TOOL_CALLS]",
        "[ARGS]",
        ">>>",
        "```",
    ),
    *("<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>", "\n", "\x00", "null", ".call("),
)


@given(st.lists(st.sampled_from(CALL_PIECES), max_size=14).map("".join), st.booleans())
@example("[" * 100_000, False)
@example("f(a=" + "-" * 100_000 + "1)", False)
@example("f(a=" + "1+" * 10_000 + "1)", False)
@example('{"name": "now", "arguments": {"a": ' + "9" * 10_000 + "}}", False)
@example("<function=now>" + "<parameter=a>" * 5_000 + "</function>", False)
@example("[TOOL_CALLS]" + "a" * 100_000, False)
@example('{"name": "\\ud800"}', True)
@example('{"arguments": {}}', False)
def test_whatever_stands_in_a_call_is_a_call_or_none(text: str, is_keyed: bool) -> None:
    for call in read_calls(text, (WEATHER, TIME), is_keyed=is_keyed):
        assert isinstance(json.loads(call.arguments, strict=False), dict)
        assert f"{call.name}{call.arguments}{call.id}".encode()
