"""Starts programs: to their end under a limit, or to be left alone."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from osworld_guest.errors import GuestError
from osworld_guest.fields import Command

_KEPT_BYTES = 64 * 1024 * 1024
# A program left in the background keeps the pipes open: its output is not waited for longer than this.
_BACKGROUND_GRACE_SECONDS = 0.5


@dataclass(frozen=True)
class Finished:
    """How a program ended; output and error are decoded with replacement."""

    returncode: int
    output: str
    error: str


@dataclass(frozen=True)
class Run:
    """How a program is run: limit in seconds, both streams in one, folder, environment (None: the server's)."""

    limit_seconds: float
    shell: bool = False
    merge_streams: bool = False
    folder: Path | None = None
    environment: Mapping[str, str] | None = None


class LimitReached(Exception):
    """A program was stopped, with its whole group, because its time was over; `finished` has what it wrote."""

    def __init__(self, limit_seconds: float, finished: Finished) -> None:
        super().__init__(f"The command did not end within {limit_seconds:g} seconds and was stopped.")
        self.finished = finished


def run(command: Command, how: Run) -> Finished:
    """Runs a program to its end; a program that cannot be started is a GuestError (500)."""
    errors_to = subprocess.STDOUT if how.merge_streams else subprocess.PIPE
    process = _start(command, how, (subprocess.PIPE, errors_to))
    output, error = _Collector(process.stdout), _Collector(process.stderr)
    try:
        returncode = process.wait(how.limit_seconds)
    except subprocess.TimeoutExpired:
        stop_group(process)
        raise LimitReached(how.limit_seconds, Finished(-1, output.text(), error.text())) from None
    return Finished(returncode, output.text(), error.text())


def launch(command: Command, shell: bool) -> subprocess.Popen[bytes]:
    """Starts a program and leaves it alone; it is reaped when it ends, so that no zombie shows up in process lists."""
    process = _start(command, Run(0, shell=shell), (subprocess.DEVNULL, subprocess.DEVNULL))
    threading.Thread(target=process.wait, name=f"reaper-{process.pid}", daemon=True).start()
    return process


def stop_group(process: subprocess.Popen[bytes]) -> None:
    """Kills a program's whole process group and reaps the program."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def program_words(command: Command) -> list[str]:
    """A command as words: a text is split as a shell would, a leading `~/` of a word becomes the home folder."""
    try:
        words = shlex.split(command) if isinstance(command, str) else command
    except ValueError as problem:
        raise GuestError(400, f"The command cannot be split into words: {problem}.") from problem
    return [str(Path(word).expanduser()) if word == "~" or word.startswith("~/") else word for word in words]


def _start(command: Command, how: Run, streams: tuple[int, int]) -> subprocess.Popen[bytes]:
    words = command if how.shell else program_words(command)
    try:
        return subprocess.Popen(
            words,
            shell=how.shell,
            stdin=subprocess.DEVNULL,
            stdout=streams[0],
            stderr=streams[1],
            cwd=how.folder,
            env=how.environment,
            start_new_session=True,
        )
    except (OSError, ValueError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else str(problem)
        shown = words if isinstance(words, str) else words[0]
        raise GuestError(500, f"The command {shown!r} cannot be started: {reason}.") from problem


class _Collector:
    """Keeps what comes through a pipe, and goes on emptying it as long as anybody holds the other end."""

    def __init__(self, pipe: IO[bytes] | None) -> None:
        self._kept = bytearray()
        self._thread: threading.Thread | None = None
        if pipe is not None:
            self._thread = threading.Thread(target=self._collect, args=(pipe,), daemon=True)
            self._thread.start()

    def _collect(self, pipe: IO[bytes]) -> None:
        with pipe:
            while piece := os.read(pipe.fileno(), 65536):
                if len(self._kept) < _KEPT_BYTES:
                    self._kept += piece

    def text(self) -> str:
        if self._thread is not None:
            self._thread.join(_BACKGROUND_GRACE_SECONDS)
        return bytes(self._kept).decode("utf-8", "replace")
