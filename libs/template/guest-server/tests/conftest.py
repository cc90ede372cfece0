"""A real server process on any free port, and an X server where there is one."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[1] / "src"


@dataclass(frozen=True)
class Guest:
    """A running server, its process and its home folder."""

    port: int
    pid: int
    home: Path


def start_guest(home: Path, environment: dict[str, str]) -> tuple[subprocess.Popen[str], Guest]:
    """The server in a home folder of its own; it listens when this returns."""
    process = subprocess.Popen(
        [sys.executable, "-m", "osworld_guest", "--port", "0"],
        env={**os.environ, "HOME": str(home), "PYTHONPATH": str(SOURCES), **environment},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    first_line = process.stderr.readline()
    assert first_line.startswith("listening on 127.0.0.1:"), first_line + process.stderr.read()
    return process, Guest(int(first_line.rsplit(":", 1)[1]), process.pid, home)


def stop(process: subprocess.Popen[str]) -> None:
    """Ends a process and waits for it."""
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guest]:
    """A server without a display."""
    process, guest = start_guest(tmp_path_factory.mktemp("home"), {"DISPLAY": ":987"})
    yield guest
    stop(process)


def start_display(name: str | None = None) -> tuple[subprocess.Popen[str], str]:
    """An Xvfb on a free display, or on the named one."""
    if shutil.which("Xvfb") is None:
        pytest.skip("Xvfb is not installed on this machine")
    reader, writer = os.pipe()
    command = ["Xvfb", *([name] if name else []), "-displayfd", str(writer), "-screen", "0", "1920x1080x24"]
    process = subprocess.Popen(
        [*command, "-nolisten", "tcp", "-noreset"], pass_fds=[writer], stderr=subprocess.DEVNULL, text=True
    )
    os.close(writer)
    with os.fdopen(reader) as pipe:
        number = pipe.readline().strip()
    assert number, "Xvfb did not start"
    return process, f":{number}"


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    """The name of an empty display of 1920x1080."""
    process, name = start_display()
    yield name
    stop(process)


@pytest.fixture(scope="module")
def desktop_guest(display: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guest]:
    """A server with a display."""
    process, guest = start_guest(tmp_path_factory.mktemp("home"), {"DISPLAY": display})
    yield guest
    stop(process)
