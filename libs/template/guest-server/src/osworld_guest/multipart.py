"""Splits a multipart/form-data body (RFC 7578) while it arrives."""

from __future__ import annotations

from collections.abc import Iterator
from email.message import Message
from email.parser import BytesParser

from osworld_guest.errors import GuestError
from osworld_guest.http_body import BodyStream

_PIECE_BYTES = 262144
_HEADER_BYTES = 16384


class Part:
    """One field: its name, its file name or None, and its bytes, which must be read before the next part is taken."""

    def __init__(self, name: str, file_name: str | None, pieces: Iterator[bytes]) -> None:
        self.name = name
        self.file_name = file_name
        self.pieces = pieces

    def text(self, limit_bytes: int = 65536) -> str:
        """The field as text."""
        content = bytearray()
        for piece in self.pieces:
            content += piece
            if len(content) > limit_bytes:
                raise GuestError(413, f"The form field {self.name!r} is larger than {limit_bytes} bytes.")
        return content.decode("utf-8", "replace")


def read_parts(body: BodyStream, boundary: str) -> Iterator[Part]:
    """The parts of a body in their order; what a caller leaves unread of a part is passed over."""
    splitter = _Splitter(body, boundary)
    splitter.skip_preamble()
    while splitter.at_part():
        headers = splitter.headers()
        name = headers.get_param("name", header="content-disposition")
        if not isinstance(name, str):
            raise GuestError(400, "A part of the form has no name.")
        file_name = headers.get_filename()
        pieces = splitter.pieces()
        yield Part(name, file_name, pieces)
        for _ in pieces:
            pass


class _Splitter:
    def __init__(self, body: BodyStream, boundary: str) -> None:
        self._body = body
        self._delimiter = b"\r\n--" + boundary.encode("latin-1", "replace")
        # The first delimiter has no line break before it: an imagined one makes all delimiters alike.
        self._buffer = bytearray(b"\r\n")

    def skip_preamble(self) -> None:
        for _ in self.pieces():
            pass

    def at_part(self) -> bool:
        """Reads what follows a delimiter: a line break starts a part, two dashes end the form."""
        self._fill(2)
        mark = bytes(self._buffer[:2])
        del self._buffer[:2]
        if mark not in (b"\r\n", b"--"):
            raise GuestError(400, "The form has a malformed boundary line.")
        return mark == b"\r\n"

    def headers(self) -> Message:
        end = self._buffer.find(b"\r\n\r\n")
        while end < 0:
            if len(self._buffer) > _HEADER_BYTES:
                raise GuestError(400, "A part of the form has too long headers.")
            self._fill(len(self._buffer) + 1)
            end = self._buffer.find(b"\r\n\r\n")
        raw = bytes(self._buffer[: end + 4])
        # The line break stays: it begins the delimiter of a part without content.
        del self._buffer[: end + 4]
        return BytesParser().parsebytes(raw, headersonly=True)

    def pieces(self) -> Iterator[bytes]:
        """Everything up to the next delimiter, which is taken off too."""
        kept = len(self._delimiter) - 1
        while (end := self._buffer.find(self._delimiter)) < 0:
            if len(self._buffer) > kept:
                yield bytes(self._buffer[:-kept])
                del self._buffer[:-kept]
            self._fill(len(self._buffer) + 1)
        if end:
            yield bytes(self._buffer[:end])
        del self._buffer[: end + len(self._delimiter)]

    def _fill(self, wanted_bytes: int) -> None:
        while len(self._buffer) < wanted_bytes:
            piece = self._body.read(_PIECE_BYTES)
            if not piece:
                raise GuestError(400, "The form ended without its closing boundary.")
            self._buffer += piece
