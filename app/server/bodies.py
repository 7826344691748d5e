"""The JSON of a call: read within its limits, and compared with what openapi.json says of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from jsonschema import Draft202012Validator, ValidationError
from starlette.requests import Request as Call

from app.server.access import Access
from app.server.errors import ApiError
from app.server.guard import too_large

TOO_SLOW = "The body did not arrive in time. Send it again."
NO_OBJECT = "The body is no JSON object. Send one, as /openapi.json describes."
NOT_KNOWN = "{} is not known here: leave it out. /openapi.json says what is."
_SCHEMAS = "#/components/schemas/"
LONGEST = 200
"""Characters of a validator's sentence that are repeated."""


@cache
def description() -> dict[str, Any]:
    """The OpenAPI description of the server, which is also what bodies are checked by."""
    text = (files("resources") / "server" / "openapi.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


async def read_body(call: Call, access: Access, schema: str) -> dict[str, Any]:
    """The body of a call, which fits `schema`, a name among the components of openapi.json. Fields that are null are
    left out. Raises ApiError with a sentence where it does not fit, is too long, or comes too slowly."""
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(access.limits.body_s):
            async for piece in call.stream():
                size += len(piece)
                if size > access.limits.body_bytes:
                    raise too_large(access)
                pieces.append(piece)
    except TimeoutError as error:
        raise ApiError(408, TOO_SLOW) from error
    body = parsed(b"".join(pieces))
    check(body, schema)
    return {name: value for name, value in body.items() if value is not None}


def parsed(text: bytes) -> dict[str, Any]:
    """A JSON object. Raises ApiError."""
    try:
        body = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise ApiError(400, NO_OBJECT) from error
    if not isinstance(body, dict):
        raise ApiError(400, NO_OBJECT)
    return body


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def check(body: dict[str, Any], schema: str) -> None:
    """Raise ApiError for the first thing in which a body does not fit."""
    try:
        error = next(_validator(schema).iter_errors(body), None)
    except RecursionError as problem:
        raise ApiError(400, NO_OBJECT) from problem
    if error is not None:
        raise _refusal(error, schema)


@cache
def _validator(schema: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": _SCHEMAS + schema, "components": description()["components"]})


def _refusal(error: ValidationError, schema: str) -> ApiError:
    """The sentence that stands in the schema for this place, or the validator's own."""
    param = ".".join(str(part) for part in error.absolute_path)
    if sentence := _sentence_at(schema, error.absolute_schema_path):
        return ApiError(400, sentence, param=param or None)
    if error.validator == "additionalProperties":
        named = ", ".join(sorted(error.instance.keys() - error.schema["properties"].keys()))[:LONGEST]
        return ApiError(400, NOT_KNOWN.format(named), param=named)
    said = error.message if len(error.message) <= LONGEST else error.message[: LONGEST - 1] + "…"
    return ApiError(400, f"{param or 'The body'}: {said}.", param=param or None)


def _sentence_at(schema: str, path: Iterable[str | int]) -> str:
    """The innermost `x-refusal` on the way to a place in a schema of the description."""
    found = ""
    at: Any = {"$ref": _SCHEMAS + schema}
    for part in path:
        while part not in at and "$ref" in at:  # a reference is no step of the way
            at = description()["components"]["schemas"][at["$ref"].removeprefix(_SCHEMAS)]
            found = at.get("x-refusal", found)
        at = at[part]
        if isinstance(at, dict):
            found = at.get("x-refusal", found)
    return found
