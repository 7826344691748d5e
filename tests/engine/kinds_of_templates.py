"""Small chat templates, one for each kind of thing that real ones do to thoughts, tool calls and system prompts.

They are written for these tests and hold no text of any real template. `CAUSES` names what must be told of some of them
in the conversations of `tests.engine.real_templates`.
"""

_ASK = "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
_TOOLS = "{% if tools %}{{ '<|im_start|>tools\n' }}{{ tools | tojson }}{{ '<|im_end|>\n' }}{% endif %}"
_LAST_USER = (
    "{% set last = namespace(user=-1) %}{% for m in messages %}"
    "{% if m.role == 'user' %}{% set last.user = loop.index0 %}{% endif %}{% endfor %}"
)
_CALLS = (
    "{% for call in m.tool_calls or [] %}{{ '\n<tool_call>' }}"
    "{{ call.function | tojson }}{{ '</tool_call>' }}{% endfor %}"
)

THOUGHT_IN_LAST_TURN = (
    _TOOLS
    + _LAST_USER
    + "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' }}"
    + "{% if m.role == 'assistant' and m.reasoning_content and loop.index0 > last.user %}"
    + "{{ '<think>\n' + m.reasoning_content + '\n</think>\n\n' }}{% endif %}{{ m.content }}"
    + _CALLS
    + "{{ '<|im_end|>\n' }}{% endfor %}"
    + _ASK
)
"""Thoughts stand in the current turn only, such as between a call and the answer."""

THOUGHT_KEPT = THOUGHT_IN_LAST_TURN.replace(" and loop.index0 > last.user", "")
"""Every thought stays."""


def _written_one_by_one(calls: str) -> str:
    return THOUGHT_IN_LAST_TURN.replace(_CALLS, f"{{% for c in m.tool_calls or [] %}}{calls}{{% endfor %}}")


TAGGED_ARGUMENTS = _written_one_by_one(
    "{{ '\n<tool_call>\n<function=' + c.function.name + '>' }}{% for k, v in c.function.arguments | items %}"
    "{{ '\n<parameter=' + k + '>\n' }}{{ v if v is string else v | tojson }}{{ '\n</parameter>' }}{% endfor %}"
    "{{ '\n</function>\n</tool_call>' }}"
)
"""Arguments stand one by one between tags, texts as they are."""

KINDS_OF_ARGUMENTS = TAGGED_ARGUMENTS.replace(
    "'\n<parameter=' + k + '>\n'",
    """'\n<parameter name="' + k + '" string="' + ('true' if v is string else 'false') + '">\n'""",
)
"""The same, and each says whether it is a text."""

MARKED_TEXTS = _written_one_by_one(
    "{{ '<|tool_call>call:' + c.function.name + '{' }}{% for k, v in c.function.arguments | dictsort %}"
    """{{ ',' if not loop.first }}{{ k + ':' }}{{ '<|"|>' + v + '<|"|>' if v is string else v | tojson }}"""
    "{% endfor %}{{ '}<tool_call|>' }}"
)
"""Texts stand between special tokens, and all arguments in the order of their names."""

EMPTY_THOUGHT = THOUGHT_IN_LAST_TURN.replace(
    "{% endif %}{{ m.content }}",
    "{% elif m.role == 'assistant' %}{{ '<think>\n\n</think>\n\n' }}{% endif %}{{ m.content }}",
)
"""Earlier answers get a thought that is empty, though they had one, or none."""

