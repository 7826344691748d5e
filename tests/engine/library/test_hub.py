"""Models are downloaded from a hub whole or not at all; what is broken off goes on from its middle."""

from __future__ import annotations

import errno
import hashlib
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import keyring
import pytest
from huggingface_hub import constants

from engine.keys import key_of
from engine.library import hub as download
from engine.library.hub import HubModel, TokenNeededError, discard, fetch, look_up, unfinished, wish_of
from engine.library.resolve import checked
from engine.types import DiskFullError, HeadstartError, ModelError
from tests.conftest import PATIENCE_S
from tests.engine.library.hub_server import FakeHub, running, used
from tests.engine.model_files import write_folder, write_gguf

REPO, FILE = "org/Tiny-GGUF", "Tiny-Q4_K_M.gguf"


class StoppedError(Exception):
    """Nobody waits for the download any more."""


def ignore(what: str, fraction: float | None) -> None:
    """Progress that nobody watches."""


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADSTART_DATA_DIR", str(tmp_path / "home"))
    monkeypatch.setattr(download, "PAUSES_S", (0.0, 0.0, 0.0))
    monkeypatch.setattr(download, "key_of", lambda address: "")
    return tmp_path / "home" / "models"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeHub]:
    """A hub with one model as a GGUF file, and beside it files that do not belong to it."""
    with running() as made:
        used(monkeypatch, made)
        data = write_gguf(tmp_path / FILE).read_bytes()
        made.models[REPO] = {FILE: data, "mmproj-Tiny.gguf": b"x" * 9, "README.md": b"# Tiny"}
        yield made


def stop_at(fraction: float) -> download.Progress:
    """Progress that stops the download once so much of it is here."""

    def progress(what: str, done: float | None) -> None:
        if (done or 0.0) >= fraction:
            raise StoppedError

    return progress


def test_a_file_is_downloaded_checked_and_can_be_opened(hub: FakeHub, home: Path) -> None:
    heard: list[tuple[str, float | None]] = []
    model = look_up(REPO)
    assert (model.bytes, model.place) == (len(hub.models[REPO][FILE]), home / REPO / FILE)
    place = fetch(model, lambda *said: heard.append(said))
    assert place.read_bytes() == hub.models[REPO][FILE]
    assert checked(str(place)) == place
    assert heard[-1] == ("Checking what was downloaded", 1.0)
    assert [path.name for path in (home / REPO).iterdir()] == [FILE]
    assert unfinished() == []


def test_a_cut_connection_goes_on_from_its_middle(hub: FakeHub) -> None:
    hub.cuts = [1000, 500, 0]
    place = fetch(look_up(REPO), ignore)
    assert hub.ranges == [None, "bytes=1000-", "bytes=1500-", "bytes=1500-"]
    assert place.read_bytes() == hub.models[REPO][FILE]


def test_what_was_stopped_goes_on_from_its_middle_later(hub: FakeHub) -> None:
    hub.cuts = [1000]
    model = look_up(REPO)
    with pytest.raises(StoppedError):
        fetch(model, stop_at(0.01))
    (left,) = unfinished()
    assert (left.repo, left.file) == (REPO, FILE)
    assert left.bytes == 1000
    assert not model.place.exists()
    assert fetch(model, ignore).read_bytes() == hub.models[REPO][FILE]
    assert hub.ranges == [None, "bytes=1000-"]


