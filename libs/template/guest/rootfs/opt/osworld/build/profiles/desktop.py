"""The running desktop as seen from outside: its windows, its processes, commands in its session."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

HOME = Path("/home/user")
SESSION = "/usr/local/bin/osworld-session"
POLL_S = 0.2


class ProfileError(Exception):
    """A profile could not be made as wanted; the message says which part and what was seen."""


@dataclass(frozen=True)
class Window:
    """One managed window."""

    number: str
    title: str


def in_session(*command: str, limit_s: float = 120) -> str:
    """Run a command as the desktop's user in the session and return its output."""
    done = subprocess.run([SESSION, "run", *command], capture_output=True, text=True, timeout=limit_s, check=False)
    if done.returncode != 0:
        raise ProfileError(f"{' '.join(command)} ended with status {done.returncode}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def start_in_session(*command: str) -> subprocess.Popen[bytes]:
    """Start a command in the session without waiting for it."""
    return subprocess.Popen(
        [SESSION, "run", *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def wait_until(what: str, holds: Callable[[], bool], limit_s: float = 120) -> None:
    """Poll until the condition holds; a ProfileError that names it after the limit."""
    end = time.monotonic() + limit_s
    while not holds():
        if time.monotonic() > end:
            raise ProfileError(f"not within {limit_s:.0f} s: {what}; windows: {windows()}")
        time.sleep(POLL_S)


def windows() -> list[Window]:
    """Return the managed windows, none while there is no window manager."""
    listing = subprocess.run([SESSION, "run", "wmctrl", "-l"], capture_output=True, text=True, check=False)
    rows = [line.split(None, 3) for line in listing.stdout.splitlines()]
    return [Window(number, "".join(title)) for number, _desktop, _host, *title in rows]


def close_window(window: Window) -> None:
    """Ask a window to close, as its close button does; a window that is gone already is fine."""
    subprocess.run([SESSION, "run", "wmctrl", "-i", "-c", window.number], capture_output=True, check=False)


def maximize_window(window: Window) -> None:
    """Make a window fill the work area."""
    in_session("wmctrl", "-i", "-r", window.number, "-b", "add,maximized_vert,maximized_horz")


def processes() -> dict[int, tuple[str, int]]:
    """Return name and used clock ticks of every live process by its number."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        name, rest = stat[stat.index("(") + 1 :].rsplit(")", 1)
        fields = rest.split()
        if fields[0] != "Z":
            found[int(folder.name)] = (name, int(fields[11]) + int(fields[12]))
    return found


def wait_for_end(name: str) -> None:
    """Wait until no live process has this name."""
    wait_until(f"{name} ended", lambda: name not in {process_name for process_name, _ in processes().values()})


def wait_for_rest(limit_s: float = 120) -> None:
    """Wait until all processes together use less than a fifth of one core for a second."""
    end = time.monotonic() + limit_s
    before = processes()
    while time.monotonic() < end:
        time.sleep(1)
        after = processes()
        used = sum(ticks - before.get(number, ("", 0))[1] for number, (_, ticks) in after.items())
        if used < os.sysconf("SC_CLK_TCK") / 5:
            return
        before = after
    raise ProfileError(f"the desktop was still busy after {limit_s:.0f} s; windows: {windows()}")
