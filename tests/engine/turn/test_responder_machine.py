"""The state machine over the tiny real model: whatever happened before, a warm answer is the cold one."""

from __future__ import annotations

import hypothesis

from tests.depth import fewer
from tests.engine.responder_machine import ResponderMachine

TestResponderMachine = ResponderMachine.TestCase
TestResponderMachine.settings = hypothesis.settings(fewer(8), stateful_step_count=20)