def test_a_hub_that_ignores_where_to_begin_gives_all_of_it_again(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.cuts, hub.ignores_ranges = [1000], True
    assert fetch(look_up(REPO), ignore).read_bytes() == hub.models[REPO][FILE]


def test_a_connection_that_is_cut_again_and_again_is_a_sentence_and_what_is_here_stays(hub: FakeHub) -> None:
    hub.cuts = [1000, *[0] * 9]
    with pytest.raises(ModelError, match="cannot be reached, or the connection was cut"):
        fetch(look_up(REPO), ignore)
    assert [left.bytes for left in unfinished()] == [1000]


def test_a_wrong_checksum_deletes_what_came(hub: FakeHub, home: Path) -> None:
    hub.lies[FILE] = hub.models[REPO][FILE][::-1]
    with pytest.raises(ModelError, match="its checksum is another one") as caught:
        fetch(look_up(REPO), ignore)
    assert hashlib.sha256(hub.models[REPO][FILE]).hexdigest() in caught.value.detail
    assert [left.bytes for left in unfinished()] == [0]
    del hub.lies[FILE]
    assert fetch(look_up(REPO), ignore).exists()


def test_another_revision_does_not_go_on_with_the_bytes_of_the_one_before(hub: FakeHub) -> None:
    hub.cuts = [1000]
    with pytest.raises(StoppedError):
        fetch(look_up(REPO), stop_at(0.01))
    hub.revision = "b" * 40
    hub.models[REPO][FILE] = hub.models[REPO][FILE] + b"more"
    assert fetch(look_up(REPO), ignore).read_bytes() == hub.models[REPO][FILE]
    assert hub.ranges == [None, None]


def test_a_full_disk_is_known_before_and_said_while(hub: FakeHub, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = look_up(REPO)
    with monkeypatch.context() as patched:
        patched.setattr(download.shutil, "disk_usage", lambda _: SimpleNamespace(free=100))
        with pytest.raises(DiskFullError, match=f"{REPO} needs .* GB more in .* free some space"):
            fetch(model, ignore)
    assert hub.ranges == []

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(download, "_read_some", full)
        with pytest.raises(DiskFullError, match="The disk is full"):
            fetch(model, ignore)
    assert fetch(model, ignore).exists()


@pytest.mark.parametrize("status", [401, 403])
def test_a_model_behind_a_licence_asks_for_a_token(hub: FakeHub, status: int) -> None:
    hub.status = status
    with pytest.raises(TokenNeededError, match="agreed to its licence, or there is no such model"):
        look_up(REPO)


def test_the_token_of_the_keyring_goes_to_the_hub(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.token = "hf_secret"
    monkeypatch.setattr(download, "key_of", {hub.address: "hf_secret"}.get)
    assert fetch(look_up(REPO), ignore).exists()
    assert set(hub.tokens) == {"Bearer hf_secret"}
    monkeypatch.setattr(download, "key_of", lambda _: "hf_old")
    with pytest.raises(TokenNeededError, match="The token that is kept was refused") as caught:
        look_up(REPO)
    assert "hf_old" not in caught.value.detail


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (404, "There is no org/Tiny-GGUF on the Hub, or a file of it is gone: check the name."),
        (429, "The Hub had too many requests from here: go on in some minutes."),
        (500, r"The Hub cannot give org/Tiny-GGUF now \(error 500\): try again later."),
    ],
)
def test_what_the_hub_refuses_is_a_sentence(hub: FakeHub, status: int, sentence: str) -> None:
    model = look_up(REPO)
    hub.status = status
    for ask in (lambda: look_up(REPO), lambda: fetch(model, ignore)):
        with pytest.raises(ModelError, match=sentence):
            ask()


def test_no_network_and_hf_hub_offline_are_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    with running() as gone:
        used(monkeypatch, gone)
    with pytest.raises(ModelError, match=r"127.0.0.1:\d+ cannot be reached"):
        look_up(REPO)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match="while HF_HUB_OFFLINE is set: start Headstart without it"):
        look_up(REPO)


def test_a_folder_is_downloaded_with_what_is_read_of_it(hub: FakeHub, home: Path, tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "Tiny")
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    hub.models["org/Tiny"] = {
        **files,
        "pytorch_model.bin": b"pickle",
        "original/consolidated.00.pth": b"pickle",
        "README.md": b"# Tiny",
    }
    hub.cuts = [10]
    place = fetch(look_up("org/Tiny"), ignore)
    assert place == home / "org" / "Tiny"
    assert {path.name: path.read_bytes() for path in place.iterdir()} == files
    assert checked(str(place)) == place


