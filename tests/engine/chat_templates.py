"""Chat templates that behave like those of well-known model families, written for these tests.

Each does what its family is known for: where the system prompt goes, what surrounds a turn, what is trimmed, what is
dropped from the past. `FAMILIES` names them, with the token that ends an answer.
"""

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)

CHATML_DEFAULT_SYSTEM = (
    "{% if messages[0]['role'] != 'system' %}{{ '<|im_start|>system\nYou are helpful.<|im_end|>\n' }}{% endif %}"
    + CHATML
)
"""Puts a system prompt of its own where the chat has none."""

LLAMA3 = (
    "{{ '<|begin_of_text|>' }}"
    "{% if messages[0]['role'] == 'system' %}{% set system = messages[0]['content'] | trim %}"
    "{% set rest = messages[1:] %}{% else %}{% set system = '' %}{% set rest = messages %}{% endif %}"
    "{% if not date_string is defined %}{% set date_string = strftime_now('%d %b %Y') %}{% endif %}"
    "{{ '<|start_header_id|>system<|end_header_id|>\n\nCutting Knowledge Date: December 2023\nToday Date: ' }}"
    "{{ date_string + '\n\n' + system + '<|eot_id|>' }}"
    "{% for message in rest %}"
    "{{ '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n' + message['content'] | trim + '<|eot_id|>' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"
)
"""A date in the system prompt, contents trimmed."""

SMOLLM3 = (
    "{% set today = strftime_now('%d %B %Y') %}"
    "{{ '<|im_start|>system\n## Metadata\n\nToday Date: ' + today + '\n\n' }}"
    "{% if messages[0]['role'] == 'system' %}{{ messages[0]['content'] }}{% set rest = messages[1:] %}"
    "{% else %}{% set rest = messages %}{% endif %}{{ '<|im_end|>\n' }}"
    "{% for message in rest %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""Asks the clock for today's date, as SmolLM3, GPT-OSS and the later Mistrals do."""

MISTRAL = (
    "{% if messages[0]['role'] == 'system' %}{% set system = messages[0]['content'] + '\n\n' %}"
    "{% set rest = messages[1:] %}{% else %}{% set system = '' %}{% set rest = messages %}{% endif %}"
    "{{ bos_token }}"
    "{% for message in rest %}"
    "{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('roles must alternate') }}{% endif %}"
    "{% if message['role'] == 'user' %}"
    "{{ '[INST] ' + (system if loop.first else '') + message['content'] + ' [/INST]' }}"
    "{% else %}{{ ' ' + message['content'] | trim + '</s>' }}{% endif %}"
    "{% endfor %}"
)
"""The system prompt inside the first question; a blank that belongs to nobody before each answer; roles alternate."""

MISTRAL_LATE_SYSTEM = (
    "{% if messages[0]['role'] == 'system' %}{% set system = messages[0]['content'] + '\n\n' %}"
    "{% set rest = messages[1:] %}{% else %}{% set system = '' %}{% set rest = messages %}{% endif %}"
    "{{ bos_token }}"
    "{% for message in rest %}"
    "{% if message['role'] == 'user' %}"
    "{{ '[INST]' + (system if loop.last else '') + message['content'] + '[/INST]' }}"
    "{% else %}{{ message['content'] + '</s>' }}{% endif %}"
    "{% endfor %}"
)
"""The system prompt inside the last question: it moves on with every turn."""

GEMMA = (
    "{% if messages[0]['role'] == 'system' %}{% set system = messages[0]['content'] | trim + '\n\n' %}"
    "{% set rest = messages[1:] %}{% else %}{% set system = '' %}{% set rest = messages %}{% endif %}"
    "{{ '<bos>' }}"
    "{% for message in rest %}"
    "{% set role = 'model' if message['role'] == 'assistant' else message['role'] %}"
    "{{ '<start_of_turn>' + role + '\n' + (system if loop.first else '') }}"
    "{{ message['content'] | trim + '<end_of_turn>\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}"
)
"""The assistant is called model, the system prompt stands in the first question, contents are trimmed."""

GEMMA_NO_SYSTEM = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}" + GEMMA
)

NO_SYSTEM = (
    "{% for message in messages %}{% if message['role'] != 'system' %}"
    "{{ '<start_of_turn>' + message['role'] + '\n' + message['content'] + '<end_of_turn>\n' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>assistant\n' }}{% endif %}"
)
"""Leaves a system prompt out without a word."""

