from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from osworld_adapter.evaluation_record import EvaluationRecord
from osworld_adapter.outcome import AttemptError


def getter(folder: Path, missing: Path) -> Any:
    """What upstream would call after choosing a getter that opens `missing`."""

    def choose(env: Any, task: dict[str, Any]) -> None:
        del task
        env.evaluator = {"func": "metric"}
        env.metric, env.expected_getter = len, None
        env.result_getter = lambda env, config: missing.read_text()  # noqa: ARG005

    env = SimpleNamespace(cache_dir=str(folder))
    EvaluationRecord().wrap_set_evaluator_info(choose)(env, {})
    return lambda: env.result_getter(env, {})


def test_a_file_that_the_guest_did_not_give_stays_a_FileNotFoundError(tmp_path: Path) -> None:  # noqa: N802
    with pytest.raises(FileNotFoundError):
        getter(tmp_path, tmp_path / "result.xlsx")()


def test_a_file_of_the_scorers_own_that_is_missing_is_evaluator_error(tmp_path: Path) -> None:
    with pytest.raises(AttemptError) as refusal:
        getter(tmp_path / "cache", tmp_path / "settings.yml")()
    assert refusal.value.reason == "evaluator_error"
