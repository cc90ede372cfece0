"""OSWorld's own agents, from its real package, asked by name and answered by a scripted model."""

from __future__ import annotations

import pytest

from conftest import Run
from fakes import Guest
from model_fakes import CLICK, DONE, GATEWAY, Model, by_name, notes, tool_call, trajectory

pytestmark = [pytest.mark.upstream, pytest.mark.usefixtures("screen")]

CLICK_INPUT = {"action": "left_click", "coordinate": [640, 180]}


def commands(guest: Guest) -> list[str]:
    """What the guest was told to do by actions, without the looks at its windows."""
    return [str(command[-1]).rpartition("FAILSAFE = False; ")[2] for command in guest.commands if len(command) == 3]


def test_qwen3vl_clicks_where_the_model_says_and_ends_when_it_says(run: Run, screen: Guest, model: Model) -> None:
    screen.output("yes")
    running = run(environment=model.environment, **by_name("qwen3vl", temperature="0.2", history_n=2))
    finished = running.finish()
    assert (finished["outcome"], finished["reward"]) == ("valid", 1.0), finished
    assert "pyautogui.click(240, 67)" in commands(screen)
    steps = trajectory(running.folder)
    assert [(step["turn"], step["action"]) for step in steps] == [(1, "pyautogui.click(240, 67)"), (2, "DONE")]
    assert [step["response"] for step in steps] == [CLICK, DONE]
    assert "the agent qwen3vl takes the setting temperature and sends it to no model" in notes(running.folder)
    assert not (running.folder / "draft").exists()
    assert [len(asked["messages"]) for asked in model.asked] == [2, 4]
    assert (model.asked[0]["model"], model.asked[0]["max_tokens"]) == ("m", 32768)


@pytest.mark.parametrize(
    "model", [("I would rather not.",), ("",), (DONE.removeprefix("Action: Do it.\n"),)], indirect=True
)
def test_a_model_that_answers_nonsense_is_a_valid_zero(run: Run, model: Model) -> None:
    running = run(environment={**model.environment, **GATEWAY}, max_steps=3, **by_name("qwen3vl"))
    finished = running.finish()
    assert (finished["outcome"], finished["reward"]) == ("valid", 0.0), finished
    assert [(step["turn"], step["action"]) for step in trajectory(running.folder)] == [(1, ""), (2, ""), (3, "")]
    assert len(model.asked) == 3


@pytest.mark.parametrize("model", [("",)], indirect=True)
def test_without_a_gateway_an_empty_answer_is_a_model_that_failed(run: Run, model: Model) -> None:
    finished = run(environment=model.environment, **by_name("qwen3vl")).finish()
    assert (finished["reason"], finished["phase"], finished["message"]) == (
        "model_unavailable",
        "agent",
        "the model m gave no answer, so there is no score; check its endpoint",
    )


@pytest.mark.parametrize(
    "model",
    [(tool_call(action="left_click", coordinate=[1]), DONE)],
    indirect=True,
)
def test_an_answer_that_breaks_the_agents_parser_is_a_turn_without_an_action(run: Run, model: Model) -> None:
    running = run(environment=model.environment, **by_name("qwen3vl"))
    assert running.finish()["outcome"] == "valid"
    assert [step["action"] for step in trajectory(running.folder)] == ["", "DONE"]
    assert notes(running.folder) == [
        "the model's answer could not be read by the agent: ValueError: not enough values to unpack (expected 2, got 1)"
    ]


def test_qwen25vl_asks_the_same_endpoint_and_sends_its_settings(run: Run, model: Model) -> None:
    running = run(environment=model.environment, **by_name("qwen25vl", temperature="0.25", max_tokens=700))
    assert running.finish()["outcome"] == "valid"
    assert (model.asked[0]["temperature"], model.asked[0]["max_tokens"]) == (0.25, 700)
    assert [step["action"] for step in trajectory(running.folder)][-1] == "DONE"


@pytest.mark.parametrize("model", [("```python\npyautogui.press('a')\n```", "```DONE```")], indirect=True)
def test_prompt_runs_the_code_that_the_model_writes(run: Run, model: Model) -> None:
    running = run(environment=model.environment, **by_name("prompt", "gpt-4o"))
    assert running.finish()["outcome"] == "valid"
    assert [step["action"] for step in trajectory(running.folder)] == ["pyautogui.press('a')", "DONE"]


def test_a_failure_that_prompt_swallows_is_no_score(run: Run, model: Model) -> None:
    model.stop()
    finished = run(environment=model.environment, **by_name("prompt", "gpt-4o")).finish()
    assert (finished["reason"], finished["phase"]) == ("model_unavailable", "agent")
    assert finished["message"].startswith("the model gpt-4o gave no answer (ConnectionError: ")


@pytest.mark.parametrize(
    "model",
    [("Thought: Here.\nAction: click(start_box='(500,250)')", "Thought: So.\nAction: finished(content='x')")],
    indirect=True,
)  # fmt: skip
def test_uitars15_clicks_and_finishes(run: Run, screen: Guest, model: Model) -> None:
    running = run(environment=model.environment, **by_name("uitars15", temperature="0.5", top_p="0.8"))
    finished = running.finish()
    assert finished["outcome"] == "valid", finished
    assert [step["action"] for step in trajectory(running.folder)][-1] == "DONE"
    assert any("pyautogui.click(" in command for command in commands(screen))
    assert (model.asked[0]["temperature"], model.asked[0]["top_p"]) == (0.5, 0.8)


def test_a_done_that_uitars15_makes_of_a_failed_service_is_no_score(run: Run, model: Model) -> None:
    model.fail(401)
    finished = run(environment=model.environment, **by_name("uitars15")).finish()
    assert (finished["reason"], finished["phase"]) == ("model_unavailable", "agent")


@pytest.mark.parametrize(
    "model",
    [
        (
            [{"type": "tool_use", "id": "t1", "name": "computer", "input": CLICK_INPUT}],
            [{"type": "text", "text": "It is done."}],
        )
    ],
    indirect=True,
)
def test_claude_clicks_and_is_done_when_it_calls_no_tool(run: Run, model: Model) -> None:
    running = run(environment=model.environment, **by_name("claude", "claude-4-sonnet-20250514"))
    finished = running.finish()
    assert finished["outcome"] == "valid", finished
    assert [step["action"] for step in trajectory(running.folder)] == ["pyautogui.click(960, 270)", "DONE"]
    assert trajectory(running.folder)[1]["response"] == "It is done."


def test_a_service_that_refuses_claude_is_no_score(run: Run, model: Model) -> None:
    model.fail(401)
    finished = run(environment=model.environment, **by_name("claude", "claude-4-sonnet-20250514")).finish()
    assert (finished["reason"], finished["phase"]) == ("model_unavailable", "agent")
