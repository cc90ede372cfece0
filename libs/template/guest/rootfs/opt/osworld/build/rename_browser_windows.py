"""rename_browser_windows.py PAK: "Google Chrome" in the window titles of Chromium.

Set-up steps of OSWorld activate the window by this name. Only these two texts change; what Chromium says about itself
elsewhere stays.

The file format is Chromium's data pack, version 5 (ui/base/resource/data_pack.cc): a header with two counts; one
(number, offset) pair for each resource and one past the end; aliases; the data.
"""

from __future__ import annotations

import struct
import sys
from itertools import pairwise
from pathlib import Path

TEXTS = {b"Chromium": b"Google Chrome", b"$1 - Chromium": b"$1 - Google Chrome"}
VERSION = 5
HEADER = struct.Struct("<IBxxxHH")
ENTRY = struct.Struct("<HI")
ALIAS_SIZE = 4


def renamed(pack: bytes) -> bytes:
    """Return the data pack with the texts replaced; ValueError when it is not as expected."""
    version, encoding, count, alias_count = HEADER.unpack_from(pack)
    if version != VERSION:
        raise ValueError(f"data pack of version {version}, expected {VERSION}")
    entries = [ENTRY.unpack_from(pack, HEADER.size + index * ENTRY.size) for index in range(count + 1)]
    aliases_at = HEADER.size + (count + 1) * ENTRY.size
    data_at = aliases_at + alias_count * ALIAS_SIZE
    texts = [pack[start:end] for (_, start), (_, end) in pairwise(entries)]
    if not TEXTS.keys() <= set(texts):
        raise ValueError(f"the data pack lacks one of {sorted(TEXTS)}")
    table, data = b"", b""
    for (number, _), text in zip(entries, [*texts, b""], strict=True):
        table += ENTRY.pack(number, data_at + len(data))
        data += TEXTS.get(text, text)
    return HEADER.pack(version, encoding, count, alias_count) + table + pack[aliases_at:data_at] + data


if __name__ == "__main__":
    file = Path(sys.argv[1])
    file.write_bytes(renamed(file.read_bytes()))
