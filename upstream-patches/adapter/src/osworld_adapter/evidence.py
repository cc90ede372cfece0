"""The files of one attempt's folder; every one is complete or absent."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from osworld_adapter.outcome import Invalid, Valid


@dataclass(frozen=True)
class Step:
    """One line of `traj.jsonl`; screenshots are paths relative to the attempt's folder.

    `turn` counts the questions to the agent. One answer may hold several actions, or none: then `action` is empty.
    """

    step_num: int
    turn: int
    action: str
    action_timestamp: str
    response: str
    reward: float
    done: bool
    info: dict[str, Any]
    screenshot_before: str
    screenshot_after: str


class Evidence:
    """Writes through a temporary file and rename, so that a killed attempt leaves no half file."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._trajectory: list[str] = []
        self._notes: list[str] = []
        self._seconds: dict[str, float] = {}
        self._running: tuple[str, float] | None = None
        (folder / "screenshots").mkdir(parents=True, exist_ok=True)

    def screenshot(self, name: str, image: bytes) -> str:
        """Saves a PNG as `screenshots/<name>.png`; the path relative to the attempt's folder."""
        path = f"screenshots/{name}.png"
        self._write(path, image)
        return path

    def step(self, step: Step) -> None:
        self._trajectory.append(json.dumps(asdict(step), sort_keys=True))
        self._write("traj.jsonl", ("\n".join(self._trajectory) + "\n").encode())

    def note(self, text: str) -> None:
        """Something worth knowing that decided nothing."""
        self._notes.append(text)

    def phase_begins(self, phase: str) -> None:
        self._running = (phase, time.monotonic())

    def phase_ends(self) -> None:
        self._seconds = self._phase_seconds()
        self._running = None

    def _phase_seconds(self) -> dict[str, float]:
        if self._running is None:
            return self._seconds
        phase, started = self._running
        return {**self._seconds, phase: round(time.monotonic() - started, 3)}

    def recording(self, save: Callable[[str], Any]) -> None:
        """Lets upstream's controller stream the recording to a file, then gives it its name."""
        partial = self.folder / "recording.mp4.partial"
        save(str(partial))
        if partial.exists() and partial.stat().st_size:
            partial.rename(self.folder / "recording.mp4")
        else:
            partial.unlink(missing_ok=True)
            self.note("the guest gave no recording")

    def evaluation(self, record: dict[str, Any]) -> None:
        self.document("evaluator.json", record)

    def outcome(self, outcome: Valid | Invalid) -> None:
        """`result.txt` with the reward when there is one, and `timeline.json` in every case; from any thread."""
        if isinstance(outcome, Valid):
            self._write("result.txt", f"{outcome.reward}\n".encode())
        self.document(
            "timeline.json",
            {"notes": self._notes, "phase_seconds": self._phase_seconds(), "outcome": outcome.to_message()},
        )

    def document(self, name: str, content: dict[str, Any]) -> None:
        self._write(name, (json.dumps(content, indent=2, sort_keys=True) + "\n").encode())

    def _write(self, name: str, content: bytes) -> None:
        target = self.folder / name
        partial = target.with_name(f".{target.name}.{threading.get_ident()}.partial")
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.rename(target)
