"""Questions to the accessibility bus, many under way at once, as most of a question's time is spent on the way.

An own client, as a tree takes tens of thousands of questions: the general libraries cost five times as much a question.
"""

from __future__ import annotations

import os
import select
import socket
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import unquote

from osworld_guest.accessibility.dbus_wire import decode_reply, encode_call, encode_head, encode_values, message_bytes

_MOST_UNDER_WAY = 256
# An application that answers nothing at all for so long is taken as hung and not asked again. Being slow is no reason.
_SILENT_SECONDS = 10.0
_CONNECT_SECONDS = 10.0

Answered = Callable[[Any], None]


class BusError(Exception):
    """There is no accessibility bus."""


@dataclass(frozen=True)
class Reference:
    """Names an object: the application's name on the bus and the object's path."""

    application: str
    path: str


@dataclass(frozen=True)
class Question:
    """A method call; its arguments are texts ("s") and numbers ("i", "u") as the signature says.

    The answer is the method's result, or a tuple of all results when there is not exactly one.
    """

    target: Reference
    interface: str
    method: str
    signature: str = ""
    arguments: tuple[int | str, ...] = ()


class Bus(Protocol):
    """Where questions are put."""

    def ask(self, question: Question, answered: Answered) -> None:
        """Calls `answered` later, with the answer or with None when there is none."""

    def run(self, deadline_seconds: float) -> None:
        """Puts questions, including those that answers lead to, until none is left or the time is over."""


ROOT = Reference("org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
NULL_PATH = "/org/a11y/atspi/null"


def connect() -> AccessibilityBus:
    """A connection to the accessibility bus, whose address the session bus tells."""
    answers: list[Any] = []
    try:
        session = AccessibilityBus(os.environ.get("DBUS_SESSION_BUS_ADDRESS", ""))
        session.ask(Question(Reference("org.a11y.Bus", "/org/a11y/bus"), "org.a11y.Bus", "GetAddress"), answers.append)
        session.run(_CONNECT_SECONDS)
        session.close()
        if not answers or not answers[0]:
            raise BusError("There is no accessibility bus: the session bus does not know its address.")
        return AccessibilityBus(answers[0])
    except OSError as problem:
        raise BusError(f"There is no accessibility bus: {problem.strerror or problem}.") from problem


class AccessibilityBus:
    """A connection and its open questions."""

    def __init__(self, address: str) -> None:
        """`address` as D-Bus writes it: "unix:path=..." or "unix:abstract=...", several with semicolons."""
        self._socket = _connected_socket(address)
        self._buffer = bytearray()
        self._serial = 0
        self._waiting: deque[tuple[Question, Answered]] = deque()
        self._under_way: dict[int, tuple[str, Answered]] = {}
        self._hung: set[str] = set()
        # When an application last answered, or was first asked.
        self._heard: dict[str, float] = {}
        self.ask(Question(Reference("org.freedesktop.DBus", "/"), "org.freedesktop.DBus", "Hello"), _ignore)

    def close(self) -> None:
        """Ends the connection."""
        self._socket.close()

    def ask(self, question: Question, answered: Answered) -> None:
        """Calls `answered` later, with the answer or with None when there is none."""
        self._waiting.append((question, answered))

    def run(self, deadline_seconds: float) -> None:
        """Puts questions, including those that answers lead to, until none is left or the time is over."""
        deadline = time.monotonic() + deadline_seconds
        while (self._waiting or self._under_way) and time.monotonic() < deadline:
            self._put()
            readable, _, _ = select.select([self._socket], [], [], 0.5 if self._under_way else 0)
            if readable:
                self._receive()
            else:
                self._give_up_silent()

    def _put(self) -> None:
        messages = []
        while self._waiting and len(self._under_way) < _MOST_UNDER_WAY:
            question, answered = self._waiting.popleft()
            application = question.target.application
            if application in self._hung:
                answered(None)
                continue
            self._heard.setdefault(application, time.monotonic())
            self._serial += 1
            self._under_way[self._serial] = (application, answered)
            head = encode_head(application, question.interface, question.method, question.signature)
            body = encode_values(question.signature, question.arguments) if question.signature else b""
            messages.append(encode_call(self._serial, question.target.path, head, body))
        if messages:
            self._socket.sendall(b"".join(messages))

    def _receive(self) -> None:
        piece = self._socket.recv(262144)
        if not piece:
            raise BusError("The accessibility bus ended the connection.")
        self._buffer += piece
        start = 0
        while (size := message_bytes(self._buffer, start)) and start + size <= len(self._buffer):
            self._take(bytes(self._buffer[start : start + size]))
            start += size
        del self._buffer[:start]

    def _take(self, message: bytes) -> None:
        reply = decode_reply(message)
        if reply is None or reply.serial not in self._under_way:
            return
        application, answered = self._under_way.pop(reply.serial)
        self._heard[application] = time.monotonic()
        # Objects come and go while they are read, and not every toolkit knows every method: an error is no answer.
        if reply.is_error:
            answered(None)
        else:
            answered(reply.values[0] if len(reply.values) == 1 else reply.values)

    def _give_up_silent(self) -> None:
        silent_since = time.monotonic() - _SILENT_SECONDS
        waited_for = {application for application, _ in self._under_way.values()}
        self._hung |= {application for application in waited_for if self._heard[application] < silent_since}
        for serial, (application, answered) in list(self._under_way.items()):
            if application in self._hung:
                del self._under_way[serial]
                answered(None)


def _connected_socket(addresses: str) -> socket.socket:
    for address in addresses.split(";"):
        kind, _, settings = address.partition(":")
        pairs = dict(pair.partition("=")[::2] for pair in settings.split(","))
        path = unquote(pairs["path"]) if "path" in pairs else "\0" + unquote(pairs.get("abstract", ""))
        if kind == "unix" and path != "\0":
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(_CONNECT_SECONDS)
            connection.connect(path)
            _authenticate(connection)
            return connection
    raise OSError(f"the bus address {addresses!r} is not understood")


def _authenticate(connection: socket.socket) -> None:
    connection.sendall(b"\0AUTH EXTERNAL " + str(os.getuid()).encode().hex().encode() + b"\r\n")
    line = b""
    while not line.endswith(b"\n"):
        piece = connection.recv(1)
        if not piece:
            raise OSError("the bus refused the connection")
        line += piece
    if not line.startswith(b"OK "):
        raise OSError("the bus refused the user")
    connection.sendall(b"BEGIN\r\n")


def _ignore(_answer: Any) -> None:
    """For questions whose answer does not matter."""
