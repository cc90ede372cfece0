"""Windows by title or class, through wmctrl, and the wait for the window of an opened file."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from osworld_guest.errors import GuestError
from osworld_guest.processes import LimitReached, Run, launch, run

_WMCTRL_SECONDS = 10.0
_TRIES = 5
OPEN_LIMIT_SECONDS = 1800.0
_POLL_SECONDS = 0.25
# An opener that failed may still have handed the file over to an application that is only slow.
_FAILED_OPENER_GRACE_SECONDS = 5.0


@dataclass(frozen=True)
class Window:
    """A line of the window manager's list."""

    identifier: str
    title: str


def parse_window_list(text: str) -> list[Window]:
    """The answer of `wmctrl -l`: id, desktop, host, title."""
    lines = (line.split(None, 3) for line in text.splitlines())
    return [Window(words[0], words[3] if len(words) > 3 else "") for words in lines if len(words) >= 3]


def list_windows() -> list[Window]:
    """All windows the window manager knows."""
    return parse_window_list(_wmctrl(["-l"]))


def window_exists(title: str) -> bool:
    """Whether a window's title holds the text, in any case; false without a display."""
    try:
        return any(title.lower() in window.title.lower() for window in list_windows())
    except GuestError:
        return False


def activate_window(name: str, *, strict: bool, by_class: bool) -> None:
    """Brings a window to the front; none by that name is a GuestError (404)."""
    _act_on_window("-a", name, strict=strict, by_class=by_class)


def close_window(name: str, *, strict: bool, by_class: bool) -> None:
    """Asks a window to close; none by that name is a GuestError (404)."""
    _act_on_window("-c", name, strict=strict, by_class=by_class)


def shows_file(path: Path, window: Window, known: Sequence[Window]) -> bool:
    """Whether a window's title has the file's name or, if the window is new, the name without its ending."""
    if path.name in window.title:
        return True
    is_new = all(window.identifier != other.identifier for other in known)
    return is_new and re.search(rf"(?<!\w){re.escape(path.stem)}(?!\w)", window.title) is not None


def open_file(path: Path, limit_seconds: float = OPEN_LIMIT_SECONDS) -> Window:
    """Opens a file with the desktop's application for it and waits for its window."""
    known = list_windows()
    opener = launch(["xdg-open", str(path)], shell=False)
    return _wait_for_window(path, known, limit_seconds, opener.poll)


def _wait_for_window(
    path: Path, known: Sequence[Window], limit_seconds: float, returncode: Callable[[], int | None]
) -> Window:
    deadline = time.monotonic() + limit_seconds
    failed_at: float | None = None
    while time.monotonic() < deadline:
        for window in list_windows():
            if shows_file(path, window, known):
                return window
        if failed_at is None and returncode() not in (None, 0):
            failed_at = time.monotonic()
        if failed_at is not None and time.monotonic() - failed_at > _FAILED_OPENER_GRACE_SECONDS:
            raise GuestError(500, f"xdg-open ended with return code {returncode()} for {str(path)!r}.")
        time.sleep(_POLL_SECONDS)
    raise GuestError(500, f"No window with {path.name!r} in its title came up within {limit_seconds:g} seconds.")


def _act_on_window(action: str, name: str, *, strict: bool, by_class: bool) -> None:
    options = (["-x"] if by_class else []) + (["-F"] if strict else [])
    try:
        _wmctrl([*options, action, name])
    except GuestError as problem:
        list_windows()
        kind = "class" if by_class else "title"
        raise GuestError(404, f"No window has the {kind} {name!r}.") from problem


def _wmctrl(arguments: list[str]) -> str:
    for _ in range(_TRIES):
        try:
            finished = run(["wmctrl", *arguments], Run(_WMCTRL_SECONDS))
        except LimitReached as reached:
            raise GuestError(500, "The window manager does not answer.") from reached
        # A window that closes while wmctrl goes through the list makes it give up.
        if "BadWindow" not in finished.error:
            break
    if finished.returncode != 0:
        raise GuestError(500, f"wmctrl failed: {finished.error.strip() or finished.returncode}")
    return finished.output
