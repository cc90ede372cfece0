"""Reads a request body piece by piece, by length or in chunks, so that its size never matters for memory."""

from __future__ import annotations

from typing import BinaryIO

from osworld_guest.errors import GuestError

_LINE_BYTES = 8192


class BodyStream:
    """The bytes of one request body. `read` gives b"" at the end; a body cut short is a GuestError (400)."""

    def __init__(self, source: BinaryIO, length: int | None) -> None:
        """`length` in bytes, or None for the chunked transfer coding."""
        self._source = source
        self._chunked = length is None
        self._left = length or 0
        self._ended = length == 0
        self._broken = False

    def read(self, size: int) -> bytes:
        """At most `size` bytes; may give fewer before the end."""
        if self._chunked and self._left == 0 and not self._ended:
            self._start_chunk()
        if self._ended:
            return b""
        piece = self._source.read(min(size, self._left))
        if not piece:
            raise self._malformed("The request body ended before it was complete.")
        self._left -= len(piece)
        if self._left == 0:
            self._finish_part()
        return piece

    def read_all(self, limit_bytes: int) -> bytes:
        """The whole body; larger than the limit is a GuestError (413)."""
        pieces = bytearray()
        while piece := self.read(65536):
            pieces += piece
            if len(pieces) > limit_bytes:
                raise GuestError(413, f"The request body is larger than {limit_bytes} bytes.")
        return bytes(pieces)

    def drain(self, limit_bytes: int) -> bool:
        """Reads and forgets the rest; False when more than the limit is left or nobody knows where the body ends."""
        while not self._ended and limit_bytes > 0:
            limit_bytes -= len(self.read(65536))
        return self._ended and not self._broken

    def _start_chunk(self) -> None:
        size_text = self._line().split(b";", 1)[0].strip()
        try:
            self._left = int(size_text, 16)
        except ValueError:
            self._left = -1
        if self._left < 0:
            raise self._malformed("The chunked request body has a malformed chunk size.")
        if self._left == 0:
            while self._line().strip():
                pass
            self._ended = True

    def _finish_part(self) -> None:
        if self._chunked:
            self._line()
        else:
            self._ended = True

    def _line(self) -> bytes:
        line = self._source.readline(_LINE_BYTES)
        if not line.endswith(b"\n"):
            raise self._malformed("The chunked request body is malformed.")
        return line

    def _malformed(self, message: str) -> GuestError:
        self._ended = self._broken = True
        return GuestError(400, message)
