"""A chat template is a foreign program: it is rendered as transformers would, within bounds of time and memory."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import psutil
import pytest
from transformers.utils.chat_template_utils import _compile_jinja_template

from engine.models.from_gguf import open_tokenizer
from engine.prompt import rendering
from engine.prompt.rendering import RENDERER, Renderer, TemplateEndlessError, TemplateRefusedError
from engine.prompt.template import PromptBuilder
from engine.types import Message, ModelError
from tests.engine.chat_templates import CHATML, FAMILIES
from tests.engine.tiny_models import make_tokenizer

NOW = datetime(2025, 3, 9, 12)
TOOL = {"type": "function", "function": {"name": "find", "description": "Finds ü", "parameters": {"type": "object"}}}
SEEN: dict[str, Any] = {
    "messages": [
        {"role": "user", "content": "Where? \N{SNOWMAN} <&>"},
        {"role": "assistant", "content": "Here.\n\n"},
        {"role": "user", "content": " So? "},
    ],
    "tools": [TOOL],
    "documents": None,
    "add_generation_prompt": True,
    "bos_token": "<s>",
    "eos_token": "</s>",
    "date_string": "09 Mar 2025",
}
ODD = {
    "generation": "{% for m in messages %}{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}",
    "loop controls": "{% for m in messages %}{% if loop.index == 2 %}{% break %}{% endif %}{{ m.content }}{% endfor %}",
    "namespace": "{% set ns = namespace(a=1) %}{% for m in messages %}{% set ns.a = ns.a + 1 %}{% endfor %}{{ ns.a }}",
    "tojson": "{{ tools | tojson }}{{ tools | tojson(indent=4) }}{{ dict(a=1) | tojson }}",
    "macro": "{% macro twice(x) %}{{ x }}{{ x }}{% endmacro %}{{ twice(messages[0]['content']) }}",
    "blanks": "  {% if true %}\n  a\n  {% endif %}\n  b",
}
TEMPLATES = {name: template for name, (template, _) in FAMILIES.items()} | ODD


@pytest.fixture
def renderer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Renderer]:
    """One whose process is ended soon."""
    monkeypatch.setattr(rendering, "MOST_SECONDS", 0.5)
    renderer = Renderer()
    yield renderer
    renderer.close()


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_text_is_what_transformers_makes(name: str) -> None:
    template = TEMPLATES[name]
    expected = _compile_jinja_template(template).render({**SEEN, "strftime_now": NOW.strftime})
    assert RENDERER.render(template, SEEN, NOW) == expected


ENDLESS = {
    "nested loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "repeated": "{{ 'a' * 10**10 }}",
    "centred": "{{ ''.center(3 * 10**9) }}",
    "padded": "{{ '%3000000000d' % 1 }}",
    "doubled": "{% set n = namespace(x='ab') %}{% for i in range(99) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
    "list": "{% set n = namespace(x=[1]) %}{% for i in range(99) %}{% set n.x = n.x + n.x %}{% endfor %}",
    "power": "{% set x = 7 ** (7 ** 11) %}",
    "wordy": "{% for a in range(9999) %}{% for b in range(9999) %}aaaaaaaaaaaaaaaa{% endfor %}{% endfor %}",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_template_without_end_is_ended(name: str, renderer: Renderer) -> None:
    with pytest.raises(TemplateEndlessError):
        renderer.render(ENDLESS[name], SEEN, NOW)
    assert renderer.render("{{ messages[1].content }}", SEEN, NOW) == "Here.\n\n"


def test_it_is_a_sentence_and_the_next_prompt_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "MOST_SECONDS", 0.5)
    only_once = "{% if messages[0].content == 'Boo' %}" + ENDLESS["nested loops"] + "{% endif %}" + CHATML
    builder = PromptBuilder(make_tokenizer(only_once))
    with pytest.raises(ModelError, match="more time or memory than any should"):
        builder.build([Message("user", "Boo")])
    assert builder.build([Message("user", "Hello")]).ids


@pytest.mark.parametrize(
    "template", ["{{ raise_exception('no') }}", "{% if %}", "{{ 1 / 0 }}", "{{ x.y.z }}", "{{ ''.__class__.mro() }}"]
)
def test_what_a_template_raises_is_told(template: str) -> None:
    with pytest.raises(TemplateRefusedError):
        RENDERER.render(template, SEEN, NOW)


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("a{{ '\\ud800' }}b", "a\ufffdb"),
        ("a{{ '\\udc00\\ud800' }}", "a\ufffd\ufffd"),
        ("a{{ '\\ud83d\\ude00' }}", "a\N{GRINNING FACE}"),
        ("a\ud800b", "a\ufffdb"),
        ("{{ raise_exception('\\ud800') }}", "\ufffd"),
    ],
)
def test_half_a_character_becomes_a_replacement_character(template: str, text: str) -> None:
    try:
        said = RENDERER.render(template, SEEN, NOW)
    except TemplateRefusedError as error:
        said = str(error)
    assert said == text
    if "raise" not in template:
        messages = [Message("user", "Hello")]
        assert PromptBuilder(make_tokenizer(template + "{{ messages[0].content }}")).build(messages).ids


def test_a_process_that_is_gone_is_started_again(renderer: Renderer) -> None:
    assert renderer.render("a", SEEN, NOW) == "a"
    assert renderer._process is not None
    renderer._process.kill()
    renderer._process.wait()
    assert renderer.render("a", SEEN, NOW) == "a"


def test_a_process_that_somebody_else_ended_is_asked_again(renderer: Renderer, monkeypatch: pytest.MonkeyPatch) -> None:
    exchange, ended = rendering._exchange, []

    def interrupted(process: subprocess.Popen[bytes], line: bytes) -> bytes:
        if not ended:
            ended.append(process.pid)
            process.kill()
            process.wait()
        return exchange(process, line)

    monkeypatch.setattr(rendering, "_exchange", interrupted)
    assert renderer.render("a", SEEN, NOW) == "a"
    assert len(ended) == 1


def test_closed_while_it_is_asked_it_starts_no_other_process(
    renderer: Renderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange = rendering._exchange

    def closed(process: subprocess.Popen[bytes], line: bytes) -> bytes:
        renderer.close()
        return exchange(process, line)

    monkeypatch.setattr(rendering, "_exchange", closed)
    with pytest.raises(TemplateEndlessError):
        renderer.render("a", SEEN, NOW)
    assert renderer._process is None


ABANDON = """
import os, sys, threading, time
from datetime import datetime
from engine.models.from_gguf import open_tokenizer
from engine.prompt import rendering
rendering.MOST_SECONDS = 1000.0
ask = threading.Thread(target=rendering.RENDERER.render, args=(sys.argv[1], {}, datetime.now()), daemon=True)
ask.start()
while rendering.RENDERER._process is None:
    time.sleep(0.01)
