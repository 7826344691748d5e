"""The client of tool servers: one thread with an event loop, and on it one task for each server that is in use.

A server is started, or connected to, when it is first needed, and again after it ended. What is asked returns an id at
once, and its outcome is taken later by whoever asked, so that nobody waits.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from os import SEEK_END
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

from app.tools.servers import ChosenTool, ToolServer
from engine import key_of

if TYPE_CHECKING:
    from mcp import Client

CONNECT_S, CALL_S = 30.0, 120.0
"""How long a server may take to answer for the first time, and for a call."""
LONGEST_RESULT = 20_000
"""Characters of a result that the model gets."""
MOST_TOOLS = 512
DETAIL = 2_000
"""Characters of what a server wrote to its error output that are kept for the details of a failure."""

NOT_STARTED = "The tool server {} cannot be started. Check its command."
NOT_REACHED = "The tool server {} cannot be reached. Check that it runs, and its address."
ENDED = "The tool server {} ended, or the connection to it broke. It is started again with the next call."
SAYS = "The tool server {} says:"
ODD_RESULT = "The tool server {} gave back what is no result of this tool:"
TOO_SLOW = "The tool server {} gave no answer in {:.0f} s. Try again, or switch its tools off."
CLOSED = "Headstart is closing."
STOPPED = "The call was stopped."
CUT = "\n[The result is longer: {:,} of {:,} characters are shown.]"
NO_TEXT = "[{} that is no text]"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of something that was asked: the `tools` of a server, the `text` that a tool gave back (`is_error`:
    it says itself that it failed), or why there is neither, in a `sentence` with its `detail`."""

    request_id: int
    tools: tuple[ChosenTool, ...] = ()
    text: str = ""
    is_error: bool = False
    sentence: str = ""
    detail: str = ""


Work = Callable[["Client"], Awaitable[Outcome]]


@dataclass(slots=True)
class _Job:
    request_id: int
    work: Work


@dataclass(slots=True)
class _Connection:
    """A server in use: what waits for it, and the task that looks after it."""

    jobs: asyncio.Queue[_Job] = field(default_factory=asyncio.Queue)
    task: asyncio.Task[None] | None = None


