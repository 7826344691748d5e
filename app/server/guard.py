"""The door of the server: every call passes here first, and only what may ask goes on to the API."""

from __future__ import annotations

import logging

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.server.access import Access
from app.server.errors import ApiError

log = logging.getLogger("headstart")

OPEN_PATHS = ("/", "/page.js", "/openapi.json", "/health")
"""These hold nothing of anybody, and need no key."""

WRONG_HOST = "This server answers to the name of this computer only. Call it by http://127.0.0.1 and its port."
WRONG_ORIGIN = "Pages of other sites may not use this server."
NO_KEY = "Send the key of this server, as Authorization: Bearer KEY or x-api-key: KEY."
NO_JSON = "Send the body as JSON, with the header Content-Type: application/json."
LONG_HEADERS = "The headers are too long. Send fewer."
BUSY = "Too many calls are open here. Try again in a moment."
BROKEN = "Something went wrong inside the server. Try again, or restart Headstart."

HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"content-security-policy", b"default-src 'self'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'"),
)


class Guard:
    """An ASGI application around the API. What goes wrong behind it becomes a sentence without a trace."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self.access = access
        self._open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        has_begun = False

        async def noted(message: Message) -> None:
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                message = {**message, "headers": [*message["headers"], *HEADERS]}
            await send(message)

        try:
            self._check(scope)
            self._open += 1
            try:
                await self._app(scope, receive, noted)
            finally:
                self._open -= 1
        except ApiError as error:
            if not has_begun:
                await error.response(scope["path"])(scope, receive, noted)
        except Exception:
            log.exception("a call to the server failed")
            if not has_begun:
                await ApiError(500, BROKEN).response(scope["path"])(scope, receive, noted)

    def _check(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        if sum(len(name) + len(value) for name, value in headers.raw) > self.access.limits.header_bytes:
            raise ApiError(431, LONG_HEADERS)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self.access.knows_host(hosts[0]):
            raise ApiError(403, WRONG_HOST, code="wrong_host")
        origin = headers.get("origin")
        if origin is not None and not self.access.knows_origin(origin, hosts[0]):
            raise ApiError(403, WRONG_ORIGIN, code="wrong_origin")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise ApiError(403, WRONG_ORIGIN, code="wrong_origin")
        if scope["path"] not in OPEN_PATHS and not self.access.accepts(_shown_key(headers)):
            raise ApiError(401, NO_KEY, code="invalid_api_key")
        if (
            scope["method"] == "POST"
            and headers.get("content-type", "").partition(";")[0].strip() != "application/json"
        ):
            raise ApiError(415, NO_JSON)
        length = headers.get("content-length", "0")
        if length.isdecimal() and int(length[:20]) > self.access.limits.body_bytes:
            raise too_large(self.access)
        if self._open >= self.access.limits.open_calls:
            raise ApiError(429, BUSY, code="too_many_calls", retry_s=1.0)


def too_large(access: Access) -> ApiError:
    """The refusal of a body that is too long."""
    return ApiError(413, f"A body may have up to {access.limits.body_bytes // 1_000_000} MB here. Send less at once.")


def _shown_key(headers: Headers) -> str:
    """What the caller shows as a key, "" for nothing."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" and key else headers.get("x-api-key", "")
