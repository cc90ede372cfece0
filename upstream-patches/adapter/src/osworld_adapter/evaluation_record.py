"""What the getters and metrics of one evaluation were given and answered."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from osworld_adapter.outcome import AttemptError

LIMIT = 20_000  # Characters of a state kept as evidence; accessibility trees run to megabytes.


class EvaluationRecord:
    """Wraps the functions that upstream has chosen for the task; they run unchanged."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def wrap_set_evaluator_info(self, original: Callable[..., None]) -> Callable[..., None]:
        """A `_set_evaluator_info` that lets upstream choose and then puts recorders round the choice."""

        def set_evaluator_info(env: Any, task_config: dict[str, Any]) -> None:
            original(env, task_config)
            names = env.evaluator["func"]
            env.metric = self._each(env.metric, "metric", names)
            env.result_getter = self._each(env.result_getter, "result", names)
            env.expected_getter = self._each(env.expected_getter, "expected", names)

        return set_evaluator_info

    def metrics(self) -> list[dict[str, Any]]:
        """Name and value of every metric that ran, in order."""
        return [
            {"name": call["function"], "value": call.get("answer")} for call in self.calls if call["role"] == "metric"
        ]

    def _each(self, chosen: Any, role: str, names: Any) -> Any:
        if isinstance(chosen, list):
            return [self._recorder(function, role, name) for function, name in zip(chosen, names, strict=True)]
        return self._recorder(chosen, role, names)

    def _recorder(self, function: Any, role: str, metric: str) -> Any:
        if function is None:
            return None

        def recorded(*args: Any, **kwargs: Any) -> Any:
            # A getter's first argument is the environment; only its configuration is evidence.
            given = {"arguments": to_json(args if role == "metric" else args[1:]), "options": to_json(kwargs)}
            call: dict[str, Any] = {"role": role, "metric": metric, "function": function.__name__, **given}
            self.calls.append(call)
            started = time.monotonic()
            try:
                answer = function(*args, **kwargs)
            except FileNotFoundError as error:
                call["error"] = f"{type(error).__name__}: {error}"[:LIMIT]
                if role == "result" and not is_in(args[0].cache_dir, error.filename):
                    # Upstream makes a 0 of it, which is right only when the guest gave no file.
                    raise AttemptError("evaluator_error", f"{function.__name__}: {error}") from error
                raise
            except Exception as error:
                call["error"] = f"{type(error).__name__}: {error}"[:LIMIT]
                raise
            finally:
                call["seconds"] = round(time.monotonic() - started, 3)
            call["answer"] = to_json(answer)
            return answer

        return recorded


def is_in(folder: str, name: Any) -> bool:
    """True when the file of that name, whether or not it exists, is below the folder."""
    return isinstance(name, str | os.PathLike) and Path(os.path.realpath(name)).is_relative_to(os.path.realpath(folder))


def to_json(value: Any) -> Any:
    """A JSON-safe copy, cut at LIMIT characters a text; what JSON lacks becomes its `repr`."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else repr(value)
    if isinstance(value, str):
        return value if len(value) <= LIMIT else f"{value[:LIMIT]}... ({len(value)} characters)"
    if isinstance(value, dict):
        return {str(key): to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json(item) for item in value]
    return repr(value)[:LIMIT]
