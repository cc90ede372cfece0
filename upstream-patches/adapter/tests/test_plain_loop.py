from __future__ import annotations

import io
import json
from typing import Any

import pytest

from osworld_adapter.plain_loop import LineClient, run_task


class RecordingEnv:
    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []

    def reset(self, task_config: dict[str, Any]) -> None:
        self.calls.append(("reset", task_config["id"]))

    def step(self, action: str, pause: float) -> None:
        self.calls.append(("step", (action, pause)))

    def evaluate(self) -> int:
        self.calls.append(("evaluate", None))
        return 1


def test_a_task_is_run_with_the_fixed_waits_and_without_the_script_s_own() -> None:
    env = RecordingEnv()
    reward = run_task(
        env,
        {"id": "t"},
        [{"wait_for_window": "x", "timeout_seconds": 5}, "pyautogui.click()", {"wait_seconds": 3}, "DONE"],
        sleep=lambda seconds: env.calls.append(("sleep", seconds)),
    )
    assert reward == 1.0
    assert env.calls == [
        ("reset", "t"),
        ("sleep", 60.0),
        ("step", ("pyautogui.click()", 2.0)),
        ("step", ("DONE", 2.0)),
        ("sleep", 20.0),
        ("evaluate", None),
    ]


def test_the_sandbox_s_owner_is_asked_by_lines() -> None:
    questions = io.StringIO()
    client = LineClient(questions, io.StringIO('{"server": 1}\n'))
    assert client.request("start") == {"server": 1}
    assert json.loads(questions.getvalue()) == {"type": "start"}
    with pytest.raises(RuntimeError, match="nobody answers stop"):
        client.request("stop")
