"""Records the screen with ffmpeg; what has been recorded is always given back as a finished mp4."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

from osworld_guest.errors import GuestError
from osworld_guest.processes import LimitReached, Run, run, stop_group

FRAMES_A_SECOND = 30
_START_SECONDS = 15.0
_STOP_SECONDS = 15.0
_FINISH_SECONDS = 120.0


def capture_command(display_name: str, size: tuple[int, int], target: Path) -> list[str]:
    """The ffmpeg call. The file is fragmented, so that even a killed ffmpeg leaves all but the last second readable."""
    screen = display_name if "." in display_name else f"{display_name}.0"
    # The pixel format that every browser plays needs even sides.
    width, height = (side - side % 2 for side in size)
    return [
        *("ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-y"),
        *("-progress", "pipe:1", "-stats_period", "0.1"),
        *("-f", "x11grab", "-draw_mouse", "1", "-framerate", str(FRAMES_A_SECOND)),
        *("-video_size", f"{width}x{height}", "-i", screen),
        *("-c:v", "libx264", "-preset", "ultrafast", "-crf", "28", "-pix_fmt", "yuv420p", "-g", str(FRAMES_A_SECOND)),
        *("-movflags", "frag_keyframe+empty_moov+default_base_moof", "-flush_packets", "1", "-f", "mp4", str(target)),
    ]


class Recorder:
    """At most one recording at a time."""

    def __init__(self, folder: Path) -> None:
        """`folder` must be private to the server's user."""
        self._raw = folder / "recording.part.mp4"
        self._finished = folder / "recording.mp4"
        self._turn = threading.Lock()
        self._capture: subprocess.Popen[bytes] | None = None

    def start(self, display_name: str, screen_size: Callable[[], tuple[int, int]]) -> None:
        """Returns when the first frame is recorded; 400 when one runs already, 500 when the screen cannot be taken."""
        with self._turn:
            if self._capture is not None and self._capture.poll() is None:
                raise GuestError(400, "A recording is already running.")
            self._raw.unlink(missing_ok=True)
            self._capture = _started(capture_command(display_name, screen_size(), self._raw))

    def end(self) -> Path:
        """Stops the recording and gives the finished file; 400 when none was started."""
        with self._turn:
            capture, self._capture = self._capture, None
            if capture is None:
                raise GuestError(400, "No recording is running.")
            _stop(capture)
            self._finish()
            return self._finished

    def close(self) -> None:
        """Stops a recording that nobody ended."""
        with self._turn:
            capture, self._capture = self._capture, None
            if capture is not None:
                _stop(capture)

    def _finish(self) -> None:
        # A reader may still have the previous file open: the name is freed first.
        self._finished.unlink(missing_ok=True)
        command = ["ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-y", "-i", str(self._raw)]
        try:
            copied = run([*command, "-c", "copy", "-movflags", "+faststart", str(self._finished)], Run(_FINISH_SECONDS))
        except LimitReached as reached:
            raise GuestError(500, "The recording could not be finished in time.") from reached
        finally:
            self._raw.unlink(missing_ok=True)
        if copied.returncode != 0:
            raise GuestError(500, f"The recording could not be finished: {copied.error.strip()}.")


def _started(command: list[str]) -> subprocess.Popen[bytes]:
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as problem:
        raise GuestError(500, f"ffmpeg cannot be started: {problem.strerror}.") from problem
    progress, errors = _Progress(process), _LastLine(process)
    if progress.recording.wait(_START_SECONDS) and progress.frames:
        return process
    stop_group(process)
    raise GuestError(500, f"The recording did not start: {errors.text() or 'ffmpeg gave no frame'}.")


def _stop(capture: subprocess.Popen[bytes]) -> None:
    capture.send_signal(signal.SIGINT)
    try:
        capture.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        stop_group(capture)


class _Progress:
    """Reads ffmpeg's progress to its end, so that its pipe never fills; `recording` is set at the first frame."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.recording = threading.Event()
        self.frames = False
        self._process = process
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as pipe:
            for line in pipe:
                name, _, value = line.strip().partition(b"=")
                if name == b"frame" and value.strip().isdigit() and int(value) > 0:
                    self.frames = True
                    self.recording.set()
        self.recording.set()


class _LastLine:
    """Reads ffmpeg's error output to its end and keeps the last line."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._line = b""
        self._process = process
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as pipe:
            for line in pipe:
                self._line = line.strip() or self._line

    def text(self) -> str:
        self._thread.join(1)
        return self._line.decode("utf-8", "replace").rstrip(".")
