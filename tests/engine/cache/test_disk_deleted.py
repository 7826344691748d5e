"""Deleted is deleted: no file on disk decodes to text of a conversation that is gone."""

from __future__ import annotations

import hypothesis

from tests.engine.deletion_machine import DeletionMachine

TestDeletionMachine = DeletionMachine.TestCase
TestDeletionMachine.settings = hypothesis.settings(
    max_examples=max(20, hypothesis.settings.default.max_examples // 5), stateful_step_count=20
)