class Connections:
    """Asks servers for their tools and has tools called. `take` gives the outcomes, each once. The thread starts with
    the first thing that is asked."""

    def __init__(self) -> None:
        self._outcomes: deque[Outcome] = deque()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._connections: dict[ToolServer, _Connection] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._running: dict[int, asyncio.Task[Outcome]] = {}
        self._cancelled: set[int] = set()
        self._open: set[int] = set()
        self._next_id = 1
        self._is_closed = False

    @property
    def is_busy(self) -> bool:
        """Whether an outcome is still to come, or to be taken."""
        return bool(self._open)

    def list_tools(self, server: ToolServer) -> int:
        """Ask a server which tools it has."""
        return self._ask(server, lambda client, request_id: _listed(client, request_id, server))

    def call(self, server: ToolServer, called: str, arguments: str) -> int:
        """Have a tool called with these arguments, a JSON object as text. Raises ValueError where they are none."""
        try:
            given: Any = json.loads(arguments)
        except RecursionError as error:  # a model may open brackets for ever
            raise ValueError("the arguments are nested too deeply") from error
        if not isinstance(given, dict):
            raise ValueError("the arguments are no object")
        return self._ask(server, lambda client, request_id: _called(client, request_id, called, given))

    def cancel(self, request_id: int) -> None:
        """Wait no longer for an outcome; it still comes, as one that was stopped."""
        if self._loop is not None and request_id in self._open:
            self._loop.call_soon_threadsafe(self._stop, request_id)

    def take(self) -> list[Outcome]:
        """What has come out since the last time."""
        taken: list[Outcome] = []
        while self._outcomes:
            outcome = self._outcomes.popleft()
            if outcome.request_id in self._open:
                self._open.discard(outcome.request_id)
                taken.append(outcome)
        return taken

    def end(self, server: ToolServer) -> None:
        """Use a server no longer: a process that was started for it ends."""
        if self._loop is not None and not self._is_closed:
            self._loop.call_soon_threadsafe(self._end, server)

    def close(self, timeout_s: float = 8.0) -> bool:
        """End all servers that were started, and the thread; True where it ended. Safe to call twice."""
        self._is_closed = True
        thread, loop = self._thread, self._loop
        if thread is not None and loop is not None and thread.is_alive():
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(loop.stop)
            thread.join(timeout_s)
        return thread is None or not thread.is_alive()

    def _ask(self, server: ToolServer, work: Callable[[Client, int], Awaitable[Outcome]]) -> int:
        request_id, self._next_id = self._next_id, self._next_id + 1
        self._open.add(request_id)
        if self._is_closed:
            self._outcomes.append(Outcome(request_id, sentence=CLOSED))
            return request_id
        job = _Job(request_id, lambda client: work(client, request_id))
        self._started().call_soon_threadsafe(self._queue, server, job)
        return request_id

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._run, args=(self._loop,), name="headstart-tools", daemon=True)
            self._thread.start()
        return self._loop

    # the thread

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
            open_tasks = [one.task for one in self._connections.values() if one.task is not None]
            for task in open_tasks:  # not those that are ending: a second time would break off how a process is ended
                task.cancel()
            loop.run_until_complete(asyncio.gather(*self._ending, *open_tasks, return_exceptions=True))
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()

    def _queue(self, server: ToolServer, job: _Job) -> None:
        connection = self._connections.setdefault(server, _Connection())
        connection.jobs.put_nowait(job)
        if connection.task is None or connection.task.done():
            connection.task = asyncio.ensure_future(self._serve(server, connection.jobs))

    def _end(self, server: ToolServer) -> None:
        connection = self._connections.pop(server, None)
        if connection is not None and connection.task is not None:
            self._ending.add(connection.task)
            connection.task.add_done_callback(self._ending.discard)
            connection.task.cancel()

    def _stop(self, request_id: int) -> None:
        self._cancelled.add(request_id)
        if task := self._running.get(request_id):
            task.cancel()

    async def _serve(self, server: ToolServer, jobs: asyncio.Queue[_Job]) -> None:
        """Do what is asked of a server, connecting anew where it ended and something else waits."""
        while await self._connected(server, jobs):
            pass

    async def _connected(self, server: ToolServer, jobs: asyncio.Queue[_Job]) -> bool:
        """Connect, and do what is asked until the server ends. True where that left something waiting that the server
        never had; where it cannot be connected to, all that waits hears why."""
        with TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
            done = -1
            try:
                async with asyncio.timeout(CONNECT_S) as bound, _client(server, said) as client:
                    bound.reschedule(None)
                    done = 0
                    while await self._do(client, server, await jobs.get()):
                        done += 1
                    done += 1
            except asyncio.CancelledError:
                self._fail_all(jobs, STOPPED, "")
                return False
            except Exception as error:  # whatever a transport raises: each has errors of its own, also in groups
                if done < 1:
                    sentence = ENDED if done == 0 else NOT_REACHED if server.is_address else NOT_STARTED
                    sentence = TOO_SLOW if isinstance(error, TimeoutError) else sentence
                    detail = f"{_reasons(error)}\n{_tail(said)}".strip()
                    self._fail_all(jobs, sentence.format(server.name, CONNECT_S), detail)
            return not jobs.empty()

    async def _do(self, client: Client, server: ToolServer, job: _Job) -> bool:
        """One job; False where the connection is of no use any more."""
        if job.request_id in self._cancelled:
            self._outcomes.append(Outcome(job.request_id, sentence=STOPPED))
            return True
        task = asyncio.ensure_future(asyncio.wait_for(job.work(client), CALL_S))
        self._running[job.request_id] = task
        try:
            self._outcomes.append(await asyncio.shield(task))
        except asyncio.CancelledError:
            self._outcomes.append(Outcome(job.request_id, sentence=STOPPED))
            if not task.cancelled():  # the whole connection is to end
                task.cancel()
                raise
        except TimeoutError:
            self._outcomes.append(Outcome(job.request_id, sentence=TOO_SLOW.format(server.name, CALL_S)))
        except Exception as error:
            is_over = _is_over(error)
            sentence = (ENDED if is_over else SAYS if _is_said(error) else ODD_RESULT).format(server.name)
            why = "" if is_over else f" {_reasons(error)[:300]}"
            self._outcomes.append(Outcome(job.request_id, sentence=sentence + why, detail=repr(error)))
            return not is_over
        finally:
            self._running.pop(job.request_id, None)
        return True

    def _fail_all(self, jobs: asyncio.Queue[_Job], sentence: str, detail: str) -> None:
        while not jobs.empty():
            self._outcomes.append(Outcome(jobs.get_nowait().request_id, sentence=sentence, detail=detail))


