"""The agents that the profile of the package declares."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes import PROFILE
from osworld_adapter.agent_config import UpstreamAgent
from osworld_adapter.agent_registry import load_registry, options_of
from osworld_adapter.fields import FieldError
from osworld_adapter.supplied_modules import SUPPLIED


def test_the_profile_declares_agents_that_this_adapter_can_make() -> None:
    registry = load_registry(PROFILE)
    assert sorted(registry.entries) == ["claude", "prompt", "qwen25vl", "qwen3vl", "uitars15"]
    assert set(registry.supplied) == set(SUPPLIED)
    assert not set(registry.refused) & set(registry.entries)


def test_settings_get_the_types_of_the_agent_and_the_defaults_that_are_declared() -> None:
    entry = load_registry(PROFILE).find("uitars15")
    options = options_of(entry, UpstreamAgent("uitars15", "m", {"temperature": 1, "top_p": "0.25", "input_swap": True}))
    assert (options["temperature"], options["top_p"], options["input_swap"]) == (1.0, 0.25, True)
    assert (options["max_tokens"], options["language"]) == (500, "English")


def test_what_is_not_said_is_left_to_the_agent() -> None:
    assert options_of(load_registry(PROFILE).find("qwen3vl"), UpstreamAgent("qwen3vl", "m", {})) == {}


def test_a_profile_without_agents_has_none(tmp_path: Path) -> None:
    (tmp_path / "adjustments.json").write_text("{}")
    assert load_registry(tmp_path).entries == {}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"modles": []}, "adjustments.json.agents.by_name.prompt.modles is not known; did you mean models?"),
        ({"models": [1]}, "adjustments.json.agents.by_name.prompt.models must be a list of texts"),
        ({"base_url": "X"}, "adjustments.json.agents.by_name.prompt.base_url must be one of OPENAI_BASE_URL"),
        (
            {"options": {"top_p": {"kind": "float"}}},
            "adjustments.json.agents.by_name.prompt.options.top_p.kind must be one of whole, decimal, flag, text",
        ),
    ],
)
def test_a_declaration_that_does_not_fit_is_refused(tmp_path: Path, changes: dict[str, Any], sentence: str) -> None:
    document = json.loads((PROFILE / "adjustments.json").read_text())
    document["agents"]["by_name"]["prompt"].update(changes)
    (tmp_path / "adjustments.json").write_text(json.dumps(document))
    with pytest.raises(FieldError) as refused:
        load_registry(tmp_path)
    assert str(refused.value).startswith(sentence)
