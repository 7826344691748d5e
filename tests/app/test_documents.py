"""The text of files: what is read of each kind, and the sentence for each that cannot be read."""

from __future__ import annotations

import io
import zipfile
from contextlib import suppress
from pathlib import Path

import docx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pypdf import PdfWriter
from pypdf.generic import DecodedStreamObject, DictionaryObject, NameObject

from app.documents import Attachment, read_file, with_files
from engine import HeadstartError
from tests.app.odd_archives import ODD, odd


def saved(folder: Path, name: str, data: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def pdf(*pages: str, password: str = "") -> bytes:
    """A PDF with a line of text on each page; "" leaves a page empty."""
    writer = PdfWriter()
    for text in pages:
        page = writer.add_blank_page(300, 300)
        font = {"/Type": "/Font", "/Subtype": "/Type1", "/BaseFont": "/Helvetica"}
        named = DictionaryObject({NameObject(key): NameObject(value) for key, value in font.items()})
        fonts = DictionaryObject({NameObject("/F1"): named})
        page[NameObject("/Resources")] = DictionaryObject({NameObject("/Font"): fonts})
        content = DecodedStreamObject()
        content.set_data(f"BT /F1 12 Tf 20 200 Td ({text}) Tj ET".encode() if text else b"")
        page[NameObject("/Contents")] = content
    if password:
        writer.encrypt(password, algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def word(**others: str) -> bytes:
    """A DOCX; `others` stand in place of the parts that are called so."""
    document = docx.Document()
    document.add_heading("Tents", level=2)
    document.add_paragraph("A tent keeps you dry.")
    table = document.add_table(rows=1, cols=2)
    table.rows[0].cells[0].text, table.rows[0].cells[1].text = "Price", "90"
    out, made = io.BytesIO(), io.BytesIO()
    document.save(out)
    with zipfile.ZipFile(out) as whole, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in whole.namelist():
            archive.writestr(name, others.get(Path(name).stem, whole.read(name)))
    return made.getvalue()


PAGE = """<!DOCTYPE html><html><head><title>t</title><style>p {}</style><script>alert(1)</script></head>
<body><h1>Tents</h1><p>A <b>tent</b> &amp; a
pole.</p><ul><li>one</li><li>two</li></ul><table><tr><td>a</td><td>b</td></tr></table><img src="http://x/y.png"></body>"""


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("notes.md", "# Tents\r\n\r\nDry.\r\n", "# Tents\n\nDry."),
        ("main.py", "def f():\n    return 1\n", "def f():\n    return 1"),
        ("windows.txt", "grün".encode("utf-16"), "grün"),
        ("marked.txt", b"\xef\xbb\xbfgr\xc3\xbcn", "grün"),
        ("report.pdf", pdf("First page", "Second page"), "First page\n\nSecond page"),
        ("report.docx", word(), "## Tents\n\nA tent keeps you dry.\n\nPrice | 90"),
        ("page.html", PAGE, "Tents\n\nA tent & a pole.\n\none\n\ntwo\n\na | b |"),
        ("report.txt", pdf("In truth a PDF"), "In truth a PDF"),
        ("page", PAGE, "Tents\n\nA tent & a pole.\n\none\n\ntwo\n\na | b |"),
    ],
)
def test_the_text_of_a_file(tmp_path: Path, name: str, data: bytes | str, text: str) -> None:
    assert read_file(saved(tmp_path, name, data)) == Attachment(name, text)


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("empty.txt", b" \n", "empty.txt is empty"),
        ("locked.pdf", pdf("x", password="secret"), "locked.pdf is protected with a password"),
        ("scan.pdf", pdf("", ""), "scan.pdf has 2 pages and no text: they are pictures"),
        ("cut.pdf", pdf("x")[:200], "cut.pdf is damaged"),
        ("cut.docx", word()[:2000], "cut.docx is damaged"),
        ("odd.docx", word(document="<x/>"), "odd.docx is damaged"),
        ("odd.docx", word(**{"[Content_Types]": "<x/>"}), "odd.docx is damaged"),
        ("photo.txt", b"\x89PNG\r\n\x1a\n\0\0", "photo.txt is a picture"),
        ("old.doc", b"\xd0\xcf\x11\xe0\xa1\xb1", "an older office file"),
        ("program", b"\x7fELF\0\0\0", "program holds no text"),
        ("noise.txt", bytes(range(1, 9)) * 50, "noise.txt holds no text"),
        ("blank.html", "<html><body><script>x</script></body></html>", "blank.html holds no text"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(tmp_path: Path, name: str, data: bytes | str, says: str) -> None:
    with pytest.raises(HeadstartError, match=says):
        read_file(saved(tmp_path, name, data))


@pytest.mark.parametrize("kind", ODD)
def test_a_docx_that_cannot_be_unpacked_is_said(tmp_path: Path, kind: str) -> None:
    says = "protected with a password" if kind == "locked" else "could not be read as DOCX"
    with pytest.raises(HeadstartError, match=says):
        read_file(saved(tmp_path, "odd.docx", odd(word(), kind)))


def test_an_archive_a_folder_and_what_is_too_large_are_refused(tmp_path: Path, monkeypatch) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.txt", "x")
    with pytest.raises(HeadstartError, match="archive"):
        read_file(saved(tmp_path, "some.zip", out.getvalue()))
    with pytest.raises(HeadstartError, match="is a folder"):
        read_file(tmp_path)
    with pytest.raises(HeadstartError, match="could not be read"):
        read_file(tmp_path / "gone.txt")
    monkeypatch.setattr("app.documents.LARGEST_TEXT", 3)
    with pytest.raises(HeadstartError, match="holds 4 characters, more than the 3"):
        read_file(saved(tmp_path, "long.txt", "long"))
    monkeypatch.setattr("app.documents.LARGEST_UNPACKED", 3)
    with pytest.raises(HeadstartError, match="unpacks to over"):
        read_file(saved(tmp_path, "bomb.docx", word()))
    monkeypatch.setattr("app.documents.LARGEST_FILE", 3)
    with pytest.raises(HeadstartError, match="files of up to 0 MB are read"):
        read_file(tmp_path / "long.txt")


def test_what_had_to_be_guessed_is_said(tmp_path: Path) -> None:
    guessed = read_file(saved(tmp_path, "old.txt", b"gr\xfcn"))
    assert (guessed.text, "not in UTF-8" in guessed.note) == ("grün", True)
    named = read_file(saved(tmp_path, "text.pdf", "just text"))
    assert (named.text, named.note) == ("just text", "text.pdf is no PDF but text, and was read as text.")


@given(st.binary(max_size=300), st.sampled_from(["", "%PDF-1.4\n", "PK\x03\x04", "<html>"]))
def test_any_file_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, data: bytes, begin: str) -> None:
    path = saved(tmp_path_factory.getbasetemp(), "any.bin", begin.encode() + data)
    with suppress(HeadstartError):  # anything else would be a traceback
        assert read_file(path).text


def test_a_part_ends_at_a_word_and_says_which_it_is() -> None:
    whole = Attachment("a.txt", "word " * 100)
    part = whole.beginning(52)
    assert part.text == "word word word word word word word word word word"
    assert part.title == "a.txt (the first 49 of 500 characters)"


def test_files_stand_in_front_of_the_question() -> None:
    files = (Attachment("a.txt", "one"), Attachment("b.txt", "two"))
    assert with_files("why?", files) == '<file name="a.txt">\none\n</file>\n\n<file name="b.txt">\ntwo\n</file>\n\nwhy?'
    assert with_files("why?", ()) == "why?"
