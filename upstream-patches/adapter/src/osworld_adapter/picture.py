"""How much of the screen changed, from two PNG files and without a picture library."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}


def changed_share(before: bytes, after: bytes) -> float:
    """Share of the rows, 0 to 1, that differ; 1.0 when the two cannot be compared row by row."""
    try:
        rows = list(zip(_rows(before), _rows(after), strict=True))
    except (ValueError, KeyError, struct.error, zlib.error):
        return 1.0
    return sum(old != new for old, new in rows) / len(rows) if rows else 1.0


def _rows(png: bytes) -> Iterator[bytes]:
    """Rows as they are stored: filtered, which keeps equal rows below equal rows equal."""
    if not png.startswith(_SIGNATURE):
        raise ValueError("no PNG")
    chunks = list(_chunks(png))
    width, height, depth, colour, _, _, interlace = struct.unpack(">IIBBBBB", chunks[0][1])
    if depth != 8 or interlace:
        raise ValueError("a PNG of another kind")
    pixels = zlib.decompress(b"".join(content for name, content in chunks if name == b"IDAT"))
    stride = 1 + width * _CHANNELS[colour]
    return (pixels[start : start + stride] for start in range(0, stride * height, stride))


def _chunks(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    at = len(_SIGNATURE)
    while at < len(png):
        length, name = struct.unpack_from(">I4s", png, at)
        yield name, png[at + 8 : at + 8 + length]
        at += 12 + length