CHANNELS = (
    "{{ '<|start|>system<|message|>Tools: ' }}{{ tools | tojson if tools else 'none' }}{{ '<|end|>' }}"
    "{% set called = namespace(name='') %}{% for m in messages %}"
    "{% if m.role == 'assistant' and m.tool_calls %}"
    "{% if m.content and m.thinking %}{{ raise_exception('either a content or a thought') }}{% endif %}"
    "{% if m.thinking %}{{ '<|start|>assistant<|channel|>analysis<|message|>' + m.thinking + '<|end|>' }}{% endif %}"
    "{% set called.name = m.tool_calls[0].function.name %}"
    "{{ '<|start|>assistant to=' + called.name + '<|channel|>commentary<|message|>' }}"
    "{{ m.tool_calls[0].function.arguments | tojson }}{{ '<|call|>' }}"
    "{% elif m.role == 'assistant' %}{{ '<|start|>assistant<|channel|>final<|message|>' + m.content + '<|end|>' }}"
    "{% elif m.role == 'tool' %}{{ '<|start|>' + called.name + ' to=assistant<|message|>' }}"
    "{{ m.content | tojson }}{{ '<|end|>' }}"
    "{% else %}{{ '<|start|>' + m.role + '<|message|>' + m.content + '<|end|>' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|start|>assistant' }}{% endif %}"
)
"""The header goes on in what the model writes: a channel, written again by the template before an answer."""

MARKED_ANSWERS = (
    "{% for m in messages %}{{ '<|START_OF_TURN_TOKEN|>' + m.role }}"
    "{% if m.role == 'assistant' %}{{ '<|START_RESPONSE|>' + m.content + '<|END_RESPONSE|>' }}"
    "{% else %}{{ '<|START_TEXT|>' + m.content + '<|END_TEXT|>' }}{% endif %}{{ '<|END_OF_TURN_TOKEN|>' }}{% endfor %}"
    "{{ '<|START_OF_TURN_TOKEN|>assistant' }}"
)
"""An answer stands between marks that the model writes; asks for an answer whether it is told to or not."""

OPENED_ANSWER = (
    _TOOLS
    + "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' }}"
    + "{% if m.role == 'assistant' %}{% if m.content %}{{ '>>>all\n' + m.content }}{% endif %}"
    + "{% for c in m.tool_calls or [] %}{{ '>>>' + c.function.name + '\n' + c.function.arguments }}{% endfor %}"
    + "{% else %}{{ m.content }}{% endif %}{{ '<|im_end|>\n' }}{% endfor %}"
    + "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n>>>' }}{% endif %}"
)
"""Asks with the first half of what stands before an answer; takes the arguments of a call as text."""

ASKING_FRAME = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n[no thoughts]\n' }}{% endif %}"
)
"""Writes something before the answer that it asks for, and leaves it out later."""

PARTS_ONLY = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' }}"
    "{% for part in m.content %}{% if part.type == 'text' %}{{ part.text }}{% endif %}{% endfor %}"
    "{{ '<|im_end|>\n' }}{% endfor %}" + _ASK
)
"""A content as a text vanishes: only a list of parts comes out."""

THOUGHT_PARTS = (
    "{{ bos_token }}{% for m in messages %}{% if m.role == 'assistant' %}"
    "{% if m.content is string %}{{ m.content }}{% else %}{% for block in m.content %}"
    "{% if block['type'] == 'thinking' %}{{ '[THINK]' + block['thinking'] + '[/THINK]' }}"
    "{% else %}{{ block['text'] }}{% endif %}{% endfor %}{% endif %}{{ '</s>' }}"
    "{% else %}{{ '[INST]' + m.content + '[/INST]' }}{% endif %}{% endfor %}"
)
"""Thoughts are parts of the content."""

SHORT_IDS = (
    "{% if tools %}{{ '[AVAILABLE_TOOLS]' }}{{ tools | tojson }}{{ '[/AVAILABLE_TOOLS]' }}{% endif %}"
    "{% for m in messages %}{% if m.role == 'tool' %}"
    "{% if m.tool_call_id | length != 9 %}{{ raise_exception('nine characters') }}{% endif %}"
    "{{ '[TOOL_RESULTS]' + m.content + '[/TOOL_RESULTS]' }}"
    "{% elif m.tool_calls is defined %}{{ '[TOOL_CALLS]' }}{{ m.tool_calls[0].function | tojson }}{{ '</s>' }}"
    "{% elif m.role == 'assistant' %}{{ m.content + '</s>' }}"
    "{% else %}{{ '[INST]' + m.content + '[/INST]' }}{% endif %}"
    "{% endfor %}"
)
"""Ids of calls must have nine characters."""

