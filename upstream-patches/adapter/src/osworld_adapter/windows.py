"""The guest's windows: which a task's set-up promises, and the wait for them through upstream's controller."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from osworld_adapter.agent_config import WaitForWindow
from osworld_adapter.picture import changed_share
from osworld_adapter.waiting import Clock

POLL_SECONDS = 0.5
NEW_WINDOW_BOUND_SECONDS = 15.0
DRAWN_SHARE = 0.15  # The panel and one icon of the dock are 8 % of the rows, a window seldom less than 30 %.
# `print` reaches the answer's `output`; the titles follow the fourth column of `wmctrl -l`.
_LIST = "import subprocess; print(subprocess.run(['wmctrl', '-l'], capture_output=True, text=True).stdout)"
_WITHOUT_WINDOW = {"socat", "tinyproxy"}
_IN_CHROME = {"chrome_open_tabs", "chrome_close_tabs", "login"}
# The desktop's icons are a window of their own, which comes and goes with the icons.
_DESKTOP_ICONS = re.compile(r"^(@!\d+,\d+;BDHF|Desktop Icons.*|Desktop)$")


@dataclass(frozen=True)
class Desktop:
    """What was there before the set-up: windows by identifier, and the picture."""

    windows: Mapping[str, str]
    screenshot: bytes | None


@dataclass(frozen=True)
class NewWindows:
    """How many windows came, whether they were drawn, and after how long the wait ended."""

    new: int
    drawn: bool
    seconds: float


def promised_windows(task: Mapping[str, Any]) -> int:
    """How many windows the task's set-up must have brought up; one program counts once, as it may reuse its window."""
    programs = {_program(step) for step in task.get("config") or []}
    return len(programs - {None})


def _program(step: Mapping[str, Any]) -> str | None:
    kind, parameters = step["type"], step.get("parameters") or {}
    if kind == "open":
        return "open"
    if kind in _IN_CHROME:
        return "google-chrome"
    if kind != "launch":
        return None
    command = parameters.get("command") or ""
    words = command.split() if isinstance(command, str) else list(command)
    name = next((PurePosixPath(word).name for word in words if "=" not in word), None)
    return None if name in _WITHOUT_WINDOW else name


def list_windows(controller: Any) -> dict[str, str]:
    """Title by identifier of the guest's windows; empty when the guest does not say."""
    answer = controller.execute_python_command(_LIST) or {}
    return parse_windows(str(answer.get("output", "")))


def parse_windows(listing: str) -> dict[str, str]:
    """The output of `wmctrl -l`, a line a window: identifier, desktop, host, title."""
    columns = [line.split(None, 3) for line in listing.splitlines()]
    return {column[0]: column[3] for column in columns if len(column) == 4 and column[0].startswith("0x")}


def look(controller: Any) -> Desktop:
    return Desktop(list_windows(controller), controller.get_screenshot())


def wait_for_new_windows(controller: Any, before: Desktop, wanted: int, clock: Clock) -> NewWindows:
    """Polls until `wanted` windows have come and the screen shows it, at most NEW_WINDOW_BOUND_SECONDS."""
    started = clock.monotonic()
    while True:
        windows = list_windows(controller)
        new = sum(name not in before.windows and not _DESKTOP_ICONS.match(windows[name]) for name in windows)
        drawn = new >= wanted and _is_drawn(before.screenshot, controller.get_screenshot())
        seconds = clock.monotonic() - started
        if drawn or seconds >= NEW_WINDOW_BOUND_SECONDS:
            return NewWindows(new, drawn, seconds)
        clock.sleep(POLL_SECONDS)


def _is_drawn(before: bytes | None, now: bytes | None) -> bool:
    # A window is listed seconds before it is drawn, and the panel and the dock tell of it at once.
    return before is not None and now is not None and changed_share(before, now) >= DRAWN_SHARE


def wait_for_window(controller: Any, wanted: WaitForWindow, clock: Clock) -> dict[str, Any]:
    """Polls the guest's window titles; the answer says whether one matched and what was there last."""
    started = clock.monotonic()
    while True:
        titles = list(list_windows(controller).values())
        found = any(re.search(wanted.pattern, title) for title in titles)
        seconds = clock.monotonic() - started
        if found or seconds >= wanted.timeout_seconds:
            return {"waited_for_window": wanted.pattern, "found": found, "seconds": round(seconds, 3), "titles": titles}
        clock.sleep(POLL_SECONDS)
