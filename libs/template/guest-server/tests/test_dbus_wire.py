"""Messages byte by byte."""

from __future__ import annotations

import struct

import pytest

from osworld_guest.accessibility.dbus_wire import (
    Reply,
    decode_reply,
    encode_call,
    encode_head,
    encode_values,
    message_bytes,
)


def reply(order: str, kind: int, signature: bytes, body: bytes) -> bytes:
    """An answer to the call 7, in either byte order."""
    fields = struct.pack(order + "B3sI", 5, b"\1u\0", 7)
    fields += struct.pack("B3sB", 8, b"\1g\0", len(signature)) + signature + b"\0"
    head = struct.pack(order + "cBBBIII", b"l" if order == "<" else b"B", kind, 0, 1, len(body), 99, len(fields))
    return head + fields + b"\0" * (-len(fields) % 8) + body


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_reply_is_decoded_in_both_byte_orders(order: str) -> None:
    text = struct.pack(order + "I", 2) + b"ab\0"
    # An array of (text, path) beginning at 8, 11 bytes of a text, padding, a path; then a variant of a number.
    pair = text + b"\0" + struct.pack(order + "I", 1) + b"/\0"
    body = struct.pack(order + "II", len(pair), 0) + pair
    body += b"\1i\0" + b"\0" * (-(len(body) + 3) % 4) + struct.pack(order + "i", -5)
    assert decode_reply(reply(order, 2, b"a(so)v", body)) == Reply(7, False, ([("ab", "/")], -5))


def test_an_error_has_no_values() -> None:
    assert decode_reply(reply("<", 3, b"s", struct.pack("<I", 1) + b"x\0")) == Reply(7, True, ())


def test_a_signal_is_no_reply() -> None:
    assert decode_reply(reply("<", 4, b"", b"")) is None


def test_an_empty_dictionary_is_padded_to_its_elements() -> None:
    assert decode_reply(reply("<", 2, b"a{ss}u", struct.pack("<III", 0, 0, 3))) == Reply(7, False, ({}, 3))


def test_a_call_has_the_length_that_its_header_tells() -> None:
    head = encode_head(":1.2", "org.example.Interface", "Method", "si")
    call = encode_call(3, "/a/b", head, encode_values("si", ("abc", -1)))
    assert message_bytes(bytearray(b"xx" + call), 2) == len(call)
    assert call.endswith(struct.pack("<I", 3) + b"abc\0" + struct.pack("<i", -1))
    assert message_bytes(bytearray(call[:10]), 0) == 0
