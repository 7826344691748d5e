"""Which call goes where: the routes of the server around one desk."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request as Call
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from app.prices import Bill, services
from app.server import anthropic_messages, cache_calls, openai_chat, openai_responses, openai_text
from app.server.access import Access
from app.server.asking import Body
from app.server.bodies import description, read_body
from app.server.clients import client_name
from app.server.desk import Desk
from app.server.errors import ApiError
from app.server.guard import BROKEN, Guard
from app.server.streams import while_heard

Answering = Callable[[Call, Desk, Body], Awaitable[Response]]
Telling = Callable[[Call, Desk, Body], Awaitable[dict[str, Any]]]

NO_PATH = "There is no such address here. /openapi.json says what there is."
NO_METHOD = "This address does not take {}. /openapi.json says what it takes."
NO_BLOCK = "Name the run of the tree by the number that GET /v1/cache gives as block."


def build(desk: Desk, access: Access) -> Guard:
    """The whole server as an ASGI application."""
    handlers = {HTTPException: _not_served, ApiError: _refused, Exception: _broken}
    app = Starlette(routes=_routes(desk, access), exception_handlers=handlers)
    app.router.redirect_slashes = False
    return Guard(app, access)


def _routes(desk: Desk, access: Access) -> list[Route]:
    def post(path: str, schema: str, answer: Answering) -> Route:
        async def call_it(call: Call) -> Response:
            return await answer(call, desk, await read_body(call, access, schema))

        return Route(path, call_it, methods=["POST"])

    def tell(path: str, schema: str, find: Telling) -> Route:
        async def answer(call: Call, desk: Desk, body: Body) -> Response:
            return JSONResponse(await while_heard(call, find(call, desk, body)))

        return post(path, schema, answer)

    def get(path: str, show: Callable[[Call], Response]) -> Route:
        async def call_it(call: Call) -> Response:
            return show(call)

        return Route(path, call_it, methods=["GET"])

    return [
        post("/v1/chat/completions", "ChatRequest", openai_chat.answer),
        post("/v1/completions", "CompletionRequest", openai_text.answer),
        post("/v1/responses", "ResponsesRequest", openai_responses.answer),
        post("/v1/messages", "MessagesRequest", anthropic_messages.answer),
        tell("/v1/messages/count_tokens", "CountTokensRequest", anthropic_messages.count),
        tell("/tokenize", "TokenizeRequest", cache_calls.tokenize),
        tell("/v1/cache/prewarm", "PrewarmRequest", cache_calls.prewarm),
        get("/v1/models", lambda call: JSONResponse({"object": "list", "data": _models(desk)})),
        get("/v1/models/{model:path}", partial(_model, desk)),
        get("/v1/cache", lambda call: JSONResponse(cache_calls.shown_cache(desk.view()))),
        get("/v1/cache/requests", lambda call: JSONResponse(_requests(desk))),
        Route("/v1/cache", partial(_clear, desk), methods=["DELETE"]),
        Route("/v1/cache/{block}", partial(_drop, desk), methods=["DELETE"]),
        get("/metrics", lambda call: PlainTextResponse(cache_calls.metrics(desk.record, desk.view()))),
        get("/openapi.json", lambda call: JSONResponse(description())),
        get("/health", lambda call: JSONResponse({"status": "ok" if desk.model else "loading"})),
        get("/", lambda call: _page("page.html", "text/html")),
        get("/page.js", lambda call: _page("page.js", "text/javascript")),
    ]


def _models(desk: Desk) -> list[dict[str, Any]]:
    return [cache_calls.models(desk.model)] if desk.model else []


def _model(desk: Desk, call: Call) -> Response:
    model = desk.loaded()
    if call.path_params["model"] != model.name:
        raise ApiError(404, "This model is not here. /v1/models says which is.", code="model_not_found")
    return JSONResponse(cache_calls.models(model))


def _requests(desk: Desk) -> dict[str, Any]:
    """The last requests, and what all of them would have cost at hosted APIs."""
    hosted = [
        {"service": each.name, "prices_of": each.as_of, **desk.record.hosted.get(each.name, Bill())._asdict()}
        for each in services()
    ]
    return {"object": "list", "data": _last(desk), "hosted_usd": hosted}


def _last(desk: Desk) -> list[dict[str, Any]]:
    shown = [asked.shown() for asked in reversed(desk.record.last)]
    return [{**each, "client": client_name(each["client"])} for each in shown]


async def _clear(desk: Desk, call: Call) -> Response:
    return JSONResponse(cache_calls.shown_cache(await while_heard(call, desk.clear_cache())))


async def _drop(desk: Desk, call: Call) -> Response:
    block = call.path_params["block"]
    if not (block.removeprefix("-").isdecimal() and block.isascii() and len(block) < 20):
        raise ApiError(400, NO_BLOCK, param="block")
    return JSONResponse(cache_calls.shown_cache(await while_heard(call, desk.drop(int(block)))))


def _page(name: str, kind: str) -> Response:
    return Response((files("resources") / "server" / name).read_text("utf-8"), media_type=kind)


async def _refused(call: Call, problem: Exception) -> Response:
    assert isinstance(problem, ApiError)
    return problem.response(call.url.path)


async def _broken(call: Call, problem: Exception) -> Response:
    """What nobody expected: the log has it, the caller a sentence."""
    return ApiError(500, BROKEN).response(call.url.path)


async def _not_served(call: Call, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)
    sentence = NO_METHOD.format(call.method[:20]) if problem.status_code == 405 else NO_PATH
    response = ApiError(problem.status_code, sentence).response(call.url.path)
    response.headers.update(problem.headers or {})
    return response
