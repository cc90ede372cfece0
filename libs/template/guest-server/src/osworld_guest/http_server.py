"""The HTTP side: threads, keep-alive, streaming; the routes are given as a table."""

from __future__ import annotations

import socketserver
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.parse import urlsplit

from osworld_guest.errors import GuestError
from osworld_guest.http_body import BodyStream
from osworld_guest.messages import Answer, FileContent, Request, error_answer

Route = Callable[[Request], Answer]
# Path to the method it answers and the function that does.
RouteTable = Mapping[str, tuple[str, Route]]

_IDLE_SECONDS = 600
_DRAINED_BYTES = 64 * 1024 * 1024
_PIECE_BYTES = 262144


class GuestServer(ThreadingHTTPServer):
    """A thread a connection; all threads end with the process."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], routes: RouteTable) -> None:
        self.routes = routes
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        # Without the parent's look-up of the host's full name, which can block for seconds without a network.
        self.allow_reuse_address = True
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "localhost", int(self.server_address[1])

    def handle_error(self, request: Any, client_address: Any) -> None:
        problem = sys.exc_info()[1]
        if not isinstance(problem, OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "osworld-guest"
    disable_nagle_algorithm = True
    timeout = _IDLE_SECONDS
    wbufsize = 65536

    def do_GET(self) -> None:
        started = time.monotonic()
        body: BodyStream | None = None
        try:
            body = self._body()
            answer = self._answer(body)
        except GuestError as error:
            answer = error_answer(error)
        self._finish_body(body)
        self._send(answer)
        self._note(answer.status, time.monotonic() - started)

    do_POST = do_PUT = do_DELETE = do_HEAD = do_OPTIONS = do_PATCH = do_GET

    def _answer(self, body: BodyStream) -> Answer:
        path = urlsplit(self.path).path
        method, route = cast(GuestServer, self.server).routes.get(path, (None, None))
        if method is None or route is None:
            raise GuestError(404, f"There is no route {path!r}.")
        asked = "GET" if self.command == "HEAD" else self.command
        if asked != method:
            raise GuestError(405, f"The route {path!r} answers {method} only.")
        try:
            return route(Request(asked, path, self.headers, body))
        except GuestError:
            raise
        except Exception as problem:
            if not isinstance(problem, OSError):
                traceback.print_exc()
            raise GuestError(500, f"The request failed: {type(problem).__name__}: {problem}.") from problem

    def _body(self) -> BodyStream:
        if self.headers.get("Transfer-Encoding", "identity").strip().lower() == "chunked":
            return BodyStream(cast(Any, self.rfile), None)
        text = self.headers.get("Content-Length", "0").strip()
        if not (text.isascii() and text.isdigit()):
            raise GuestError(400, "The Content-Length header is not a number.")
        return BodyStream(cast(Any, self.rfile), int(text))

    def _finish_body(self, body: BodyStream | None) -> None:
        """The next request of the connection begins after this body, or the connection ends."""
        try:
            if body is None or not body.drain(_DRAINED_BYTES):
                self.close_connection = True
        except GuestError:
            self.close_connection = True

    def _send(self, answer: Answer) -> None:
        content = answer.content
        size = content.size if isinstance(content, FileContent) else len(content)
        self.send_response_only(answer.status)
        self.send_header("Content-Type", answer.content_type)
        self.send_header("Content-Length", str(size))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if isinstance(content, FileContent):
            with content.file:
                self._send_file(content)
        elif self.command != "HEAD":
            self.wfile.write(content)
        self.wfile.flush()

    def _send_file(self, content: FileContent) -> None:
        left = 0 if self.command == "HEAD" else content.size
        while left and (piece := content.file.read(min(_PIECE_BYTES, left))):
            self.wfile.write(piece)
            left -= len(piece)
        if left:
            # The file shrank while it was sent: only an ended connection tells the client that bytes are missing.
            self.close_connection = True

    def _note(self, status: int, seconds: float) -> None:
        sys.stderr.write(f"{self.command} {urlsplit(self.path).path} {status} {seconds * 1000:.0f} ms\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are noted by `_note`; the parent's lines would double them."""
