"""The state machine over the tiny real model: whatever happened before, a warm answer is the cold one."""

from __future__ import annotations

import hypothesis

from tests.engine.responder_machine import ResponderMachine

TestResponderMachine = ResponderMachine.TestCase
TestResponderMachine.settings = hypothesis.settings(
    max_examples=max(30, hypothesis.settings.default.max_examples // 4), stateful_step_count=20
)
