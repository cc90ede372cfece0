"""Opens each application for the first time and closes it the way a user does."""

from __future__ import annotations

from dataclasses import dataclass

from .desktop import (
    ProfileError,
    Window,
    close_window,
    maximize_window,
    start_in_session,
    wait_for_end,
    wait_for_rest,
    wait_until,
    windows,
)


@dataclass(frozen=True)
class Application:
    """What to start, a part of its first window's title, and the process that must be gone afterwards.

    Without a process, it stays as a service of the session when its window is closed.
    """

    name: str
    command: tuple[str, ...]
    title: str
    process: str | None = None
    maximized: bool = False


APPLICATIONS = (
    Application("the browser", ("google-chrome", "about:blank"), "about:blank", "chrome", maximized=True),
    Application("GIMP", ("gimp",), "GNU Image Manipulation Program", "gimp-2.10"),
    Application("VLC", ("vlc",), "VLC media player", "vlc"),
    Application("Thunderbird", ("thunderbird",), "Mozilla Thunderbird", "thunderbird"),
    Application("Files", ("nautilus", "--new-window"), "Home"),
)


def open_and_close(application: Application) -> None:
    """Start, wait for the window and for rest, demand that no dialog is there, close, wait for the end."""
    others = windows()

    def new_windows() -> list[Window]:
        return [window for window in windows() if window not in others]

    def is_shown() -> bool:
        return any(application.title in window.title for window in new_windows())

    process = start_in_session(*application.command)
    wait_until(f"a window of {application.name}", is_shown)
    wait_for_rest()
    shown = new_windows()
    if len(shown) != 1:
        raise ProfileError(f"{application.name} should show one window, it shows {shown}")
    if application.maximized:
        maximize_window(shown[0])
        wait_for_rest()
    close_window(shown[0])
    wait_until(f"the window of {application.name} closed", lambda: not new_windows())
    if application.process is not None:
        process.wait(timeout=60)
        wait_for_end(application.process)
