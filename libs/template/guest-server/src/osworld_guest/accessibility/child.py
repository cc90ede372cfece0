"""The child process: `python3 -m osworld_guest.accessibility.child tree|terminal` writes one JSON object."""

from __future__ import annotations

import json
import sys

from osworld_guest.accessibility.bus import BusError, connect
from osworld_guest.accessibility.terminal import TERMINAL_APPLICATION, focused_terminal_text
from osworld_guest.accessibility.tree_xml import tree_to_xml
from osworld_guest.accessibility.walk import Limits, Walk

# The deadline is below the parent's: what was read until then is better than nothing. Not every page comes at last:
# Chromium keeps the empty document when it goes from a page to about:blank.
_LIMITS = Limits(deadline_seconds=60.0, page_seconds=5.0)


def main(subject: str) -> int:
    """Returns 0, or 1 with a sentence on standard error."""
    # Trees of web pages are deeper than the interpreter's default; the walk itself does not recurse.
    sys.setrecursionlimit(10_000)
    wanted = TERMINAL_APPLICATION if subject == "terminal" else None
    try:
        desktop = Walk(connect(), application=wanted).read(_LIMITS)
    except BusError as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    text = focused_terminal_text(desktop) if subject == "terminal" else tree_to_xml(desktop)
    json.dump({"text": text}, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
