"""Reads the accessibility bus in a child process: a hung application can hang the child, not the server."""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path
from typing import Literal

from osworld_guest.errors import GuestError
from osworld_guest.processes import Finished, LimitReached, Run, run

Subject = Literal["tree", "terminal"]

_CHILD_SECONDS = 90.0
_TURN_SECONDS = 180.0


class AccessibilityReader:
    """Serialises the reads. A child for each, as a lasting one would keep stale objects."""

    def __init__(self) -> None:
        self._turn = threading.Lock()

    def read(self, subject: Subject) -> str | None:
        """The tree as XML, or the focused terminal's text (None: no terminal has the focus)."""
        if not self._turn.acquire(timeout=_TURN_SECONDS):
            raise GuestError(500, "The accessibility bus is busy with earlier requests.")
        try:
            finished = _run_child(subject)
        finally:
            self._turn.release()
        if finished.returncode != 0:
            reason = (finished.error.strip().splitlines() or ["no reason given"])[-1]
            raise GuestError(500, f"The accessibility tree cannot be read: {reason}")
        text = json.loads(finished.output)["text"]
        return None if text is None else str(text)


def _run_child(subject: Subject) -> Finished:
    package_folder = str(Path(__file__).parents[2])
    environment = {**os.environ, "PYTHONPATH": package_folder}
    command = [sys.executable, "-m", "osworld_guest.accessibility.child", subject]
    try:
        return run(command, Run(_CHILD_SECONDS, environment=environment))
    except LimitReached as reached:
        raise GuestError(500, f"The accessibility bus did not answer within {_CHILD_SECONDS:g} seconds.") from reached
