"""The text of files that are given to a conversation: plain text, Markdown, code, PDF, DOCX and HTML. No Qt.

What a file is, is read from what it holds and not from its name. Whatever cannot be read as text is refused in a
sentence that says what to do. pypdf, python-docx and lxml are imported when a file needs them.
"""

from __future__ import annotations

import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from engine import HeadstartError

LARGEST_FILE = 50_000_000
"""Bytes of a file that is read."""
LARGEST_TEXT = 5_000_000
"""Characters of the text of one file: more than any model reads."""
LARGEST_UNPACKED = 200_000_000
"""Bytes that a DOCX file may become once it is unpacked."""

BROKEN_ARCHIVE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, ValueError)
"""What reading a ZIP file raises that is damaged, or packed in a way that this Python does not know."""

Say = Callable[[str, "float | None"], None]
"""Hears what is done and which fraction of it; raises to end it."""

_PICTURES = {b"\x89PNG": "picture", b"\xff\xd8\xff": "picture", b"GIF8": "picture", b"RIFF": "recording or a picture"}
_BLOCKS = (
    *("p", "div", "section", "article", "main", "header", "footer", "li", "tr", "br", "pre", "blockquote", "hr"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "ul", "ol", "dl", "dt", "dd"),
)
"""Elements of HTML that begin on a new line."""
_UNSEEN = ("script", "style", "template", "noscript", "head")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file given to a conversation: its name, and its text. `part` says which part of the text of the file it is, ""
    where it is all of it; `note` is a sentence for the user, where something about the file should be known."""

    name: str
    text: str
    part: str = ""
    note: str = ""

    @property
    def title(self) -> str:
        """The name, and which part of the file it is."""
        return f"{self.name} ({self.part})" if self.part else self.name

    def beginning(self, characters: int) -> Attachment:
        """The first part of it, cut at the end of a line or a word where there is one near."""
        head = self.text[:characters]
        cut = max(head.rfind("\n", characters * 9 // 10), head.rfind(" ", characters * 9 // 10))
        head = (head[:cut] if cut > 0 else head).rstrip()
        return replace(self, text=head, part=f"the first {len(head):,} of {len(self.text):,} characters")


def with_files(question: str, files: tuple[Attachment, ...]) -> str:
    """A question as the model gets it, with the files in front: what is asked about them comes last."""
    said = [f'<file name="{each.title}">\n{each.text}\n</file>' for each in files]
    return "\n\n".join([*said, question]) if said else question


def read_file(path: Path, say: Say = lambda what, fraction: None) -> Attachment:
    """The text of a file. Raises HeadstartError with a sentence for the user where there is none to be had."""
    name = path.name
    data = _bytes_of(path)
    say(f"Reading {name}", None)
    if not data.strip():
        raise HeadstartError(f"{name} is empty, so there is nothing to read in it.")
    note = ""
    if b"%PDF-" in data[:1024]:
        text = _pdf(name, data, say)
    elif data[:4] == b"PK\x03\x04":
        text = _docx(name, data)
    else:
        text, note = _text(name, data)
        if _is_html(text, name):
            text = _html(name, data)
        note = note or _misnamed(name)
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    if len(text) > LARGEST_TEXT:
        raise HeadstartError(
            f"{name} holds {len(text):,} characters, more than the {LARGEST_TEXT:,} that can be taken in. Give a part"
            " of it."
        )
    return Attachment(name, text, note=note)


def _bytes_of(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise HeadstartError(f"{path.name} is a folder. Give the files in it that are to be read.")
        size = path.stat().st_size
        if size > LARGEST_FILE:
            most = LARGEST_FILE // 1_000_000
            raise HeadstartError(f"{path.name} has {size // 1_000_000:,} MB; files of up to {most} MB are read.")
        return path.read_bytes()
    except OSError as error:
        raise HeadstartError(f"{path.name} could not be read: {error.strerror or error}.", str(error)) from None


def _misnamed(name: str) -> str:
    """What to say of a text whose name promises something else."""
    ending = Path(name).suffix.lower()
    kinds = {".pdf": "PDF", ".docx": "Word document"}
    return f"{name} is no {kinds[ending]} but text, and was read as text." if ending in kinds else ""


# Plain text


def _text(name: str, data: bytes) -> tuple[str, str]:
    """A text and, where it had to be guessed how its letters are stored, a sentence about that."""
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if data.startswith(mark):
            return _decoded(name, data, encoding), ""
    _refuse_other_kinds(name, data)
    try:
        text, note = data.decode("utf-8"), ""
    except UnicodeDecodeError:
        text = _decoded(name, data, "cp1252")
        note = f"{name} is not in UTF-8, so it was read as Windows-1252. Look whether its letters are right."
    if len(_CONTROL.findall(text[:10_000])) > len(text[:10_000]) // 100:
        raise HeadstartError(_no_text(name))
    return text, note


def _decoded(name: str, data: bytes, encoding: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        raise HeadstartError(_no_text(name)) from None


def _refuse_other_kinds(name: str, data: bytes) -> None:
    kind = next((kind for magic, kind in _PICTURES.items() if data.startswith(magic)), "")
    if kind:
        raise HeadstartError(f"{name} is a {kind}, and only text is read: text, Markdown, code, PDF, DOCX or HTML.")
    if data.startswith(b"\xd0\xcf\x11\xe0"):
        raise HeadstartError(f"{name} is an older office file, or one with a password. Save it as DOCX or PDF first.")
    if b"\0" in data:
        raise HeadstartError(_no_text(name))


def _no_text(name: str) -> str:
    return f"{name} holds no text that can be read. Text, Markdown, code, PDF, DOCX and HTML can be given."


# HTML


def _is_html(text: str, name: str) -> bool:
    head = text[:1000].lstrip().lower()
    return head.startswith(("<!doctype html", "<html")) or (
        Path(name).suffix.lower() in (".html", ".htm", ".xhtml") and "<" in head
    )


def _html(name: str, data: bytes) -> str:
    """What a browser would show of a page, without its pictures; nothing is loaded."""
    from lxml import etree, html

    try:
        declared = html.HTMLParser(no_network=True, encoding=None if _declares(data) else "utf-8")
        page = html.document_fromstring(data, parser=declared)
    except (etree.LxmlError, ValueError) as error:
        raise HeadstartError(f"{name} is damaged: it could not be read as HTML.", str(error)) from None
    etree.strip_elements(page, *_UNSEEN, etree.Comment, etree.ProcessingInstruction, with_tail=False)
    lines = (" ".join(line.split()) for line in "".join(_pieces(page)).split("\n"))
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    if not text:
        raise HeadstartError(f"{name} holds no text: a browser would show an empty page, or make it with a program.")
    return text


def _declares(data: bytes) -> bool:
    return b"charset" in data[:2000].lower()


def _pieces(element) -> Iterator[str]:
    """The text below an element, with an end of line where a browser begins a new one."""
    from lxml import etree

    for event, each in etree.iterwalk(element, events=("start", "end")):
        if each.tag in _BLOCKS:
            yield "\n"
        elif each.tag in ("td", "th") and event == "end":
            yield " | "
        text = each.text if event == "start" else each.tail if each is not element else ""
        if text:
            yield text.replace("\n", " ") if each.tag != "pre" else text


# PDF


def _pdf(name: str, data: bytes, say: Say) -> str:
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise HeadstartError(f"{name} is protected with a password. Save a copy without one and give that.")
        pages = _pages(name, reader, say)
    except HeadstartError:
        raise
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, OSError, RecursionError) as error:
        raise HeadstartError(f"{name} is damaged: it could not be read as PDF.", str(error)) from None
    text = "\n\n".join(page for page in pages if page)
    if not text:
        raise HeadstartError(
            f"{name} has {len(pages):,} {'page' if len(pages) == 1 else 'pages'} and no text: they are pictures, as a"
            " scanner makes them. Give a PDF whose text can be selected."
        )
    return text


def _pages(name: str, reader, say: Say) -> list[str]:
    """The text of each page, as far as the longest text goes."""
    found: list[str] = []
    count = len(reader.pages)
    for number, page in enumerate(reader.pages, start=1):
        say(f"Reading {name}: page {number:,} of {count:,}", number / count)
        found.append(page.extract_text().strip())
        if sum(map(len, found)) > LARGEST_TEXT:
            break
    return found


# DOCX


def refuse_locked(archive: zipfile.ZipFile, name: str) -> None:
    """Raises HeadstartError where something in a ZIP file can only be read with a password."""
    if any(each.flag_bits & 1 for each in archive.infolist()):
        raise HeadstartError(f"{name} is protected with a password. Save a copy without one and give that.")


_ODD_XML = (KeyError, TypeError, AttributeError, IndexError)
"""What python-docx raises where an element is missing, or another one than it should be."""


def _docx(name: str, data: bytes) -> str:
    from docx import Document
    from docx.exceptions import PythonDocxError
    from docx.opc.exceptions import OpcError
    from lxml.etree import LxmlError

    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            refuse_locked(archive, name)
            members = archive.infolist()
        if "word/document.xml" not in {each.filename for each in members}:
            raise HeadstartError(f"{name} is an archive or another office file. Give the text in it, or a DOCX or PDF.")
        if sum(each.file_size for each in members) > LARGEST_UNPACKED:
            raise HeadstartError(f"{name} unpacks to over {LARGEST_UNPACKED // 1_000_000} MB, which is not read.")
        paragraphs = [_of_docx_block(block) for block in Document(io.BytesIO(data)).iter_inner_content()]
    except HeadstartError:
        raise
    except (*BROKEN_ARCHIVE, *_ODD_XML, OpcError, PythonDocxError, LxmlError, OSError) as error:
        raise HeadstartError(f"{name} is damaged: it could not be read as DOCX.", str(error)) from None
    text = re.sub(r"\n{3,}", "\n\n", "\n\n".join(paragraphs)).strip()
    if not text:
        raise HeadstartError(f"{name} holds no text, only pictures or empty pages.")
    return text


def _of_docx_block(block) -> str:
    """A paragraph, a heading with its marks, or a table with a line for each of its rows."""
    if hasattr(block, "rows"):
        return "\n".join(" | ".join(cell.text.strip() for cell in row.cells) for row in block.rows)
    style = block.style.name if block.style is not None else ""
    level = re.fullmatch(r"Heading (\d)", style or "")
    return f"{'#' * int(level[1])} {block.text}" if level and block.text else block.text
