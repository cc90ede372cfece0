"""A small HTTP client that waits for conditions with a deadline."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any


def ask(
    port: int,
    method: str,
    path: str,
    body: bytes | Iterable[bytes] | None = None,
    headers: dict[str, str] | None = None,
) -> tuple[int, bytes]:
    """One request on a connection of its own: status and content."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def post_json(port: int, path: str, value: object) -> tuple[int, Any]:
    """A JSON request: status and the decoded answer, which stays text where it is not JSON."""
    status, content = ask(port, "POST", path, json.dumps(value).encode(), {"Content-Type": "application/json"})
    try:
        return status, json.loads(content)
    except ValueError:
        return status, content.decode()


def multipart(fields: Sequence[tuple[str, str | None, Iterable[bytes]]]) -> tuple[Iterable[bytes], dict[str, str]]:
    """A multipart form as a stream of pieces, and its headers."""

    def pieces() -> Iterable[bytes]:
        for name, file_name, content in fields:
            shown = f'; filename="{file_name}"' if file_name else ""
            yield f'--EDGE\r\nContent-Disposition: form-data; name="{name}"{shown}\r\n\r\n'.encode()
            yield from content
            yield b"\r\n"
        yield b"--EDGE--\r\n"

    return pieces(), {"Content-Type": "multipart/form-data; boundary=EDGE"}


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> None:
    """Polls until the condition holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        time.sleep(0.02)
