"""Whether there is a newer version: a small signed file is fetched and compared. No Qt, and nothing is installed.

The file's first line is an Ed25519 signature in base64 of all that follows, which is JSON: {"program": "headstart",
"version": "0.2.0", "page": "https://..."}. packaging/sign_version.py writes it. Where it lies and the public key come
from packaging/app.toml, which the installers bring; where those are placeholders, or Headstart runs from source,
nothing is asked.
"""

from __future__ import annotations

import base64
import binascii
import http.client
import json
import re
import ssl
import tomllib
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import certifi

from engine import HeadstartError, installed_resources

PATIENCE_S = 15.0
MOST_BYTES = 10_000
_VERSION = re.compile(r"\d{1,6}(\.\d{1,6}){0,3}")
UNREACHABLE = "Whether there is a newer version is not known: {host} does not answer. Check the network connection."
REFUSED = "Whether there is a newer version is not known: {host} answers with an error ({status}). Try again later."
UNSIGNED = "What {host} says about newer versions is not signed by Headstart's makers, so it was not used."
UNREADABLE = "What {host} says about newer versions cannot be read. Its makers have to mend it."


@dataclass(frozen=True, slots=True)
class Source:
    """Where the file lies, and the 32 bytes of the public key that its signature has to fit."""

    url: str
    key: bytes

    @property
    def host(self) -> str:
        """The name of the server, for the user."""
        return urlsplit(self.url).hostname or self.url


@dataclass(frozen=True, slots=True)
class Release:
    """The newest version, and the page from which it can be had."""

    version: str
    page: str


def source() -> Source | None:
    """Where this Headstart may ask; None where it came without installer, or nobody has set up a place yet."""
    folder = installed_resources()
    if folder is None or not (folder / "app.toml").is_file():
        return None
    return source_of(tomllib.loads((folder / "app.toml").read_text(encoding="utf-8")))


def source_of(names: dict[str, Any]) -> Source | None:
    """The source that packaging/app.toml names; None where its values are placeholders."""
    said = names.get("updates", {})
    url, key = str(said.get("url", "")), str(said.get("key", ""))
    if not key or (urlsplit(url).hostname or ".invalid").endswith(".invalid"):
        return None
    return Source(url, base64.b64decode(key, validate=True))


def newest(where: Source) -> Release:
    """Ask which version is the newest. Takes up to PATIENCE_S a step: never on the window's thread.

    Raises HeadstartError, with a sentence for the user, where nobody answers, or the answer is not to be trusted.
    """
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())  # systems keep their own in different places
    request = urllib.request.Request(where.url, headers={"User-Agent": "headstart"})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S, context=context) as answer:
            said = answer.read(MOST_BYTES + 1)
    except urllib.error.HTTPError as error:
        with error:
            raise HeadstartError(REFUSED.format(host=where.host, status=error.code), str(error)) from error
    except (OSError, http.client.HTTPException) as error:
        raise HeadstartError(UNREACHABLE.format(host=where.host), str(error)) from error
    return read(said, where)


def read(said: bytes, where: Source) -> Release:
    """The release that the bytes of such a file name. Raises HeadstartError."""
    from nacl.exceptions import BadSignatureError
    from nacl.signing import VerifyKey

    signature, _, signed = said.partition(b"\n")
    try:
        VerifyKey(where.key).verify(signed, base64.b64decode(signature, validate=True))
    except (BadSignatureError, binascii.Error, ValueError, TypeError) as error:
        raise HeadstartError(UNSIGNED.format(host=where.host), str(error)) from error
    try:
        fields = json.loads(signed)
        release = Release(str(fields["version"]), str(fields["page"]))
        fits = fields["program"] == "headstart" and _VERSION.fullmatch(release.version)
    except (ValueError, KeyError, TypeError) as error:
        raise HeadstartError(UNREADABLE.format(host=where.host), str(error)) from error
    if not fits or urlsplit(release.page).scheme != "https":
        raise HeadstartError(UNREADABLE.format(host=where.host), signed.decode("utf-8", "replace"))
    return release


def is_newer(version: str, own: str) -> bool:
    """Whether a version is newer than our own. A version that is no release, as "(not installed)", is never older."""
    return bool(_VERSION.fullmatch(own)) and _numbers(version) > _numbers(own)


def _numbers(version: str) -> tuple[int, ...]:
    numbers = [int(part) for part in version.split(".")]
    return tuple([*numbers, 0, 0, 0, 0][:4])
