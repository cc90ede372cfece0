"""Classes with OSWorld's agent interface, from a folder of the user's or from the package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from fakes import Guest
from model_fakes import GATEWAY, notes, trajectory

pytestmark = pytest.mark.upstream
CLASS = """
import sys
from neighbour import WORD

class Agent:
    def __init__(self, model, temperature: float = 0.0, observation_type="screenshot"):
        self.said = f"{model} {temperature!r} {WORD}"

    def reset(self, logger):
        logger.info("reset by %s", self.said)
        self.turn = 0

    def predict(self, instruction, obs):
        self.turn += 1
        print("looking at", len(obs["screenshot"]), obs["accessibility_tree"], sys.path[0].endswith("mine"))
        return BODY
"""


def module_agent(folder: Path, body: str, **settings: Any) -> dict[str, Any]:
    """Changes of a configuration to a class that answers with this expression."""
    mine = folder / "mine"
    mine.mkdir()
    (mine / "neighbour.py").write_text("WORD = 'near'\n")
    (mine / "my_agent.py").write_text(CLASS.replace("return BODY", body))
    agent = {"kind": "module", "class": "my_agent:Agent", "folder": str(mine), "model": "m", "settings": settings}
    return {"agent": agent, "record": False}


def test_a_class_of_the_users_acts_and_its_words_are_kept(run: Run, tmp_path: Path) -> None:
    answer = "return self.said, ['pyautogui.press(1)', 'DONE']"
    running = run(**module_agent(tmp_path, answer, temperature="0.5"))
    finished = running.finish()
    assert finished["outcome"] == "valid", finished
    steps = trajectory(running.folder)
    assert [(step["step_num"], step["turn"], step["action"]) for step in steps] == [
        (1, 1, "pyautogui.press(1)"),
        (2, 1, "DONE"),
    ]
    assert {step["response"] for step in steps} == {"m 0.5 near"}
    assert "looking at 15 None False" in (tmp_path / "stdout.log").read_text()
    assert "reset by m 0.5 near" in (tmp_path / "upstream.log").read_text()


def test_an_agent_that_asks_for_the_tree_gets_it(run: Run, guest: Guest, tmp_path: Path) -> None:
    guest.routes["/accessibility"] = lambda _: (200, b'{"AT": "<desktop/>"}')
    running = run(**module_agent(tmp_path, "return '', 'DONE'", observation_type="screenshot_a11y_tree"))
    assert running.finish()["outcome"] == "valid"
    assert "looking at 15 <desktop/> False" in (tmp_path / "stdout.log").read_text()


@pytest.mark.parametrize(
    ("body", "note"),
    [
        ("return None", "predict returned NoneType instead of (response, actions)"),
        ("return 'thinking', None", None),
        ("return 'thinking', []", None),
        ("return 'thinking', [7]", "an action of the agent is int instead of text"),
        ("return {1: 'a', 'b': 2}, []", None),
        (
            "return '', [\"print('\\0')\"]",
            "an action of the agent holds a NUL character, which no program can be given",
        ),
        (
            "return '', 'a' * 120_001",
            "an action of the agent needs 120001 bytes, and 120000 are the most that the guest takes",
        ),
    ],
)
def test_an_answer_without_an_action_is_asked_again_until_the_last_step(
    run: Run, tmp_path: Path, body: str, note: str | None
) -> None:
    running = run(max_steps=2, environment=GATEWAY, **module_agent(tmp_path, body))
    finished = running.finish()
    assert (finished["outcome"], finished["reward"]) == ("valid", 0.0)
    assert [(step["turn"], step["action"]) for step in trajectory(running.folder)] == [(1, ""), (2, "")]
    wanted = [note] * 2 if note else []
    assert [found for found in notes(running.folder) if "max_steps" not in found] == wanted
    assert [(m["step"], m["action"]) for m in running.coordinator.seen if m["type"] == "step"] == [(1, ""), (2, "")]


def test_a_long_response_is_cut_and_the_cut_is_marked(run: Run, tmp_path: Path) -> None:
    running = run(**module_agent(tmp_path, "return 'a' * 30_000, ['DONE']"))
    running.finish()
    (step,) = trajectory(running.folder)
    assert step["response"] == "a" * 20_000 + " [cut after 20000 of 30000 characters]"


def test_an_agent_that_crashes_is_seen(run: Run, tmp_path: Path) -> None:
    finished = run(**module_agent(tmp_path, "raise KeyError('here')")).finish()
    assert (finished["reason"], finished["phase"], finished["message"]) == (
        "runner_exit",
        "agent",
        "the agent my_agent:Agent failed in predict: KeyError: 'here'; its traceback is in stdout.log",
    )
    assert "KeyError: 'here'" in (tmp_path / "stdout.log").read_text()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("import openai; openai.OpenAI(base_url='http://127.0.0.1:1/v1', api_key='k', max_retries=0).models.list()",
         "APIConnectionError: Connection error."),
        ("import requests; requests.get('http://127.0.0.1:1')", "ConnectionError: "),
        ("import urllib.request; urllib.request.urlopen('http://127.0.0.1:1')", "URLError: "),
    ],
)  # fmt: skip
def test_a_client_that_cannot_reach_its_model_is_no_crash(run: Run, tmp_path: Path, body: str, said: str) -> None:
    finished = run(**module_agent(tmp_path, body)).finish()
    assert (finished["reason"], finished["phase"]) == ("model_unavailable", "agent")
    assert finished["message"].startswith(f"the model m gave no answer ({said}")
    assert finished["message"].endswith("so there is no score; check its endpoint")


@pytest.mark.parametrize(
    ("changes", "settings", "sentence"),
    [
        (
            {},
            {"temprature": "0.5"},
            "the agent my_agent:Agent cannot be made with model, temprature (TypeError: Agent.__init__() got an "
            "unexpected keyword argument 'temprature'. Did you mean 'temperature'?); correct config.agent.settings",
        ),
        ({"class": "my_agent:Agnt"}, {}, "my_agent has no class Agnt; name one that it has, as module:Class"),
        (
            {"class": "nowhere:Agent"},
            {},
            "nowhere:Agent cannot be imported (ModuleNotFoundError: No module named 'nowhere'); "
            "correct config.agent or install it",
        ),
    ],
)
def test_a_class_that_cannot_be_made_is_refused_before_there_is_a_sandbox(
    run: Run, tmp_path: Path, changes: dict[str, str], settings: dict[str, Any], sentence: str
) -> None:
    given = module_agent(tmp_path, "return '', ['DONE']", **settings)
    running = run(agent={**given["agent"], **changes})
    finished = running.finish()
    without_hint = finished["message"].replace(". Did you mean 'temperature'?", "")  # Newer Pythons add it.
    assert (finished["reason"], without_hint) == ("runner_exit", sentence.replace(". Did you mean 'temperature'?", ""))
    assert running.coordinator.requests() == []


def test_a_folder_whose_module_is_hidden_by_another_is_refused(run: Run, tmp_path: Path) -> None:
    given = module_agent(tmp_path, "return '', ['DONE']")
    finished = run(agent={**given["agent"], "class": "logging:Handler"}).finish()
    assert finished["message"].startswith("logging:Handler came from ")
    assert finished["message"].endswith(f"and must come from {tmp_path / 'mine'}; give it another name")
