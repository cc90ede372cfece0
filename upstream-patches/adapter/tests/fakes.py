"""A coordinator and a guest, small and real: a unix socket and an HTTP server on a port of 127.0.0.1."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

DEADLINE_SECONDS = 30.0
SOURCE = Path(__file__).parent.parent / "src"
PROFILE = Path(__file__).parent.parent.parent / "profiles" / "package-1.0.2"
PNG = b"\x89PNG\r\n\x1a\n" + b"picture"
Reply = tuple[int, bytes]


class Coordinator:
    """Accepts one attempt, answers its requests, keeps what it says."""

    def __init__(self, path: Path, answer: Callable[[str], dict[str, Any]]) -> None:
        self.path = path
        self.messages: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.seen: list[dict[str, Any]] = []
        self._answer = answer
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen(1)
        self._connection: socket.socket | None = None
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        try:
            self._connection, _ = self._listener.accept()
        except OSError:
            return
        # An attempt that was told of a loss leaves without reading what else was sent to it.
        with contextlib.suppress(ConnectionResetError), self._connection.makefile("r", encoding="utf-8") as lines:
            for line in lines:
                message = json.loads(line)
                self.seen.append(message)
                if message["type"] == "request":
                    self.push({"type": "reply", "id": message["id"], **self._answer(message["method"])})
                self.messages.put(message)
        self.messages.put(None)

    def push(self, message: dict[str, Any]) -> None:
        assert self._connection is not None
        self._connection.sendall((json.dumps(message) + "\n").encode())

    def wait_for(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next message that is wanted; fails when the attempt hangs up or is silent too long."""
        while True:
            message = self.messages.get(timeout=DEADLINE_SECONDS)
            assert message is not None, f"the attempt hung up after {self.seen[-3:]}"
            if wanted(message):
                return message

    def finished(self) -> dict[str, Any]:
        return self.wait_for(lambda message: message["type"] == "finished")

    def requests(self) -> list[str]:
        return [message["method"] for message in self.seen if message["type"] == "request"]

    def hang_up(self) -> None:
        """Closes both ends; the attempt sees an end of file."""
        self._listener.close()
        if self._connection is not None:
            with contextlib.suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)
            self._connection.close()


class Guest:
    """Answers the guest server's routes; a test changes `routes` to make it bad in one way."""

    def __init__(self) -> None:
        self.commands: list[Any] = []
        self._answer = b"{}"
        self.output("")
        self.routes: dict[str, Callable[[bytes], Reply]] = {
            "/terminal": lambda _: (200, b'{"output": ""}'),
            "/screenshot": lambda _: (200, PNG),
            "/execute": self._execute,
            "/setup/execute": self._execute,
            "/setup/launch": lambda _: (200, b"launched"),
            "/start_recording": lambda _: (200, b"{}"),
            "/end_recording": lambda _: (200, b"film"),
        }
        guest = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                route = guest.routes.get(self.path)
                status, answer = route(body) if route else (404, b"{}")
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                with contextlib.suppress(BrokenPipeError):  # The attempt may have gone meanwhile.
                    self.wfile.write(answer)

            do_POST = do_GET  # noqa: N815

            def log_message(self, format: str, *args: Any) -> None:
                del format, args

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    def output(self, text: str) -> None:
        """What every command of the guest prints from now on."""
        answer = {"status": "success", "output": text, "error": "", "returncode": 0}
        self._answer = json.dumps(answer).encode()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _execute(self, body: bytes) -> Reply:
        self.commands.append(json.loads(body)["command"])
        return 200, self._answer


def ports(guest: Guest) -> dict[str, Any]:
    return {"ok": True, "ports": {"server": guest.port, "cdp": 9, "vnc": 9, "vlc": 9}}


def make_task(**changes: Any) -> dict[str, Any]:
    """A task that is solved when the guest's command prints `yes`."""
    return {
        "id": "0000-task",
        "instruction": "Make it so.",
        "config": [{"type": "execute", "parameters": {"command": ["true"]}}],
        "evaluator": {
            "func": "exact_match",
            "result": {"type": "vm_command_line", "command": "is-it-so"},
            "expected": {"type": "rule", "rules": {"expected": "yes"}},
        },
        **changes,
    }


def make_config(folder: Path, **changes: Any) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "run_id": "run-1",
        "attempt_dir": str(folder),
        "task": {"domain": "os", "id": "0000-task"},
        "task_file": str(folder / "task.json"),
        "trial": 1,
        "attempt": 1,
        "agent": {"kind": "scripted", "actions": ["pyautogui.press('enter')", "DONE"]},
        "max_steps": 10,
        "timing": "settled",
        "screen": {"width": 1920, "height": 1080},
        "client_password": "password",
        "enable_proxy": False,
        "profile_dir": str(PROFILE),
        "record": True,
        **changes,
    }


def start_attempt(
    folder: Path, socket_path: Path, config: dict[str, Any], environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    """The real program in a process of its own, whose environment holds nothing else."""
    config_file = folder / "attempt.json"
    config_file.write_text(json.dumps(config), encoding="utf-8")
    with (folder / "stdout.log").open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "osworld_adapter", "--config", str(config_file)],
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(SOURCE),
                "OSWORLD_CONTROL_SOCKET": str(socket_path),
                **environment,
            },
            stdout=output,
            stderr=subprocess.STDOUT,
        )
