"""What is wrong with a call, in a sentence, and the JSON that each API has for it. No path and no trace goes out."""

from __future__ import annotations

import math
from typing import Any

from starlette.responses import JSONResponse

from engine import Failed

ANTHROPIC = "/v1/messages"
"""Paths that begin so have Anthropic's shape; all others OpenAI's."""

KINDS = {
    400: ("invalid_request_error", "invalid_request_error"),
    401: ("authentication_error", "invalid_request_error"),
    403: ("permission_error", "invalid_request_error"),
    404: ("not_found_error", "invalid_request_error"),
    405: ("invalid_request_error", "invalid_request_error"),
    408: ("timeout_error", "invalid_request_error"),
    413: ("request_too_large", "invalid_request_error"),
    415: ("invalid_request_error", "invalid_request_error"),
    431: ("invalid_request_error", "invalid_request_error"),
    429: ("rate_limit_error", "rate_limit_error"),
    503: ("overloaded_error", "server_error"),
}
"""For each HTTP status the type of the error as Anthropic and as OpenAI name it."""

OTHERS = ("api_error", "server_error")


class ApiError(Exception):
    """A call that is refused. `str(error)` is one sentence; `param` names the field that is meant, `code` is a word for
    programs; `retry_s` says when it may be tried again."""

    def __init__(
        self, status: int, sentence: str, *, param: str | None = None, code: str | None = None, retry_s: float = 0.0
    ) -> None:
        super().__init__(sentence)
        self.status = status
        self.param = param
        self.code = code
        self.retry_s = retry_s

    def content(self, path: str) -> dict[str, Any]:
        """The error as the API of this path has it."""
        anthropic, openai = KINDS.get(self.status, OTHERS)
        if path.startswith(ANTHROPIC):
            return {"type": "error", "error": {"type": anthropic, "message": str(self)}}
        return {"error": {"message": str(self), "type": openai, "param": self.param, "code": self.code}}

    def response(self, path: str) -> JSONResponse:
        """The same as a whole answer."""
        headers = {"Retry-After": str(math.ceil(self.retry_s))} if self.retry_s else {}
        if self.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        return JSONResponse(self.content(path), self.status, headers)


def refusal(failed: Failed) -> ApiError:
    """Why the engine did not answer, without its details: these may hold paths."""
    if failed.is_refused:
        return ApiError(400, failed.sentence)
    return ApiError(503 if failed.is_model_gone else 500, failed.sentence)
