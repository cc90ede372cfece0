"""Agents that cannot be made as asked for: one sentence, and no sandbox."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conftest import Run
from fakes import SOURCE
from model_fakes import Model, by_name

pytestmark = pytest.mark.upstream


@pytest.mark.parametrize(
    ("agent", "sentence"),
    [
        (by_name("qwen3v"), "config.agent.name is qwen3v, no agent of this profile; did you mean qwen3vl?"),
        (
            by_name("robot"),
            "config.agent.name is robot, no agent of this profile; "
            "allowed here: claude, prompt, qwen25vl, qwen3vl, uitars15",
        ),
        (
            by_name("o3"),
            "the agent o3 of this profile cannot be run here: it asks api.openai.com itself, whatever address it is "
            "given; use http or module with an agent of your own",
        ),
        (
            by_name("qwen3vl", temprature="0.1"),
            "config.agent.settings.temprature is not known by the agent qwen3vl; did you mean temperature?",
        ),
        (
            by_name("qwen3vl", max_tokens="many"),
            "config.agent.settings.max_tokens must be a whole number, not 'many'",
        ),
        (
            by_name("qwen3vl", coordinate_type="polar"),
            "config.agent.settings.coordinate_type must be one of relative, absolute, not 'polar'",
        ),
        (
            by_name("qwen3vl", top_p="high"),
            "config.agent.settings.top_p must be a number, a fraction as text such as \"0.9\", not 'high'",
        ),
        (
            by_name("prompt", "claude-4"),
            "config.agent.model is claude-4 and the agent prompt asks only gpt*; name one of them",
        ),
    ],
)
def test_an_agent_that_cannot_be_made_is_refused_before_there_is_a_sandbox(
    run: Run, model: Model, agent: dict[str, Any], sentence: str
) -> None:
    running = run(environment=model.environment, **agent)
    finished = running.finish()
    assert (finished["reason"], finished["phase"], finished["message"]) == ("runner_exit", "import", sentence)
    assert running.coordinator.requests() == []


def test_an_agent_without_a_model_endpoint_is_refused(run: Run) -> None:
    finished = run(**by_name("qwen3vl")).finish()
    assert finished["message"] == (
        "the agent qwen3vl asks a model and OPENAI_BASE_URL is not set; give the run a model endpoint"
    )


def test_an_agent_whose_packages_are_missing_is_refused(run: Run, model: Model, tmp_path: Path) -> None:
    # Python's own way of having a package nowhere: a finder in front of the others.
    hiding = tmp_path / "hiding"
    hiding.mkdir()
    program = (
        "import importlib.util as u\nfind = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name in ('openai', 'backoff') else find(name, *rest)\n"
    )
    (hiding / "sitecustomize.py").write_text(program)
    path = f"{hiding}:{SOURCE}"
    running = run(environment={**model.environment, "PYTHONPATH": path}, **by_name("qwen3vl"))
    finished = running.finish()
    assert finished["message"] == ("the agent qwen3vl needs backoff, openai, not installed: pip install backoff openai")
    assert running.coordinator.requests() == []