def test_a_folder_takes_the_place_of_no_file_of_the_same_repository(hub: FakeHub, home: Path, tmp_path: Path) -> None:
    """A repository may hold both forms: what was downloaded of the one, or is on its way, stays."""
    files = {path.name: path.read_bytes() for path in write_folder(tmp_path / "Tiny").iterdir()}
    hub.models[REPO] = {**files, "a-Q8_0.gguf": b"8", "b-Q4_0.gguf": b"4" * 2000}
    first = fetch(look_up(REPO, "a-*.gguf"), ignore)
    hub.cuts = [1000]
    with pytest.raises(StoppedError):
        fetch(look_up(REPO, "b-*.gguf"), stop_at(0.01))
    folder = fetch(look_up(REPO), ignore)
    assert first.read_bytes() == b"8"
    assert [(left.file, left.bytes) for left in unfinished()] == [("b-Q4_0.gguf", 1000)]
    assert checked(str(folder)) == folder
    assert fetch(look_up(REPO, "b-*.gguf"), ignore).read_bytes() == b"4" * 2000


def test_all_parts_of_a_split_file_come(hub: FakeHub) -> None:
    names = [f"big-q8_0-{number:05}-of-00002.gguf" for number in (1, 2)]
    hub.models["org/Big"] = {**{name: name.encode() for name in names}, "big-q2_k.gguf": b"other"}
    model = look_up("org/Big", "*q8_0*.gguf")
    assert [file.name for file in model.files] == names
    assert sorted(path.name for path in fetch(model, ignore).parent.iterdir()) == names


def test_of_several_files_the_usual_form_is_taken_or_one_is_to_be_named(hub: FakeHub) -> None:
    hub.models["org/Forms"] = {"a-Q8_0.gguf": b"8", "a-Q4_K_M.gguf": b"4"}
    assert [file.name for file in look_up("org/Forms").files] == ["a-Q4_K_M.gguf"]
    assert [file.name for file in look_up("org/Forms", "A-q8_0.gguf").files] == ["a-Q8_0.gguf"]
    hub.models["org/Forms"] = {"a-Q8_0.gguf": b"8", "a-Q6_K.gguf": b"4"}
    with pytest.raises(ModelError, match="holds 2 GGUF files: name one of them") as caught:
        look_up("org/Forms")
    assert caught.value.detail == "a-Q8_0.gguf\na-Q6_K.gguf"
    hub.models["org/Forms"] = {"pytorch_model.bin": b"pickle"}
    for pattern in ("", "*.gguf"):
        with pytest.raises(ModelError, match=r"holds no model that Headstart reads|has no file \*.gguf any more"):
            look_up("org/Forms", pattern)


