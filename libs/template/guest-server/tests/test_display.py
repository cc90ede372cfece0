"""Screen, pointer, windows and recording on a real X server."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from client import ask, post_json, wait_until
from conftest import Guest, start_display, start_guest, stop

pytestmark = pytest.mark.needs_display


def open_sockets(pid: int) -> int:
    targets = []
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            targets.append(str(entry.readlink()))
    return sum(target.startswith("socket:") for target in targets)


def screenshot(guest: Guest) -> Image.Image:
    status, content = ask(guest.port, "GET", "/screenshot")
    assert status == 200, content
    return Image.open(io.BytesIO(content))


def test_a_screenshot_is_a_png_of_the_screen_with_the_cursor_in_it(desktop_guest: Guest) -> None:
    picture = screenshot(desktop_guest)
    assert (picture.format, picture.size, picture.mode) == ("PNG", (1920, 1080), "RGB")
    x, y = json.loads(ask(desktop_guest.port, "GET", "/cursor_position")[1])
    around = picture.crop((x - 16, y - 16, x + 16, y + 16)).getcolors()
    elsewhere = picture.crop((100, 100, 200, 200)).getcolors()
    assert around is not None and len(around) > 1
    assert elsewhere is not None and len(elsewhere) == 1


def test_the_colours_are_those_of_the_screen(desktop_guest: Guest, display: str) -> None:
    xsetroot = shutil.which("xsetroot")
    if xsetroot is None:
        pytest.skip("xsetroot is not installed on this machine")
    subprocess.run([xsetroot, "-solid", "#102030"], env={**os.environ, "DISPLAY": display}, check=True)
    assert screenshot(desktop_guest).getpixel((5, 5)) == (0x10, 0x20, 0x30)


def test_three_hundred_screenshots_use_one_connection(desktop_guest: Guest) -> None:
    screenshot(desktop_guest)
    before = open_sockets(desktop_guest.pid)
    for _ in range(300):
        assert ask(desktop_guest.port, "GET", "/screenshot")[0] == 200
    wait_until(lambda: open_sockets(desktop_guest.pid) <= before)


def test_the_screen_size_is_told(desktop_guest: Guest) -> None:
    assert post_json(desktop_guest.port, "/screen_size", {}) == (200, {"width": 1920, "height": 1080})


def test_the_server_finds_an_x_server_that_came_later_or_was_restarted(tmp_path: Path) -> None:
    first, name = start_display()
    stop(first)
    server, guest = start_guest(tmp_path, {"DISPLAY": name})
    try:
        assert ask(guest.port, "GET", "/screenshot")[0] == 500
        for _ in range(3):
            display, _ = start_display(name)
            assert ask(guest.port, "GET", "/screenshot")[0] == 200
            stop(display)
        assert ask(guest.port, "GET", "/screenshot")[0] == 500
        wait_until(lambda: open_sockets(guest.pid) == 1)
    finally:
        stop(server)


def test_a_recording_is_a_finished_mp4(desktop_guest: Guest) -> None:
    need("ffmpeg", "ffprobe")
    assert post_json(desktop_guest.port, "/start_recording", {})[0] == 200
    status, answer = post_json(desktop_guest.port, "/start_recording", {})
    assert (status, answer["message"]) == (400, "A recording is already running.")
    status, content = ask(desktop_guest.port, "POST", "/end_recording")
    assert status == 200
    assert probe(content, desktop_guest.home) == {"codec_name": "h264", "width": 1920, "height": 1080}
    assert ask(desktop_guest.port, "POST", "/end_recording")[0] == 400


def test_what_a_killed_ffmpeg_recorded_is_still_a_finished_mp4(desktop_guest: Guest) -> None:
    need("ffmpeg", "ffprobe")
    assert post_json(desktop_guest.port, "/start_recording", {})[0] == 200
    ffmpeg = child_named(desktop_guest.pid, "ffmpeg")
    output = Path(f"/proc/{ffmpeg}/cmdline").read_bytes().split(b"\0")[-2]
    wait_until(lambda: b"moof" in Path(output.decode()).read_bytes())
    os.kill(ffmpeg, 9)
    status, content = ask(desktop_guest.port, "POST", "/end_recording")
    assert (status, probe(content, desktop_guest.home)["codec_name"]) == (200, "h264")


def test_a_recording_without_a_screen_is_an_error(guest: Guest) -> None:
    assert post_json(guest.port, "/start_recording", {})[0] == 500


@pytest.fixture
def window_manager(display: str) -> Iterator[None]:
    need("openbox", "xterm", "wmctrl")
    environment = {**os.environ, "DISPLAY": display}
    process = subprocess.Popen(["openbox", "--sm-disable"], env=environment, stderr=subprocess.DEVNULL, text=True)
    # A window that opens while the manager takes over the screen may never be managed.
    wait_until(
        lambda: subprocess.run(["wmctrl", "-m"], env=environment, capture_output=True, check=False).returncode == 0
    )
    yield
    stop(process)


@pytest.mark.usefixtures("window_manager")
def test_windows_are_measured_activated_verified_and_closed(desktop_guest: Guest) -> None:
    port = desktop_guest.port
    command = ["xterm", "-geometry", "80x24", "-T", "Report one.txt", "-e", "sleep 300"]
    assert post_json(port, "/setup/launch", {"command": command})[0] == 200
    fields = {"command": ["true"], "verification": {"window_exists": "report ONE"}, "check_interval": 0.1}
    status, answer = post_json(port, "/setup/execute_with_verification", fields)
    assert status == 200, answer
    status, content = ask(
        port, "POST", "/window_size", b"app_class_name=xTerm", {"Content-Type": "application/x-www-form-urlencoded"}
    )
    assert status == 200
    assert json.loads(content)["width"] > 300
    for names in (
        {"window_name": "report one"},
        {"window_name": "Report one.txt", "strict": True},
        {"window_name": "xterm.XTerm", "by_class": True, "strict": True},
    ):
        assert post_json(port, "/setup/activate_window", names)[0] == 200
    for names in ({"window_name": "report one.txt", "strict": True}, {"window_name": "nothing"}):
        status, answer = post_json(port, "/setup/activate_window", names)
        assert (status, answer["message"]) == (404, f"No window has the title {names['window_name']!r}.")
    assert post_json(port, "/setup/close_window", {"window_name": "Report one"})[0] == 200
    wait_until(lambda: post_json(port, "/setup/close_window", {"window_name": "Report one"})[0] == 404)


def need(*programs: str) -> None:
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        pytest.skip(f"not installed on this machine: {', '.join(missing)}")


def probe(content: bytes, folder: Path) -> dict[str, object]:
    file = folder / "probe.mp4"
    file.write_bytes(content)
    command = ["ffprobe", "-v", "error", "-show_entries", "stream=codec_name,width,height", "-of", "json", str(file)]
    shown = subprocess.run(command, check=True, capture_output=True)
    stream: dict[str, object] = json.loads(shown.stdout)["streams"][0]
    return stream


def child_named(parent: int, name: str) -> int:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                head, tail = (entry / "stat").read_text().rsplit(")", 1)
            except (FileNotFoundError, ProcessLookupError):
                continue
            if head.split("(", 1)[1] == name and int(tail.split()[1]) == parent:
                return int(entry.name)
    raise AssertionError(f"no process {name!r} below {parent}")
