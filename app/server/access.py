"""Who may ask: where the server listens, which names and pages are let through, the key, and the limits."""

from __future__ import annotations

import hmac
import ipaddress
from dataclasses import dataclass, field

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
DEFAULT_PORT = 8642


@dataclass(frozen=True, slots=True)
class Limits:
    """What one call, and all together, may take. Times are in seconds."""

    body_bytes: int = 16_000_000
    body_s: float = 30.0
    headers_s: float = 10.0
    header_bytes: int = 32_768
    open_calls: int = 128
    open_requests: int = 256


@dataclass(frozen=True, slots=True)
class Access:
    """`host` and `port` are where the server listens, port 0 being any free one. `key` is what a caller must show, ""
    where none is needed. `names` are further names that this computer is called by."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    key: str = field(default="", repr=False)
    names: tuple[str, ...] = ()
    limits: Limits = Limits()

    @property
    def is_local(self) -> bool:
        """Whether only this computer reaches it."""
        return is_loopback(self.host)

    def knows_host(self, header: str) -> bool:
        """Whether a Host header names this server. A page whose name was made to point here (DNS rebinding) sends its
        own name; a number cannot be made to point elsewhere, so numbers are let through where others may call."""
        name = host_of(header)
        if name in (*LOOPBACK_NAMES, self.host.lower(), *(own.lower() for own in self.names)):
            return True
        return not self.is_local and _is_address(name)

    def knows_origin(self, origin: str, host: str) -> bool:
        """Whether the page that asks came from this very server."""
        return origin.lower() in (f"http://{host.lower()}", f"https://{host.lower()}")

    def accepts(self, shown: str) -> bool:
        """Whether what a caller shows is the key. Takes as long for a nearly right one as for any other."""
        return not self.key or hmac.compare_digest(shown.encode("utf-8", "replace"), self.key.encode())


def is_loopback(host: str) -> bool:
    """Whether only this computer reaches an address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_of(header: str) -> str:
    """The name in a Host header, without port and brackets, in small letters."""
    header = header.strip().lower()
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.partition(":")[0] if header.count(":") == 1 else header


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
