"""Models are found where Headstart and other programs keep them, and only Headstart's own are deleted."""

from __future__ import annotations

from pathlib import Path

import pytest
from huggingface_hub import constants

from engine.library import found
from engine.library.found import (
    HUB_CACHE,
    INSTALLED,
    JAN,
    LM_STUDIO,
    OWN,
    delete_model,
    find_models,
    is_same_model,
    size_of,
)
from engine.library.hub import PARTIAL
from engine.types import ModelError
from tests.engine.model_files import write_folder, write_gguf


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own, in which every program keeps its models where it does by itself."""
    monkeypatch.setenv("HEADSTART_DATA_DIR", str(tmp_path / "headstart"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setattr(found.sys, "platform", "linux")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path


def put(path: Path, count: int = 100) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * count)
    return path


def cached(home: Path, name: str) -> Path:
    """A model in the Hugging Face cache, whose files are links to blobs."""
    model = home / "hub" / f"models--org--{name}"
    revision = model / "snapshots" / "abc"
    revision.mkdir(parents=True)
    for file in write_folder(home / "made" / name).iterdir():
        blob = put(model / "blobs" / file.name)
        (revision / file.name).symlink_to(blob)
    return model


def test_each_program_s_models_are_found_where_they_lie(home: Path) -> None:
    own = put(home / "headstart" / "models" / "org" / "A-GGUF" / "A-Q4_K_M.gguf", 50)
    hub = cached(home, "B")
    studio = put(home / ".lmstudio" / "models" / "org" / "C-GGUF" / "C.gguf")
    put(studio.with_name("mmproj-C.gguf"))
    jan = put(home / "share" / "Jan" / "data" / "llamacpp" / "models" / "org" / "D" / "model.gguf")
    put(jan.with_name("model.yml"))
    assert [(each.name, each.path, each.origin, each.bytes, each.is_own) for each in find_models()] == [
        ("A-Q4_K_M", str(own), OWN, 50, True),
        ("C", str(studio), LM_STUDIO, 100, False),
        ("D", str(jan), JAN, 100, False),
        ("org/B", str(hub), HUB_CACHE, 300, False),
    ]
    assert [size_of(each.path) for each in find_models()] == [50, 100, 100, 300]
    assert size_of(str(home / "gone.gguf")) == 0


def test_lm_studio_s_home_is_the_one_that_its_pointer_names(home: Path) -> None:
    put(home / "elsewhere" / "models" / "org" / "C" / "C.gguf")
    (home / ".lmstudio-home-pointer").write_text(f"{home / 'elsewhere'}\n")
    assert [each.origin for each in find_models()] == [LM_STUDIO]
    (home / ".lmstudio-home-pointer").write_bytes(b"\xff\x00")
    assert find_models() == []


def test_a_gguf_file_in_the_cache_and_all_parts_of_a_split_one_count_as_one_model(home: Path) -> None:
    revision = home / "hub" / "models--org--E" / "snapshots" / "abc"
    first = put(revision / "E-00001-of-00002.gguf")
    put(revision / "E-00002-of-00002.gguf")
    (home / "hub" / "models--org--empty").mkdir()
    assert [(each.name, each.path, each.bytes) for each in find_models()] == [("E", str(first), 200)]


def test_the_default_model_is_opened_as_such(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = write_gguf(put(home / "headstart" / "models" / "b179" / "SmolLM2.gguf"))
    monkeypatch.setattr(found, "default_model", lambda: place)
    (model,) = find_models()
    assert (model.name, model.path, model.is_own) == ("SmolLM2", "", True)
    assert size_of("") == place.stat().st_size
    monkeypatch.setenv("HEADSTART_MODEL_DIR", str(home / "installed"))
    installed = put(home / "installed" / "SmolLM2.gguf")
    monkeypatch.setattr(found, "default_model", lambda: installed)
    assert [(each.origin, each.path, each.is_own) for each in find_models()] == [
        (OWN, str(place), True),
        (INSTALLED, "", False),
    ]


def test_a_model_is_the_same_however_its_path_is_written(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_gguf(put(home / "headstart" / "models" / "org" / "A" / "A.gguf"))
    other = write_gguf(put(file.with_name("B") / "B.gguf"))
    (home / "link.gguf").symlink_to(file)
    monkeypatch.chdir(file.parent)
    for path in (str(home / "link.gguf"), "A.gguf", str(file.parent), str(file)):
        assert is_same_model(path, str(file))
        assert not is_same_model(path, str(other))
    assert not is_same_model(str(home / "gone.gguf"), str(file))
    assert not is_same_model("", str(file))
    monkeypatch.setattr(found, "default_model", lambda: file)
    assert is_same_model("", str(file))
    assert is_same_model(str(file), "")


def test_what_is_still_downloaded_is_no_model(home: Path) -> None:
    models = home / "headstart" / "models"
    put(models / "org" / "A" / f"A.gguf{PARTIAL}" / "abc" / "A.gguf")
    write_folder(models / "org" / f"B{PARTIAL}" / "abc")
    assert find_models() == []


def test_only_own_models_are_deleted_whole_and_with_their_empty_folders(home: Path) -> None:
    models = home / "headstart" / "models"
    parts = [put(models / "org" / "A" / f"A-0000{number}-of-00002.gguf") for number in (1, 2)]
    other = put(models / "org" / "A" / "B.gguf")
    folder = write_folder(models / "org" / "C")
    delete_model(parts[0])
    assert [path.exists() for path in (*parts, other)] == [False, False, True]
    delete_model(folder)
    delete_model(other)
    assert list(models.iterdir()) == []
    foreign = put(home / ".lmstudio" / "models" / "org" / "C" / "C.gguf")
    for place in (foreign, models):
        with pytest.raises(ModelError, match="is not Headstart's: delete it in the program that it belongs to"):
            delete_model(place)
    assert foreign.exists()


def test_a_folder_and_the_gguf_files_of_the_same_repository_are_models_of_their_own(home: Path) -> None:
    folder = write_folder(home / "headstart" / "models" / "org" / "A")
    file = put(folder / "A-Q8_0.gguf", 50)
    put(folder / f"A-Q4_K_M.gguf{PARTIAL}" / "abc" / "A-Q4_K_M.gguf.part")
    whole = sum(each.stat().st_size for each in folder.iterdir() if each.is_file()) - 50
    assert [(each.place, each.bytes) for each in find_models()] == [(folder, whole), (file, 50)]
    delete_model(folder)
    assert sorted(each.name for each in folder.iterdir()) == [f"A-Q4_K_M.gguf{PARTIAL}", file.name]


def test_what_a_link_leads_to_is_not_headstart_s_to_delete(home: Path) -> None:
    foreign = put(home / ".lmstudio" / "models" / "org" / "C" / "C.gguf")
    models = home / "headstart" / "models"
    models.mkdir(parents=True)
    (models / "linked").symlink_to(foreign.parent)
    with pytest.raises(ModelError, match="is not Headstart's"):
        delete_model(models / "linked" / "C.gguf")
    assert foreign.exists()
    (models / "C.gguf").symlink_to(foreign)
    delete_model(models / "C.gguf")
    assert foreign.exists()
    assert not (models / "C.gguf").is_symlink()


def test_what_cannot_be_deleted_is_a_sentence(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = put(home / "headstart" / "models" / "org" / "A" / "A.gguf")

    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(ModelError, match=r"A.gguf cannot be deleted \(Permission denied\): check its permissions."):
        delete_model(file)
