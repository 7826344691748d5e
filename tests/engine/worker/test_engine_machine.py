"""Random engines, polled by two threads and closed in the middle of things."""

from __future__ import annotations

from hypothesis import settings

from tests.engine.engine_machine import EngineMachine

TestEngineMachine = EngineMachine.TestCase
TestEngineMachine.settings = settings(max_examples=8, stateful_step_count=25, deadline=None)
