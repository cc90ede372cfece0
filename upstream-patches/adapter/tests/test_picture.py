from __future__ import annotations

import struct
import zlib

import pytest

from osworld_adapter.picture import changed_share

WIDTH = 8


def make_png(rows: list[bytes], depth: int = 8) -> bytes:
    """A grey picture of WIDTH pixels a row."""
    pixels = b"".join(b"\0" + row.ljust(WIDTH)[:WIDTH] for row in rows)
    header = struct.pack(">IIBBBBB", WIDTH, len(rows), depth, 0, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(pixels)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I4s", len(content), name) + content + struct.pack(">I", zlib.crc32(name + content))
        for name, content in chunks
    )


SAME = make_png([b"desktop"] * 4)


@pytest.mark.parametrize(
    ("after", "share"),
    [
        (SAME, 0.0),
        (make_png([b"panel", *[b"desktop"] * 3]), 0.25),
        (make_png([b"window"] * 4), 1.0),
        (make_png([b"desktop"] * 5), 1.0),
        (make_png([b"desktop"] * 4, depth=16), 1.0),
        (b"\xff\xd8\xff a JPEG", 1.0),
        (SAME[:40], 1.0),
    ],
)
def test_the_share_of_changed_rows_is_counted_and_what_cannot_be_compared_has_changed(
    after: bytes, share: float
) -> None:
    assert changed_share(SAME, after) == share