time.sleep(1.0)
print(rendering.RENDERER._process.pid, flush=True)
os._exit(0)
"""


@pytest.mark.parametrize(
    "name",
    [
        "nested loops",
        pytest.param("power", marks=pytest.mark.skipif(sys.platform == "win32", reason="it cannot be interrupted")),
    ],
)
def test_the_process_ends_after_the_program_that_asked(name: str) -> None:
    run = subprocess.run([sys.executable, "-c", ABANDON, ENDLESS[name]], capture_output=True, text=True, check=True)
    until = time.monotonic() + 60
    while is_running(int(run.stdout)):
        assert time.monotonic() < until, "it computes for ever"
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


MEASURE = f"""
import resource
from datetime import datetime
from engine.prompt.rendering import RENDERER, TemplateEndlessError
for template in {[ENDLESS[name] for name in ("repeated", "centred", "padded", "doubled", "list")]}:
    try:
        RENDERER.render(template, {{}}, datetime.now())
    except TemplateEndlessError:
        pass
RENDERER.close()
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere memory is looked at only now and then")
def test_no_template_takes_much_memory() -> None:
    run = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, timeout=120, check=True)
    assert int(run.stdout) < 200_000, "kB"


def test_the_default_model_needs_no_process(default_model: Path) -> None:
    renderer = Renderer()
    template = open_tokenizer(default_model).get_chat_template()
    assert renderer.render(template, SEEN, NOW).startswith("<|im_start|>system")
    assert renderer._process is None
