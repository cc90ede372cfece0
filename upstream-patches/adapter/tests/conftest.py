from __future__ import annotations

import importlib.util
import json
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes import DEADLINE_SECONDS, Coordinator, Guest, make_config, make_task, ports, start_attempt
from model_fakes import CLICK, DONE, Model, picture

Run = Callable[..., "Running"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if importlib.util.find_spec("desktop_env") is not None:
        return
    reason = "desktop-env is not in this interpreter: install profiles/package-1.0.2/requirements.txt and use that one"
    for item in items:
        if item.get_closest_marker("upstream"):
            item.add_marker(pytest.mark.skip(reason=reason))


class Running:
    """One attempt process with its coordinator."""

    def __init__(self, coordinator: Coordinator, process: Any, folder: Path) -> None:
        self.coordinator = coordinator
        self.process = process
        self.folder = folder

    def finish(self) -> dict[str, Any]:
        """The last message, after the process has gone with exit code 0."""
        message = self.coordinator.finished()
        assert self.process.wait(DEADLINE_SECONDS) == 0
        return message


@pytest.fixture
def guest() -> Iterator[Guest]:
    guest = Guest()
    yield guest
    guest.stop()


@pytest.fixture
def socket_path() -> Iterator[Path]:
    # Not tmp_path: a unix socket's address holds 107 characters at most.
    folder = Path(tempfile.mkdtemp(prefix="osw-"))
    yield folder / "control"
    shutil.rmtree(folder)


@pytest.fixture
def run(guest: Guest, tmp_path: Path, socket_path: Path) -> Iterator[Run]:
    started: list[Running] = []

    def start(
        task: dict[str, Any] | None = None,
        answer: Callable[[str], dict[str, Any]] | None = None,
        environment: dict[str, str] | None = None,
        **changes: Any,
    ) -> Running:
        coordinator = Coordinator(
            socket_path, answer or (lambda method: ports(guest) if method != "stop" else {"ok": True})
        )
        (tmp_path / "task.json").write_text(json.dumps(task or make_task()), encoding="utf-8")
        process = start_attempt(tmp_path, socket_path, make_config(tmp_path, **changes), environment or {})
        started.append(Running(coordinator, process, tmp_path))
        return started[-1]

    yield start
    for running in started:
        running.process.kill()
        running.process.wait()
        running.coordinator.hang_up()


@pytest.fixture
def screen(guest: Guest) -> Guest:
    drawn = picture()
    guest.routes["/screenshot"] = lambda _: (200, drawn)
    return guest


@pytest.fixture
def model(request: pytest.FixtureRequest) -> Iterator[Model]:
    model = Model(*getattr(request, "param", (CLICK, DONE)))
    yield model
    model.stop()
