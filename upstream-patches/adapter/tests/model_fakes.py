"""A model service on a port of 127.0.0.1: OpenAI's chat and Anthropic's messages interface, scripted."""

from __future__ import annotations

import io
import json
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fakes import Guest, Reply

KEY = "sk-one-attempt"
CHAT = "/v1/chat/completions"
MESSAGES = "/v1/messages"


def picture(width: int = 480, height: int = 270) -> bytes:
    """A real PNG of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = io.BytesIO()
    for _ in range(height):
        rows.write(b"\0" + b"\x20\x40\x60" * width)
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows.getvalue()))
        + chunk(b"IEND", b"")
    )


class Model:
    """Answers each call with the next text, then with the last one for good; keeps what it was asked."""

    def __init__(self, *texts: Any) -> None:
        self.asked: list[dict[str, Any]] = []
        self._texts: Iterator[Any] = iter(texts)
        self._last: Any = ""
        self._server = Guest()
        self._server.routes = {CHAT: self._chat, MESSAGES: self._messages}

    @property
    def environment(self) -> dict[str, str]:
        """As an attempt gets it."""
        address = f"http://127.0.0.1:{self._server.port}"
        return {
            "OPENAI_BASE_URL": f"{address}/v1",
            "OPENAI_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": address,
            "ANTHROPIC_API_KEY": KEY,
        }

    def fail(self, status: int) -> None:
        """From now on every call is answered with this status."""
        body = json.dumps({"error": {"message": "not today", "code": "none"}}).encode()
        self._server.routes = dict.fromkeys((CHAT, MESSAGES), lambda _: (status, body))

    def stop(self) -> None:
        self._server.stop()

    def _next(self, body: bytes) -> Any:
        self.asked.append(json.loads(body))
        self._last = next(self._texts, self._last)
        return self._last

    def _chat(self, body: bytes) -> Reply:
        message = {"role": "assistant", "content": self._next(body)}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        return 200, json.dumps(answer).encode()

    def _messages(self, body: bytes) -> Reply:
        answer = {
            "id": "1",
            "type": "message",
            "role": "assistant",
            "model": "m",
            "content": self._next(body),
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        return 200, json.dumps(answer).encode()


def tool_call(**arguments: Any) -> str:
    """What Qwen's agents read: a sentence and one call."""
    call = json.dumps({"name": "computer_use", "arguments": arguments})
    return f"Action: Do it.\n<tool_call>\n{call}\n</tool_call>"


CLICK = tool_call(action="left_click", coordinate=[500, 250])
DONE = tool_call(action="terminate", status="success")
GATEWAY = {"OSWORLD_MODEL_GATEWAY": "1"}


def by_name(name: str, model: str = "m", **settings: Any) -> dict[str, Any]:
    """Changes of a configuration to one of OSWorld's own agents."""
    agent = {"kind": "upstream", "name": name, "model": model, "settings": settings}
    return {"agent": agent, "record": False}


def trajectory(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "traj.jsonl").read_text().splitlines()]


def notes(folder: Path) -> list[str]:
    found: list[str] = json.loads((folder / "timeline.json").read_text())["notes"]
    return found
