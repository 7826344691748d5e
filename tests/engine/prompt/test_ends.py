"""An answer ends where the chat template ends it, whatever the configs of a model forget."""

from __future__ import annotations

import pytest
from tokenizers import AddedToken

from engine.prompt.ends import template_ends
from engine.prompt.marks import AnswerFormat
from tests.engine.chat_templates import CHATML, COMMAND, FAMILIES, GEMMA, GLM, HARMONY
from tests.engine.tiny_models import make_tokenizer

HARMONY_TOKENS = ("<|start|>", "<|channel|>", "<|message|>", "<|end|>", "<|return|>", "<|call|>", "<|endoftext|>")
COMMAND_TOKENS = ("<|START|>", "<|END|>", "<|START_RESPONSE|>", "<|END_RESPONSE|>", "<|START_THINKING|>")
PHI = "{% for m in messages %}{{ '<|' + m['role'] + '|>\n' + m['content'] + '<|end|>\n' }}{% endfor %}{{ eos_token }}"
TOOLS = (
    "{% for m in messages %}{{ m['role'] + ': ' + m['content'] }}"
    "{% for call in m['tool_calls'] %}{{ '<function=' + call['function']['name'] + '>' }}"
    "{{ call['function']['arguments'] | tojson + '</function>' }}{% endfor %}"
    "{{ '<|eom|>' if m['tool_calls'] else '<|eot|>' }}{% endfor %}"
)
SOLAR = (
    "{% for m in messages %}{{ '<|begin|>' + m['role'] }}"
    "{% if m['reasoning'] %}{{ '<|reason|>' + m['reasoning'] + '<|end|><|begin|>' }}{% endif %}"
    "{{ m['content'] + '<|end|>' }}{% endfor %}"
)

ENDS: dict[str, tuple[str, tuple[str, ...], set[str]]] = {
    "chatml": (CHATML, (), {"<|im_end|>"}),
    "gemma": (GEMMA, (), {"<end_of_turn>"}),
    "llama-3": (FAMILIES["llama-3"][0], (), {"<|eot_id|>"}),
    "mistral": (FAMILIES["mistral"][0], (), {"</s>"}),
    "phi-3": (PHI, ("<|end|>", "<|user|>", "<|assistant|>"), {"<|end|>"}),
    "gpt-oss": (HARMONY, HARMONY_TOKENS, {"<|return|>", "<|call|>"}),
    "command": (COMMAND, COMMAND_TOKENS, {"<|END|>"}),
    "glm": (GLM, ("<|user|>", "<|assistant|>", "<think>", "</think>"), {"<|user|>"}),
    "after a tool call": (TOOLS, ("<|eom|>", "<|eot|>"), {"<|eom|>", "<|eot|>"}),
    "glm, calls": (
        GLM.replace(
            ".strip() }}",
            ".strip() + (message['tool_calls'] | tojson if message['tool_calls'] else '') }}{# </tool_call> #}",
        ),
        ("<|user|>", "<|tool|>"),
        {"<|user|>", "<|tool|>"},
    ),
    "calls that the template leaves out": ("{{ '<s>' }}" + CHATML + "{# </tool_call> #}", (), {"<|im_end|>"}),
    "a token that ends thoughts, too": (SOLAR, ("<|begin|>", "<|end|>", "<|reason|>"), set()),
    "text only": ("{% for m in messages %}{{ m['role'] + ': ' + m['content'] + '\n\n' }}{% endfor %}", (), set()),
    "refuses": ("{{ raise_exception('no') }}", (), set()),
}


@pytest.mark.parametrize("is_special", [True, False])
@pytest.mark.parametrize("name", ENDS)
def test_what_the_template_writes_behind_an_answer_ends_it(name: str, is_special: bool) -> None:
    """Nobody names an end token here, and some tokenizers do not even call it special."""
    template, names, ends = ENDS[name]
    tokenizer = make_tokenizer(template, is_special=is_special)
    tokenizer.add_tokens([AddedToken(each, special=is_special) for each in names], special_tokens=is_special)
    found = template_ends(tokenizer, AnswerFormat.of(tokenizer))
    if not is_special:
        ends = ends - {"<|call|>", "<|eom|>", "<|tool|>"}  # behind a tool call only special ones count
    assert set(tokenizer.convert_ids_to_tokens(sorted(found))) == ends
