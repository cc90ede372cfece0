"""Waiting for the guest's screen and windows, by polling through upstream's controller."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from osworld_adapter.config import WaitForWindow

PROBE_SECONDS = 0.4
WINDOW_POLL_SECONDS = 0.5
# `print` reaches the answer's `output`; the titles follow the fourth column of `wmctrl -l`.
_LIST_WINDOWS = "import subprocess; print(subprocess.run(['wmctrl', '-l'], capture_output=True, text=True).stdout)"


class Clock(Protocol):
    def monotonic(self) -> float: ...

    def sleep(self, seconds: float, /) -> None: ...


@dataclass(frozen=True)
class Settled:
    """The last picture and whether it stood still before the bound."""

    screenshot: bytes | None
    still: bool


def settle(take: Callable[[], bytes | None], bound_seconds: float, clock: Clock) -> Settled:
    """Takes screenshots PROBE_SECONDS apart until two in a row are equal, or the bound is reached."""
    end = clock.monotonic() + bound_seconds
    last = take()
    while last is not None and clock.monotonic() < end:
        clock.sleep(PROBE_SECONDS)
        current = take()
        if current == last:
            return Settled(last, still=True)
        last = current
    return Settled(last, still=False)


def wait_for_window(controller: Any, wanted: WaitForWindow, clock: Clock) -> dict[str, Any]:
    """Polls the guest's window titles; the answer says whether one matched and what was there last."""
    started = clock.monotonic()
    while True:
        answer = controller.execute_python_command(_LIST_WINDOWS) or {}
        titles = window_titles(str(answer.get("output", "")))
        found = any(re.search(wanted.pattern, title) for title in titles)
        seconds = clock.monotonic() - started
        if found or seconds >= wanted.timeout_seconds:
            return {"waited_for_window": wanted.pattern, "found": found, "seconds": round(seconds, 3), "titles": titles}
        clock.sleep(WINDOW_POLL_SECONDS)


def window_titles(listing: str) -> list[str]:
    """Titles in the output of `wmctrl -l`: window, desktop, host, title."""
    columns = [line.split(None, 3) for line in listing.splitlines()]
    return [column[3] for column in columns if len(column) == 4 and column[0].startswith("0x")]
