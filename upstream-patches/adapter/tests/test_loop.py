"""The loop on a small environment that answers as DesktopEnv does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from osworld_adapter.agent_config import Action, WaitSeconds
from osworld_adapter.agents import ScriptedAgent
from osworld_adapter.config import Timing
from osworld_adapter.evidence import Evidence
from osworld_adapter.loop import AttemptLoop, LoopSettings
from osworld_adapter.outcome import AttemptError, Invalid
from osworld_adapter.windows import Desktop


class Clock:
    def __init__(self) -> None:
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return sum(self.slept)

    def sleep(self, seconds: float, /) -> None:
        self.slept.append(seconds)


class Environment:
    """Keeps the actions; `picture` None is a guest that gives none."""

    instruction = "Make it so."

    def __init__(self, picture: bytes | None = b"picture") -> None:
        self.actions: list[tuple[Any, float]] = []
        self.picture = picture
        self.controller = self

    def execute_python_command(self, command: str) -> dict[str, str]:
        del command
        return {"output": "0x01  0 host Panel"}

    def get_screenshot(self) -> bytes | None:
        return self.picture

    def step(self, action: Any, pause: float) -> tuple[dict[str, Any], float, bool, dict[str, Any]]:
        self.actions.append((action, pause))
        return {"screenshot": self.picture}, 0, action in ("DONE", "FAIL"), {}


def play(
    folder: Path, actions: tuple[Action, ...], timing: Timing = "settled", max_steps: int = 10
) -> tuple[Environment, Clock, list[tuple[int, str, bool]]]:
    environment, clock, steps = Environment(), Clock(), list[tuple[int, str, bool]]()
    settings = LoopSettings(timing, max_steps, lambda *step: steps.append(step))
    evidence = Evidence(folder)
    loop = AttemptLoop(environment, evidence, settings, clock)
    loop.run(ScriptedAgent(actions), loop.after_reset())
    loop.before_evaluate()
    return environment, clock, steps


def test_upstreams_timing_waits_60_s_after_reset_and_20_s_before_evaluation(tmp_path: Path) -> None:
    _, clock, _ = play(tmp_path, ("a()", "DONE"), "upstream")
    assert clock.slept == [60.0, 20.0]


def test_settled_timing_probes_after_reset_and_after_every_action_but_the_last(tmp_path: Path) -> None:
    _, clock, _ = play(tmp_path, ("a()", "DONE"))
    assert clock.slept == [0.4, 0.4]


def test_steps_are_reported_and_upstream_never_pauses(tmp_path: Path) -> None:
    environment, _, steps = play(tmp_path, ("a()", WaitSeconds(3.0), "FAIL", "never()"))
    assert environment.actions == [("a()", 0), ("WAIT", 0), ("FAIL", 0)]
    assert steps == [(1, "a()", False), (2, "WAIT", False), (3, "FAIL", True)]
    lines = [json.loads(line) for line in (tmp_path / "traj.jsonl").read_text().splitlines()]
    assert [line["step_num"] for line in lines] == [1, 2, 3]
    assert lines[1]["info"] == {"waited_seconds": 3.0}


def test_an_agent_that_does_not_stop_is_stopped_after_max_steps(tmp_path: Path) -> None:
    environment, _, _ = play(tmp_path, ("a()", "b()", "c()"), max_steps=2)
    assert [action for action, _ in environment.actions] == ["a()", "b()"]


@pytest.mark.parametrize(("timing", "slept"), [("settled", 15.4), ("upstream", 60.0)])
def test_a_promised_window_that_does_not_come_is_noted_where_windows_are_waited_for(
    tmp_path: Path, timing: Timing, slept: float
) -> None:
    clock, evidence = Clock(), Evidence(tmp_path)
    loop = AttemptLoop(Environment(), evidence, LoopSettings(timing, 1, lambda *_: None), clock)
    loop.after_reset(Desktop({"0x01": "Panel"}, b"picture"), promised=1)
    evidence.outcome(Invalid("timeout", "agent", ""))
    notes = json.loads((tmp_path / "timeline.json").read_text())["notes"]
    assert sum(clock.slept) == pytest.approx(slept)
    assert notes == (["the set-up promised 1 new windows and 0 came within 15.0 s"] if timing == "settled" else [])


def test_a_guest_without_a_picture_is_lost(tmp_path: Path) -> None:
    settings = LoopSettings("settled", 1, lambda *_: None)
    with pytest.raises(AttemptError) as lost:
        AttemptLoop(Environment(None), Evidence(tmp_path), settings, Clock()).after_reset()
    assert lost.value.reason == "guest_lost"


def test_files_appear_whole_and_leave_no_partial_ones(tmp_path: Path) -> None:
    play(tmp_path, ("a()", "DONE"))
    names = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    pictures = ["reset", "step_1_after", "step_1_before", "step_2_after", "step_2_before"]
    assert names == [*(f"screenshots/{name}.png" for name in pictures), "traj.jsonl"]
