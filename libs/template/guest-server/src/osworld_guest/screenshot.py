"""A frame of the screen as a PNG picture, cursor included."""

from __future__ import annotations

import io
import struct

from PIL import Image

from osworld_guest.display import Cursor, Frame


def encode_png(frame: Frame) -> bytes:
    """The picture; little compression, as it is made many times and sent over a short way."""
    picture = Image.frombuffer("RGB", (frame.width, frame.height), frame.pixels, "raw", "BGRX", 0, 1)
    if frame.cursor is not None and frame.cursor.width and frame.cursor.height:
        _draw_cursor(picture, frame.cursor)
    target = io.BytesIO()
    picture.save(target, "PNG", compress_level=1)
    return target.getvalue()


def _draw_cursor(picture: Image.Image, cursor: Cursor) -> None:
    size = (cursor.width, cursor.height)
    # An X long may be wider than the 32 bits that count.
    words = struct.pack(f"<{len(cursor.pixels)}I", *(pixel & 0xFFFFFFFF for pixel in cursor.pixels))
    blue, green, red, alpha = Image.frombytes("RGBA", size, words).split()
    overlay = Image.merge("RGBa", (red, green, blue, alpha)).convert("RGBA")
    picture.paste(overlay, (cursor.left, cursor.top), overlay)