@asynccontextmanager
async def _client(server: ToolServer, said: IO[str]) -> AsyncGenerator[Client]:
    """A client that is connected to a server. The key of an address is that of the system's keyring; what a process
    writes to its error output goes to `said`."""
    import httpx2 as httpx
    from mcp import Client, StdioServerParameters, stdio_client
    from mcp.client.streamable_http import streamable_http_client

    if not server.is_address:
        program, *arguments = server.command
        # Strictly decoded, one byte of a log that is no UTF-8 would leave every later answer unread.
        process = StdioServerParameters(command=program, args=arguments, encoding_error_handler="replace")
        started = stdio_client(process, errlog=said)  # type: ignore[arg-type]
        async with Client(started, read_timeout_seconds=CALL_S) as client:
            yield client
        return
    key = key_of(server.place.rstrip("/"))
    headers = {"authorization": f"Bearer {key}"} if key else {}
    async with httpx.AsyncClient(headers=headers, timeout=httpx.Timeout(CONNECT_S, read=CALL_S)) as http:
        reached = streamable_http_client(server.place, http_client=http)
        async with Client(reached, read_timeout_seconds=CALL_S) as client:
            yield client


async def _listed(client: Client, request_id: int, server: ToolServer) -> Outcome:
    found: list[ChosenTool] = []
    cursor: str | None = None
    while True:
        page = await client.list_tools(cursor=cursor, cache_mode="refresh")
        for tool in page.tools:
            parameters = json.dumps(tool.input_schema, ensure_ascii=False)
            found.append(ChosenTool(server.name, tool.name, tool.name, tool.description or "", parameters))
        cursor = page.next_cursor
        if cursor is None or len(found) >= MOST_TOOLS:
            return Outcome(request_id, tools=tuple(found[:MOST_TOOLS]))


async def _called(client: Client, request_id: int, called: str, arguments: dict[str, Any]) -> Outcome:
    result = await client.call_tool(called, arguments)
    text = "\n".join(map(_text_of, result.content))
    if not text and result.structured_content is not None:
        text = json.dumps(result.structured_content, ensure_ascii=False)
    return Outcome(request_id, text=shortened(text), is_error=bool(result.is_error))


def _text_of(part: Any) -> str:
    """What a part of a result says: its text, that of a file that is put into it, or where something lies."""
    if part.type == "text":
        return str(part.text)
    if part.type == "resource_link":
        return f"{part.name}: {part.uri}"
    text = getattr(part.resource, "text", None) if part.type == "resource" else None
    return NO_TEXT.format(part.type) if text is None else str(text)


def shortened(text: str) -> str:
    """A result that is not longer than what a model is given, and says so where it was."""
    whole = len(text)
    return text if whole <= LONGEST_RESULT else text[:LONGEST_RESULT] + CUT.format(LONGEST_RESULT, whole)


def _is_said(error: BaseException) -> bool:
    """Whether an error is an answer of the server. Servers have errors of their own with the number, too, by which the
    client says that there will be none."""
    from mcp import MCPError
    from mcp_types import CONNECTION_CLOSED

    if not isinstance(error, MCPError):
        return False
    return error.code != CONNECTION_CLOSED or not str(error).startswith(("Connection closed", "SSE stream"))


def _is_over(error: BaseException) -> bool:
    """Whether an error means that the connection is gone, and not only that a call failed, or that what it gave back is
    not what the protocol, or the tool's own schema, says."""
    return not (_is_said(error) or isinstance(error, RuntimeError | ValueError))


def _reasons(error: BaseException) -> str:
    """What an error says, and each of a group of them."""
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(_reasons(each) for each in error.exceptions)
    return str(error) or repr(error)


def _tail(said: IO[str]) -> str:
    said.seek(max(0, said.seek(0, SEEK_END) - 4 * DETAIL))  # it may be gigabytes
    return said.read()[-DETAIL:]
