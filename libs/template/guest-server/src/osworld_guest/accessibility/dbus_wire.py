"""The bytes of D-Bus messages (D-Bus Specification 0.41, "Message Protocol"), as far as method calls need them."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

# Decodes one value at an offset: the value and the offset behind it. The byte order is "<" or ">".
_Decoder = Callable[[bytes, int, str], tuple[Any, int]]

METHOD_RETURN = 2
ERROR = 3
FIXED_HEADER_BYTES = 16
_PATH, _INTERFACE, _MEMBER, _REPLY_SERIAL, _DESTINATION, _SIGNATURE = 1, 2, 3, 5, 6, 8
_NUMBERS = {"y": "B", "n": "h", "q": "H", "i": "i", "u": "I", "x": "q", "t": "Q", "d": "d", "b": "I", "h": "I"}


@dataclass(frozen=True)
class Reply:
    """An answer to the call with that serial; an error has no values."""

    serial: int
    is_error: bool
    values: tuple[Any, ...]


def encode_call(serial: int, path: str, head: bytes, body: bytes) -> bytes:
    """A method call; `head` is what `encode_head` made, `body` what `encode_values` made."""
    fields = _text_field(_PATH, "o", path) + head
    padding = -len(fields) % 8
    return struct.pack("<4sIII", b"l\1\0\1", len(body), serial, len(fields)) + fields + b"\0" * padding + body


@lru_cache(maxsize=4096)
def encode_head(destination: str, interface: str, method: str, signature: str) -> bytes:
    """The header fields of a call that do not depend on the object."""
    head = _text_field(_INTERFACE, "s", interface) + _text_field(_MEMBER, "s", method)
    if signature:
        head += struct.pack("<B3sB", _SIGNATURE, b"\1g\0", len(signature)) + signature.encode() + b"\0"
        head += b"\0" * (-len(head) % 8)
    # Last and unpadded, as the padding behind the last field does not count as part of the fields.
    return head + _text_field(_DESTINATION, "s", destination, pad=False)


def encode_values(signature: str, values: tuple[int | str, ...]) -> bytes:
    """A body of texts ("s") and 32 bit numbers ("i", "u")."""
    body = bytearray()
    for kind, value in zip(signature, values, strict=True):
        body += b"\0" * (-len(body) % 4)
        body += _text(value) if isinstance(value, str) else struct.pack("<i" if kind == "i" else "<I", value)
    return bytes(body)


def message_bytes(buffer: bytearray, start: int) -> int:
    """How many bytes the message at an offset has, 0 when even its fixed header is not there yet."""
    if len(buffer) - start < FIXED_HEADER_BYTES:
        return 0
    order = "<" if buffer[start] == ord("l") else ">"
    body, _, fields = struct.unpack_from(order + "III", buffer, start + 4)
    return int(FIXED_HEADER_BYTES + fields + -fields % 8 + body)


def decode_reply(message: bytes) -> Reply | None:
    """The reply that a message is, or None when it is something else."""
    kind = message[1]
    if kind not in (METHOD_RETURN, ERROR):
        return None
    order = "<" if message[0] == ord("l") else ">"
    serial, signature = 0, ""
    end: int = FIXED_HEADER_BYTES + struct.unpack_from(order + "I", message, 12)[0]
    offset = FIXED_HEADER_BYTES
    while offset < end:
        code = message[offset]
        value, offset = _variant(message, offset + 1, order)
        offset += -offset % 8
        if code == _REPLY_SERIAL:
            serial = value
        elif code == _SIGNATURE:
            signature = value
    body = message[end + -end % 8 :]
    values = () if kind == ERROR else _decoder(f"({signature})")(body, 0, order)[0]
    return Reply(serial, kind == ERROR, values)


def _text(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack("<I", len(encoded)) + encoded + b"\0"


def _text_field(code: int, kind: str, text: str, *, pad: bool = True) -> bytes:
    field = struct.pack("<BB2s", code, 1, kind.encode() + b"\0") + _text(text)
    return field + b"\0" * (-len(field) % 8) if pad else field


@lru_cache(maxsize=256)
def _decoder(signature: str) -> _Decoder:
    decoder, rest = _parse(signature)
    if rest:
        raise ValueError(f"the signature {signature!r} is not one type")
    return decoder


def _parse(signature: str) -> tuple[_Decoder, str]:
    kind, rest = signature[0], signature[1:]
    if kind in _NUMBERS:
        return _number(_NUMBERS[kind]), rest
    if kind in "so":
        return _string, rest
    if kind == "g":
        return _signature, rest
    if kind == "v":
        return _variant, rest
    if kind == "a":
        element, after = _parse(rest)
        return _array(element, rest[0]), after
    members = []
    while rest[0] not in ")}":
        member, rest = _parse(rest)
        members.append(member)
    return _struct(members), rest[1:]


def _number(code: str) -> _Decoder:
    size = struct.calcsize("<" + code)
    readers = {order: struct.Struct(order + code) for order in "<>"}

    def decode(data: bytes, offset: int, order: str) -> tuple[Any, int]:
        offset += -offset % size
        return readers[order].unpack_from(data, offset)[0], offset + size

    return decode


def _string(data: bytes, offset: int, order: str) -> tuple[Any, int]:
    offset += -offset % 4
    start = offset + 4
    end = start + int.from_bytes(data[offset:start], "little" if order == "<" else "big")
    return data[start:end].decode("utf-8", "replace"), end + 1


def _signature(data: bytes, offset: int, order: str) -> tuple[Any, int]:
    end = offset + 1 + data[offset]
    return data[offset + 1 : end].decode("ascii"), end + 1


def _variant(data: bytes, offset: int, order: str) -> tuple[Any, int]:
    signature, offset = _signature(data, offset, order)
    return _decoder(signature)(data, offset, order)


def _array(element: _Decoder, kind: str) -> _Decoder:
    alignment = 8 if kind in "({xtd" else struct.calcsize(_NUMBERS[kind]) if kind in _NUMBERS else 4
    if kind in "gv":
        alignment = 1

    def decode(data: bytes, offset: int, order: str) -> tuple[Any, int]:
        offset += -offset % 4
        size = struct.unpack_from(order + "I", data, offset)[0]
        offset += 4
        offset += -offset % alignment
        end, values = offset + size, []
        while offset < end:
            value, offset = element(data, offset, order)
            values.append(value)
        return (dict(values) if kind == "{" else values), end

    return decode


def _struct(members: list[_Decoder]) -> _Decoder:
    def decode(data: bytes, offset: int, order: str) -> tuple[Any, int]:
        offset += -offset % 8
        values = []
        for member in members:
            value, offset = member(data, offset, order)
            values.append(value)
        return tuple(values), offset

    return decode
