"""Chat templates that behave like those of well-known model families, written for these tests.

Each does what its family is known for: where the system prompt goes, what surrounds a turn, what is trimmed, what is
dropped from the past.
"""

CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