QWEN3 = (
    "{% if messages[0]['role'] == 'system' %}"
    "{{ '<|im_start|>system\n' + messages[0]['content'] + '<|im_end|>\n' }}{% endif %}"
    "{% set last = namespace(user=0) %}"
    "{% for message in messages %}{% if message['role'] == 'user' %}{% set last.user = loop.index0 %}{% endif %}"
    "{% endfor %}"
    "{% for message in messages %}"
    "{% if message['role'] == 'user' %}{{ '<|im_start|>user\n' + message['content'] + '<|im_end|>\n' }}"
    "{% elif message['role'] == 'assistant' %}"
    "{% set content = message['content'] %}"
    "{% if '</think>' in content and loop.index0 < last.user %}"
    "{% set content = content.split('</think>')[-1].lstrip('\n') %}{% endif %}"
    "{{ '<|im_start|>assistant\n' + content + '<|im_end|>\n' }}"
    "{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""Thinks; thoughts before the last question are dropped."""

DEEPSEEK_R1 = (
    "{{ '<s>' }}{% if messages[0]['role'] == 'system' %}{{ messages[0]['content'] }}{% endif %}"
    "{% for message in messages %}"
    "{% if message['role'] == 'user' %}{{ '[INST]' + message['content'] }}"
    "{% elif message['role'] == 'assistant' %}"
    "{% set content = message['content'] %}"
    "{% if '</think>' in content %}{% set content = content.split('</think>')[-1] %}{% endif %}"
    "{{ '[/INST]' + content + '</s>' }}"
    "{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '[/INST]<think>\n' }}{% endif %}"
)
"""Opens the thought itself when it asks for an answer; thoughts of the past are dropped, their opening too."""

HERMES_TOOLS = (
    "{% set has_system = messages[0]['role'] == 'system' %}"
    "{% if tools %}"
    "{{ '<|im_start|>system\n' + (messages[0]['content'] + '\n\n' if has_system else '') }}"
    "{{ '# Tools\n\nFunction signatures, one a line:\n<tools>' }}"
    "{% for tool in tools %}{{ '\n' }}{{ tool | tojson }}{% endfor %}"
    "{{ '\n</tools>\n\nAsk for one inside <tool_call></tool_call>.<|im_end|>\n' }}"
    "{% elif has_system %}{{ '<|im_start|>system\n' + messages[0]['content'] + '<|im_end|>\n' }}{% endif %}"
    "{% for message in (messages[1:] if has_system else messages) %}"
    "{% if message['role'] == 'tool' %}"
    "{% if loop.previtem is not defined or loop.previtem['role'] != 'tool' %}{{ '<|im_start|>user' }}{% endif %}"
    "{{ '\n<tool_response>\n' + message['content'] + '\n</tool_response>' }}"
    "{% if loop.last or loop.nextitem['role'] != 'tool' %}{{ '<|im_end|>\n' }}{% endif %}"
    "{% else %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""Tools as Qwen and Hermes have them: inside the system prompt, and what they returned inside a question."""

LLAMA31_TOOLS = (
    "{{ '<|begin_of_text|>' }}"
    "{% if messages[0]['role'] == 'system' %}{% set system = messages[0]['content'] | trim %}"
    "{% set rest = messages[1:] %}{% else %}{% set system = '' %}{% set rest = messages %}{% endif %}"
    "{{ '<|start_header_id|>system<|end_header_id|>\n\n' + ('Environment: ipython\n' if tools else '') }}"
    "{{ 'Today Date: ' + date_string + '\n\n' + system + '<|eot_id|>' }}"
    "{% for message in rest %}"
    "{% if message['role'] == 'tool' %}"
    "{{ '<|start_header_id|>ipython<|end_header_id|>\n\n' }}{{ message['content'] | tojson }}{{ '<|eot_id|>' }}"
    "{% else %}"
    "{{ '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n' }}"
    "{% if loop.first and tools %}{{ 'Answer with one of these functions:\n\n' }}"
    "{% for tool in tools %}{{ tool | tojson(indent=4) }}{{ '\n\n' }}{% endfor %}{% endif %}"
    "{{ message['content'] | trim + '<|eot_id|>' }}"
    "{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"
)
"""Tools as Llama-3.1 has them: in the first question, and what they returned as a JSON string."""

TOOL_FAMILIES = {
    "hermes, tools": (HERMES_TOOLS, "<|im_end|>"),
    "llama-3.1, tools": (LLAMA31_TOOLS, "<|eot_id|>"),
}

FAMILIES = {
    "chatml": (CHATML, "<|im_end|>"),
    "chatml, own system prompt": (CHATML_DEFAULT_SYSTEM, "<|im_end|>"),
    "llama-3": (LLAMA3, "<|eot_id|>"),
    "smollm3": (SMOLLM3, "<|im_end|>"),
    "mistral": (MISTRAL, "</s>"),
    "gemma": (GEMMA, "<end_of_turn>"),
    "qwen3": (QWEN3, "<|im_end|>"),
    "deepseek-r1": (DEEPSEEK_R1, "</s>"),
    **TOOL_FAMILIES,
}


HARMONY = (
    "{{ '<|start|>system<|message|>Valid channels: analysis, commentary, final.<|end|>' }}"
    "{% for tool in tools or [] %}{{ '<|start|>developer<|message|>' }}{{ tool | tojson }}{{ '<|end|>' }}{% endfor %}"
    "{% for message in messages %}"
    "{% if message['role'] != 'assistant' %}"
    "{{ '<|start|>' + message['role'] + '<|message|>' + message['content'] + '<|end|>' }}"
    "{% elif message['tool_calls'] %}{% set call = message['tool_calls'][0]['function'] %}"
    "{{ '<|start|>assistant to=functions.' + call['name'] + '<|channel|>commentary json<|message|>' }}"
    "{{ call['arguments'] | tojson + '<|call|>' }}"
    "{% else %}"
    "{% if message['thinking'] and loop.last %}"
    "{{ '<|start|>assistant<|channel|>analysis<|message|>' + message['thinking'] + '<|end|>' }}{% endif %}"
    "{{ '<|start|>assistant<|channel|>final<|message|>' + message['content'] }}"
    "{{ '<|return|>' if loop.last else '<|end|>' }}"
    "{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|start|>assistant' }}{% endif %}"
)
"""Every part of an answer has a header with its channel; the newest answer ends with a token of its own."""

COMMAND = (
    "{% for message in messages %}"
    "{% if message['role'] != 'assistant' %}{{ '<|START|>' + message['role'] + message['content'] + '<|END|>' }}"
    "{% else %}{{ '<|START|>' + '<|START_RESPONSE|>' + message['content'] + '<|END_RESPONSE|><|END|>' }}{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|START|><|START_THINKING|>' }}{% endif %}"
)
"""All parts of an answer stand between special tokens; the thought is opened by whoever asks."""

GLM = (
    "{% for message in messages %}"
    "{{ '<|' + message['role'] + '|>\n' + message['content'].split('</think>')[-1].strip() }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
"""Nothing ends a message but the beginning of the next one."""