TOOLS_IN_LAST_QUESTION = (
    "{% set users = messages | selectattr('role', 'equalto', 'user') | list %}{{ bos_token }}{% for m in messages %}"
    "{% if m == users[-1] and tools %}"
    "{{ '[AVAILABLE_TOOLS]' }}{{ tools | tojson }}{{ '[/AVAILABLE_TOOLS]' }}{% endif %}"
    "{% if m.tool_calls is defined %}{{ '[TOOL_CALLS]' }}{{ m.tool_calls[0].function | tojson }}{{ '</s>' }}"
    "{% elif m.role == 'assistant' %}{{ m.content + '</s>' }}"
    "{% else %}{{ '[INST]' + m.content + '[/INST]' }}{% endif %}{% endfor %}"
)
"""Tools move on with the last question."""

CALLS_LEFT_OUT = (
    _TOOLS
    + "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}"
    + _ASK
)
"""Knows tools and what they returned, but no calls."""

OWN_TEXT = (
    "{% if messages[0].role != 'system' %}{{ '<|im_start|>system\n' + 'You are kind and brief. ' * 20 }}"
    "{{ strftime_now('%Y-%m-%d') + '<|im_end|>\n' }}{% endif %}"
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}" + _ASK
)
"""A long text of its own where there is no system prompt, with a date."""

NAMES_TOLD_APART = (
    "{% for tool in tools or [] %}{% if tool.function.name not in ['find_parcel', 'price_of_tent', 'look_it_up'] %}"
    "{{ raise_exception('an unknown tool') }}{% endif %}{{ tool.function }}{{ '\n' }}{% endfor %}"
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content }}"
    + _CALLS
    + "{{ '<|im_end|>\n' }}{% endfor %}"
    + _ASK
)
"""Looks at the names of tools, and prints them in Python's spelling."""

LOOKS_INTO_TEXTS = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' }}"
    "{% if m.content.startswith('Edited') %}{{ '(edited) ' }}{% endif %}"
    "{{ (m.content | trim).replace('tent', 'TENT') + '<|im_end|>\n' }}{% endfor %}" + _ASK
)
"""Asks what a text begins with, which a frame hides, and changes words in it."""

THINKING_IN_SYSTEM = (
    "{{ '<|im_start|>system\nThink' }}"
    "{% if enable_thinking is defined and not enable_thinking %}{{ ' not' }}{% endif %}{{ '.<|im_end|>\n' }}"
    + THOUGHT_KEPT
)
"""Whether to think is said at the start."""

THINKING_IN_ASKING = THOUGHT_KEPT.replace(
    "{{ '<|im_start|>assistant\n' }}",
    "{{ '<|im_start|>assistant\n' }}{% if not enable_thinking | default(true) %}"
    "{{ '<think>\n\n</think>\n\n' }}{% endif %}",
)
"""Whether to think is said where it asks for an answer, by an empty thought, which it leaves out later: no thought
of earlier answers must be read again because of that."""

KINDS = {
    "thought in last turn": THOUGHT_IN_LAST_TURN,
    "thought kept": THOUGHT_KEPT,
    "empty thought": EMPTY_THOUGHT,
    "channels": CHANNELS,
    "marked answers": MARKED_ANSWERS,
    "opened answer": OPENED_ANSWER,
    "asking frame": ASKING_FRAME,
    "parts only": PARTS_ONLY,
    "thought parts": THOUGHT_PARTS,
    "short ids": SHORT_IDS,
    "tools in last question": TOOLS_IN_LAST_QUESTION,
    "calls left out": CALLS_LEFT_OUT,
    "own text": OWN_TEXT,
    "names told apart": NAMES_TOLD_APART,
    "looks into texts": LOOKS_INTO_TEXTS,
    "thinking in system": THINKING_IN_SYSTEM,
    "thinking in asking": THINKING_IN_ASKING,
}

CAUSES = {
    "thought in last turn": {"reasoning removed", "edited", "tools"},
    "empty thought": {"reasoning removed"},
    "channels": {"reasoning removed"},
    "asking frame": {"answer frame"},
    "tools in last question": {"tools"},
    "own text": {"date"},
    "thinking in system": {"settings"},
}
