from __future__ import annotations

from typing import Any

import pytest

from osworld_adapter.waiting import Clock
from osworld_adapter.windows import (
    NEW_WINDOW_BOUND_SECONDS,
    Desktop,
    NewWindows,
    parse_windows,
    promised_windows,
    wait_for_new_windows,
)
from test_picture import make_png
from test_waiting import Clock as FakeClock

CHROME = {"type": "launch", "parameters": {"command": ["google-chrome", "--remote-debugging-port=1337"]}}
SOCAT = {"type": "launch", "parameters": {"command": ["socat", "tcp-listen:9222,fork", "tcp:localhost:1337"]}}
TABS = {"type": "chrome_open_tabs", "parameters": {"urls_to_open": ["https://www.united.com/en/us"]}}
DOWNLOAD = {"type": "download", "parameters": {"files": []}}
OPEN = {"type": "open", "parameters": {"path": "/home/user/Desktop/a.xlsx"}}
ACTIVATE = {"type": "activate_window", "parameters": {"window_name": "Google Chrome"}}
CLICK = {"type": "execute", "parameters": {"command": ["python", "-c", "import pyautogui; pyautogui.click(1, 1)"]}}
LOGIN = {"type": "login", "parameters": {"settings_file": "settings.json", "platform": "googledrive"}}


def launch(command: str | list[str], shell: bool = False) -> dict[str, Any]:
    return {"type": "launch", "parameters": {"command": command, "shell": shell}}


VLC = launch("VLC_VERBOSE=-1 vlc --no-audio --no-video-title-show", shell=True)
COMPOSE = launch("/usr/bin/thunderbird -compose \"from='Anonym',subject='Reminder of Payment'\"", shell=True)


# The shapes of set-up that OSWorld's own tasks have.
@pytest.mark.parametrize(
    ("config", "windows"),
    [
        ([], 0),
        ([DOWNLOAD], 0),
        ([CLICK, ACTIVATE], 0),
        ([SOCAT], 0),
        ([DOWNLOAD, OPEN], 1),
        ([CHROME, SOCAT], 1),
        ([CHROME, SOCAT, TABS, ACTIVATE], 1),
        ([CHROME, SOCAT, TABS, LOGIN], 1),
        ([VLC, CLICK], 1),
        ([DOWNLOAD, launch(["/usr/bin/thunderbird"])], 1),
        ([COMPOSE], 1),
        ([launch(["libreoffice", "--writer"]), launch(["libreoffice", "--calc"])], 1),
        ([launch(["gimp"]), DOWNLOAD, launch(["vlc", "--repeat", "/home/user/Desktop/landscape.mp4"])], 2),
        ([CHROME, SOCAT, TABS, DOWNLOAD, launch(["nautilus", "/home/user/lecture_slides"])], 2),
        ([DOWNLOAD, OPEN, CHROME, SOCAT, TABS], 2),
    ],
)
def test_a_set_up_promises_a_window_for_every_program_that_shows_one(
    config: list[dict[str, Any]], windows: int
) -> None:
    assert promised_windows({"id": "1", "config": config}) == windows


def test_a_task_without_set_up_promises_nothing() -> None:
    assert promised_windows({"id": "1"}) == 0


class Controller:
    """Lists one more of `windows` at every call, and draws them `lag` calls later."""

    def __init__(self, windows: tuple[str, ...], lag: int) -> None:
        self.windows, self.lag = windows, lag
        self.calls = 0

    def execute_python_command(self, command: str) -> dict[str, str]:
        assert "wmctrl" in command
        self.calls += 1
        return {"output": "\n".join(self.windows[: self.calls])}

    def get_screenshot(self) -> bytes:
        drawn = len(self.windows) if self.calls >= len(self.windows) + self.lag else 0
        return make_png([b"window" if drawn else b"nothing"] * 5 + [b"desktop"] * 5)


OLD, ICONS = "0x01  0 host Panel", "0x02 -1 host @!0,0;BDHF"
NEW, OTHER = "0x03  0 host Untitled 1 - Calc", "0x04  0 host GIMP"


@pytest.mark.parametrize(
    ("windows", "lag", "wanted", "waited"),
    [
        ((OLD, NEW), 0, 1, NewWindows(1, True, 0.5)),
        ((OLD, ICONS, NEW), 0, 1, NewWindows(1, True, 1.0)),
        ((OLD, NEW, OTHER), 0, 2, NewWindows(2, True, 1.0)),
        ((OLD, NEW), 4, 1, NewWindows(1, True, 2.5)),
        ((OLD, NEW), 99, 1, NewWindows(1, False, NEW_WINDOW_BOUND_SECONDS)),
        ((OLD, NEW), 0, 2, NewWindows(1, False, NEW_WINDOW_BOUND_SECONDS)),
        ((OLD, ICONS), 0, 1, NewWindows(0, False, NEW_WINDOW_BOUND_SECONDS)),
    ],
)
def test_new_windows_are_waited_for_until_they_are_drawn_or_the_bound_is_reached(
    windows: tuple[str, ...], lag: int, wanted: int, waited: NewWindows
) -> None:
    clock: Clock = FakeClock()
    controller = Controller(windows, lag)
    before = Desktop({"0x01": "Panel"}, controller.get_screenshot())
    assert wait_for_new_windows(controller, before, wanted, clock) == waited


def test_titles_are_what_follows_the_host() -> None:
    listing = "0x03a00003  0 osworld Terminal - ls  -l\n0x01 -1 osworld \nGtk-WARNING cannot open\n"
    assert parse_windows(listing) == {"0x03a00003": "Terminal - ls  -l"}
