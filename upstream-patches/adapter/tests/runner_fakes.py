"""One attempt of OSWorld's own runner on a small tree of its shape: real processes, sockets and HTTP."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fakes import DEADLINE_SECONDS, SOURCE, Coordinator, Guest, Reply, make_config, ports
from osworld_adapter.runner_family import descendants

TREE = Path(__file__).parent / "upstream_shaped"
PROFILES = Path(__file__).parent.parent.parent / "profiles"
RUNNER = "scripts/python/run_multienv_qwen3vl.py"
TASK_ID = "00000000-0000-4000-8000-000000000001"
MODEL = "some/model"
RESULT = f"upstream-results/pyautogui/screenshot/{MODEL}/os/{TASK_ID}"


class Checkout:
    """A copy of the tree that a test may change in one place."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(TREE, folder, ignore=shutil.ignore_patterns("__pycache__"))

    def edit(self, name: str, old: str, new: str) -> None:
        file = self.folder / name
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in {name}"
        file.write_text(text.replace(old, new), encoding="utf-8")

    @property
    def task_file(self) -> Path:
        return self.folder / "evaluation_examples" / "examples" / "os" / f"{TASK_ID}.json"

    def edit_evaluator(self, **changes: Any) -> None:
        task = json.loads(self.task_file.read_text(encoding="utf-8"))
        task["evaluator"].update(changes)
        self.task_file.write_text(json.dumps(task), encoding="utf-8")


def answers(*texts: str) -> Callable[[bytes], Reply]:
    """A model that answers with these in turn, then with the last one for good."""
    waiting = list(texts)

    def answer(_: bytes) -> Reply:
        text = waiting.pop(0) if len(waiting) > 1 else waiting[0]
        return 200, json.dumps({"choices": [{"message": {"content": text}}]}).encode()

    return answer


class RunnerAttempt:
    """The adapter's process on a checkout, with a coordinator, a guest and a model of its own."""

    def __init__(self, folder: Path, socket_path: Path) -> None:
        self.folder = folder / "attempt"
        self.checkout = Checkout(folder / "osworld")
        self.guest = Guest()
        self.model = Guest()
        self.model.routes["/v1/chat/completions"] = answers("pyautogui.press('enter')", "DONE")
        self.answer: Callable[[str], dict[str, Any]] = self._answer
        self.environment: dict[str, str] = {}
        self.profile = PROFILES / "current-v1"
        self._socket_path = socket_path
        self.coordinator: Coordinator
        self.process: subprocess.Popen[bytes]

    def start(
        self, arguments: dict[str, Any] | None = None, source: dict[str, str] | None = None, **changes: Any
    ) -> None:
        agent = {
            "kind": "upstream_runner",
            "checkout": str(self.checkout.folder),
            "runner": RUNNER,
            "model": MODEL,
            "arguments": {"max_steps": "5"} if arguments is None else arguments,
            **({"source": source} if source else {}),
        }
        self.folder.mkdir(exist_ok=True)
        config = make_config(
            self.folder,
            agent=agent,
            task={"domain": "os", "id": TASK_ID},
            task_file=str(self.checkout.task_file),
            profile_dir=str(self.profile),
            timing="upstream",
        )
        (self.folder / "attempt.json").write_text(json.dumps({**config, **changes}), encoding="utf-8")
        self.coordinator = Coordinator(self._socket_path, lambda method: self.answer(method))
        self.process = self._spawn(["-m", "osworld_adapter", "--config", str(self.folder / "attempt.json")])

    def finish(self, arguments: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
        """The last message, after the process has gone with exit code 0 and nothing of it is left."""
        if not hasattr(self, "process"):
            self.start(arguments, **changes)
        message = self.coordinator.finished()
        assert self.process.wait(DEADLINE_SECONDS) == 0
        assert self.left() == []
        return message

    def left(self) -> list[int]:
        """Living processes of this attempt, by the group that its first one leads."""
        return [pid for pid in descendants(0) if _group(pid) == self.process.pid]

    def phases(self) -> list[str]:
        return [message["phase"] for message in self.coordinator.seen if message["type"] == "phase"]

    def output(self) -> str:
        return (self.folder / "stdout.log").read_text(encoding="utf-8")

    def end(self) -> None:
        if hasattr(self, "process"):
            if self.process.poll() is None:
                os.killpg(self.process.pid, 9)
            self.process.wait()
            self.coordinator.hang_up()
        self.guest.stop()
        self.model.stop()

    def use(self, guest: Guest) -> None:
        """Puts another guest in the place of the one that answers everything."""
        self.guest.stop()
        self.guest = guest

    def _answer(self, method: str) -> dict[str, Any]:
        return {"ok": True} if method == "stop" else ports(self.guest)

    def _spawn(self, words: Sequence[str]) -> subprocess.Popen[bytes]:
        environment = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(SOURCE),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OSWORLD_CONTROL_SOCKET": str(self._socket_path),
            "OPENAI_BASE_URL": f"http://127.0.0.1:{self.model.port}/v1",
            "OPENAI_API_KEY": "one-attempt-key",
            **self.environment,
        }
        with (self.folder / "stdout.log").open("wb") as output:
            return subprocess.Popen(
                [sys.executable, *words],
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return 0