def test_a_page_of_the_network_in_place_of_the_hub_is_a_sentence_and_costs_nothing(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A network that wants a login answers everything with its page: what was downloaded stays."""
    model, page = look_up(REPO), b"<html>" * 300
    hub.cuts = [1000]
    with pytest.raises(StoppedError):
        fetch(model, stop_at(0.01))
    hub.ignores_ranges, hub.lies[FILE] = True, page
    with pytest.raises(ModelError, match="does not answer as the Hub does: check whether the network wants a login"):
        fetch(model, ignore)
    assert [left.bytes for left in unfinished()] == [1000]
    for answer in (page, b"[]", b"{}", b'{"id": 5, "siblings": [{}]}'):
        monkeypatch.setattr(hub, "listing", lambda repo, said=answer: said)
        with pytest.raises(ModelError, match="does not answer as the Hub does"):
            look_up(REPO)


def test_two_downloads_of_one_model_wait_for_each_other(hub: FakeHub) -> None:
    model, waits = look_up(REPO), threading.Event()
    hub.held.clear()
    first = threading.Thread(target=fetch, args=(model, ignore))
    first.start()

    def heard(what: str, fraction: float | None) -> None:
        if what.startswith("Waiting"):
            waits.set()
            hub.held.set()

    while not hub.tokens[1:]:  # the first one holds the lock once it has asked for the file
        assert first.is_alive()
    fetch(model, heard)
    first.join(PATIENCE_S)
    assert waits.is_set()
    assert model.place.read_bytes() == hub.models[REPO][FILE]


def test_what_was_broken_off_can_be_thrown_away(hub: FakeHub, home: Path) -> None:
    hub.cuts = [1000]
    with pytest.raises(StoppedError):
        fetch(look_up(REPO), stop_at(0.01))
    discard(REPO, FILE, ignore)
    assert unfinished() == []
    assert [path for path in home.iterdir() if path.is_dir()] == []
    discard("org/Never", "", ignore)


def test_a_file_in_a_folder_of_its_repository_is_thrown_away_and_gone_on_with(hub: FakeHub) -> None:
    hub.models["org/Deep"] = {"Q4/a-Q4.gguf": b"4" * 2000, "Q8/a-Q8.gguf": b"8" * 2000}
    for _ in range(2):
        hub.cuts = [1000]
        with pytest.raises(StoppedError):
            fetch(look_up("org/Deep", "Q4/a-Q4.gguf"), stop_at(0.01))
        (left,) = unfinished()
        assert look_up("org/Deep", left.file) == look_up("org/Deep", "Q4/a-Q4.gguf")
        discard("org/Deep", "Q4/a-Q4.gguf", ignore)
        assert unfinished() == []


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        (" org/Tiny ", ("org/Tiny", "")),
        ("org/Tiny/x-Q4.gguf", ("org/Tiny", "x-Q4.gguf")),
        ("https://huggingface.co/org/Tiny", ("org/Tiny", "")),
        ("https://huggingface.co/org/Tiny/tree/main", ("org/Tiny", "")),
        ("https://huggingface.co/org/Tiny/blob/main/deep/x.gguf", ("org/Tiny", "deep/x.gguf")),
    ],
)
def test_a_name_or_an_address_names_a_model(text: str, wish: tuple[str, str]) -> None:
    assert wish_of(text) == wish


@pytest.mark.parametrize(
    "text",
    ["", "Tiny", "org/../x", "org/Tiny/model.safetensors", "a b/c", "https://", "http://[x"],
)
def test_what_names_no_model_is_a_sentence(text: str) -> None:
    with pytest.raises(ModelError, match="is no name of a model on the Hub, such as"):
        wish_of(text)


def test_the_token_is_kept_by_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    held: dict[tuple[str, str], str] = {}
    monkeypatch.setattr(keyring, "set_password", lambda service, name, key: held.update({(service, name): key}))
    monkeypatch.setattr(keyring, "get_password", lambda service, name: held.get((service, name)))
    monkeypatch.setattr(keyring, "delete_password", lambda service, name: held.pop((service, name)))
    for odd in ("hf_…", "hf_a\nb"):
        with pytest.raises(HeadstartError, match="no token of the Hub: copy it once more"):
            download.keep_token(odd)
    download.keep_token(" hf_secret\n")
    assert held == {("headstart", constants.ENDPOINT): "hf_secret"}
    assert key_of(constants.ENDPOINT) == "hf_secret"
    download.keep_token("")
    assert (held, key_of(constants.ENDPOINT)) == ({}, "")

    def none(*_: str) -> str:
        raise RuntimeError("no backend")

    for name in ("set_password", "get_password"):
        monkeypatch.setattr(keyring, name, none)
    assert key_of(constants.ENDPOINT) == ""
    download.keep_token("")
    with pytest.raises(HeadstartError, match="This system keeps no keys, so the token was not stored"):
        download.keep_token("hf_secret")


def test_a_model_is_a_value() -> None:
    assert HubModel("a/b", "r", (), Path("x")).bytes == 0
