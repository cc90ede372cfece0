"""A request and an answer, as the routes see them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.message import Message
from typing import Any, BinaryIO
from urllib.parse import parse_qs

from osworld_guest.errors import GuestError
from osworld_guest.http_body import BodyStream
from osworld_guest.multipart import Part, read_parts

_DOCUMENT_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class FileContent:
    """An open file to send, `size` bytes of it; the server closes it."""

    file: BinaryIO
    size: int


@dataclass(frozen=True)
class Answer:
    """What is sent back."""

    status: int
    content_type: str
    content: bytes | FileContent


@dataclass(frozen=True)
class Request:
    """Method, path and headers of a request, and its body still unread."""

    method: str
    path: str
    headers: Message
    body: BodyStream

    def json_object(self) -> dict[str, Any]:
        """The body as a JSON object; anything else is a GuestError (400). The content type is not looked at."""
        raw = self.body.read_all(_DOCUMENT_BYTES)
        try:
            value = json.loads(raw)
        except ValueError as problem:
            raise GuestError(400, f"The request body is not JSON: {problem}.") from problem
        if not isinstance(value, dict):
            raise GuestError(400, "The request body is not a JSON object.")
        return value

    def parts(self) -> Iterator[Part]:
        """The parts of a multipart form, streamed."""
        boundary = self.headers.get_boundary()
        if self.headers.get_content_type() != "multipart/form-data" or not boundary:
            raise GuestError(400, "The request body is not a multipart form.")
        return read_parts(self.body, boundary)

    def form_field(self, name: str) -> str:
        """One text field of an urlencoded or multipart form; a missing or empty one is a GuestError (400)."""
        if value := self._form().get(name):
            return value
        raise GuestError(400, f"The form field {name!r} is missing.")

    def _form(self) -> Mapping[str, str]:
        if self.headers.get_content_type() == "multipart/form-data":
            return {part.name: part.text() for part in self.parts()}
        text = self.body.read_all(_DOCUMENT_BYTES).decode("utf-8", "replace")
        return {name: values[0] for name, values in parse_qs(text).items()}


def json_answer(value: object, status: int = 200) -> Answer:
    """A JSON document."""
    return Answer(status, "application/json", json.dumps(value).encode())


def text_answer(text: str) -> Answer:
    """Plain text."""
    return Answer(200, "text/plain; charset=utf-8", text.encode("utf-8", "replace"))


def error_answer(error: GuestError) -> Answer:
    """The shape of every failure: clients read `message` on some routes and `error` on others."""
    fields = {"status": "error", "message": error.message, "error": error.message, **error.fields}
    return json_answer(fields, error.status)
