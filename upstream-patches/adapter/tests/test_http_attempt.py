"""Whole attempts with an agent outside of them: the example, a broken one, and none."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from fakes import DEADLINE_SECONDS, Guest
from model_fakes import Model, notes, trajectory

pytestmark = [pytest.mark.upstream, pytest.mark.usefixtures("screen")]
EXAMPLE = Path(__file__).parents[3] / "examples" / "http-agent" / "agent.py"


@pytest.fixture
def example() -> Iterator[str]:
    """The address of the example's program."""
    program = subprocess.Popen([sys.executable, str(EXAMPLE), "0"], stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    yield program.stdout.readline().split()[-1]
    program.kill()
    program.wait(DEADLINE_SECONDS)
    program.stdout.close()


def asked_at(url: str, **settings: Any) -> dict[str, Any]:
    agent = {"kind": "http", "url": url, "name": "mine", "model": "m", "settings": settings}
    return {"agent": agent, "record": False}


@pytest.mark.parametrize("model", [("Click at 100, 50.", "Hm.", "It is DONE")], indirect=True)
def test_the_example_clicks_where_its_model_says(run: Run, guest: Guest, model: Model, example: str) -> None:
    guest.output("yes")
    running = run(environment=model.environment, **asked_at(example))
    finished = running.finish()
    assert (finished["outcome"], finished["reward"]) == ("valid", 1.0), finished
    steps = trajectory(running.folder)
    assert [(step["turn"], step["action"]) for step in steps] == [
        (1, "pyautogui.click(100, 50, clicks=1, interval=0.1, button='left')"),
        (2, ""),
        (3, "DONE"),
    ]
    assert [step["response"] for step in steps] == ["Click at 100, 50.", "Hm.", "It is DONE"]
    assert "Make it so." in model.asked[0]["messages"][0]["content"][0]["text"]


def test_a_model_that_fails_behind_the_example_is_no_score(run: Run, model: Model, example: str) -> None:
    model.fail(500)
    finished = run(environment=model.environment, **asked_at(example)).finish()
    assert (finished["reason"], finished["phase"]) == ("model_unavailable", "agent")


def test_an_agent_that_answers_nonsense_is_a_valid_zero(run: Run) -> None:
    program = Guest()
    program.routes = {"/reset": lambda _: (200, b""), "/predict": lambda _: (200, b'{"actions": [{"type": "dance"}]}')}
    try:
        running = run(max_steps=2, **asked_at(f"http://127.0.0.1:{program.port}"))
        finished = running.finish()
    finally:
        program.stop()
    assert (finished["outcome"], finished["reward"]) == ("valid", 0.0)
    assert [(step["turn"], step["action"]) for step in trajectory(running.folder)] == [(1, ""), (2, "")]
    why = "actions[0].type must be one of click, move, drag, type, key, scroll, wait, not 'dance'"
    assert notes(running.folder)[:2] == [f"turn {n}: the agent mine answered nonsense: {why}" for n in (1, 2)]


def test_an_agent_that_cannot_be_reached_is_no_score(run: Run) -> None:
    program = Guest()
    program.stop()
    running = run(**asked_at(f"http://127.0.0.1:{program.port}"))
    finished = running.finish()
    assert (finished["reason"], finished["phase"]) == ("model_unavailable", "agent")
    assert finished["message"].startswith("the agent mine gave no answer (ConnectionRefusedError: ")
    assert json.loads((running.folder / "timeline.json").read_text())["outcome"] == finished
