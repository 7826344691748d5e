"""The scripts that come along, and a user's own files."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.chat.changing_parts import find
from app.demo.script import NAMES, read_files, read_script
from engine import HeadstartError


def test_the_support_bot_is_a_long_prompt_with_tools_and_enough_questions() -> None:
    script = read_script()
    assert script.name == "support"
    assert 8 <= len(script.questions) <= 12
    assert "# Tools" in script.system_prompt
    assert 10_000 < len(script.system_prompt) < 16_000


def test_one_token_is_the_support_bot_with_a_date_near_its_front() -> None:
    script = read_script("one-token")
    (date,) = find(script.system_prompt)
    assert (date.text, date.changes) == ("{{date}}", "every day")
    assert date.start < 400
    assert [step.before for step in script.steps] == ["", "", "next day", "cure", "", "next day"]
    assert script.draft not in script.questions


def test_the_tree_has_four_conversations_about_one_document_two_of_which_begin_alike() -> None:
    script = read_script("tree")
    assert len(script.titles) == 4
    assert [step.chat for step in script.steps] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert script.questions[0] == script.questions[6]
    assert len(set(script.questions)) == 7
    assert 4_800 < len(script.system_prompt) < 8_000
    assert all(step.note for step in script.steps)


@pytest.mark.parametrize("name", NAMES)
def test_what_comes_next_is_never_empty(name: str) -> None:
    script = read_script(name)
    assert all(script.question_after(turns) for turns in range(1, len(script.steps) + 1))
    assert script.question_after(1) == script.questions[1]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    system, questions = tmp_path / "My rules.txt", tmp_path / "questions.txt"
    system.write_text("\ufeffBe brief.\n", "utf-8")
    questions.write_text("One?\n\n  Two?  \n", "utf-8")
    return system, questions


def test_own_files_are_played_line_by_line(files: tuple[Path, Path]) -> None:
    script = read_files(*files)
    assert (script.titles, script.system_prompt, script.questions) == (("My rules",), "Be brief.", ("One?", "Two?"))


@pytest.mark.parametrize("which", [0, 1])
def test_a_missing_file_is_named_with_its_option(files: tuple[Path, Path], which: int) -> None:
    files[which].unlink()
    option = ("--system", "--questions")[which]
    with pytest.raises(HeadstartError, match=f"cannot be read: No such file or directory. Give {option} a text file."):
        read_files(*files)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("content", [b"", b" \n\t\n"])
def test_an_empty_file_is_named(files: tuple[Path, Path], which: int, content: bytes) -> None:
    files[which].write_bytes(content)
    with pytest.raises(HeadstartError, match=f"{files[which].name} is empty. Write"):
        read_files(*files)


def test_what_is_no_text_is_refused(files: tuple[Path, Path], tmp_path: Path) -> None:
    files[0].write_bytes(b"\x89PNG\xff\xfe")
    with pytest.raises(HeadstartError, match="no text in UTF-8"):
        read_files(*files)
    with pytest.raises(HeadstartError, match="cannot be read"):
        read_files(tmp_path, files[1])
    files[0].write_bytes(b"x" * 5_000_001)
    with pytest.raises(HeadstartError, match="larger than 5 MB"):
        read_files(*files)


def test_both_files_are_needed(files: tuple[Path, Path]) -> None:
    for pair in ((files[0], None), (None, files[1])):
        with pytest.raises(HeadstartError, match="belong together"):
            read_files(*pair)
