"""A server of tools that keeps to no rules: what it says is written down here as it is sent, not made by a library.
`python -m tests.app.tools.odd_server`."""

from __future__ import annotations

import json
import sys
from typing import Any

SHAPE = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
TOOLS = [
    {"name": "shaped", "inputSchema": {"type": "object"}, "outputSchema": SHAPE},
    *({"name": name, "inputSchema": {"type": "object"}} for name in ("closed", "parts", "noise", "nonsense")),
]
PARTS = [
    {"type": "image", "data": "aGFsbG8=", "mimeType": "image/png"},
    {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "what a.txt says"}},
    {"type": "resource", "resource": {"uri": "file:///a.bin", "blob": "aGFsbG8="}},
    {"type": "resource_link", "uri": "file:///b.txt", "name": "b"},
]


def _call(name: str) -> dict[str, Any]:
    """The answer to a call of a tool."""
    if name == "shaped":
        return {"result": {"content": [{"type": "text", "text": "1"}], "structuredContent": {"a": "x"}}}
    if name == "closed":
        return {"error": {"code": -32000, "message": "The shop is closed on Sundays"}}
    if name == "nonsense":
        return {"result": {"content": "none"}}
    if name == "noise":
        for number in range(300):
            print(f"line {number} of a log", flush=True)
        sys.stdout.buffer.write(b"na\xefve\n")
        sys.stderr.write("and more" * 100_000)
    return {"result": {"content": PARTS if name == "parts" else [{"type": "text", "text": "done"}]}}


def _answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        kept = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}}
        return {"result": {**kept, "serverInfo": {"name": "odd", "version": "1"}}}
    if method == "tools/list":
        return {"result": {"tools": TOOLS}}
    if method == "tools/call":
        return _call(params["name"])
    return {"error": {"code": -32601, "message": "Method not found"}}


if __name__ == "__main__":
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:
            answer = _answer(asked["method"], asked.get("params") or {})
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
