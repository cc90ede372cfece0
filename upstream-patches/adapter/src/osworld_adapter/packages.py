"""Which packages and functions one task needs, so that it can be refused before a sandbox exists."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from osworld_adapter.config import read_json
from osworld_adapter.fields import FieldError, Fields
from osworld_adapter.outcome import AttemptError


@dataclass(frozen=True)
class Choice:
    """Needs that depend on one option of the metric; `rules.type` is the type of each of its rules."""

    option: str
    default: str
    values: dict[str, list[str]]


@dataclass(frozen=True)
class PackageNeeds:
    """Import names by function of one source; a function that is not listed does not exist in that source."""

    always: dict[str, str]
    metrics: dict[str, list[str] | Choice]
    getters: dict[str, list[str]]
    setup_steps: dict[str, list[str]]


@dataclass(frozen=True)
class TaskFunctions:
    """Names that a task file uses; `metrics` come with their options."""

    metrics: list[tuple[str, dict[str, Any]]]
    getters: list[str]
    setup_steps: list[str]


def load_package_needs(path: Path) -> PackageNeeds:
    """Reads `packages.json`; FieldError names what is wrong in it."""
    fields = Fields(read_json(path), path.name)
    fields.choice("schema_version", (1,))
    fields.take("source", dict)
    metrics = fields.take("metrics", dict)
    needs = PackageNeeds(
        always=fields.take("always", dict),
        metrics={name: _need(value, f"{path.name}.metrics.{name}") for name, value in metrics.items()},
        getters=fields.take("getters", dict),
        setup_steps=fields.take("setup_steps", dict),
    )
    fields.finish()
    return needs


def task_functions(task: Mapping[str, Any]) -> TaskFunctions:
    """The metrics, getters and set-up steps that upstream will look up for this task."""
    evaluator = task.get("evaluator")
    if not isinstance(evaluator, dict) or "func" not in evaluator:
        raise FieldError("task.evaluator.func is missing; the task file has no evaluator")
    names = _as_list(evaluator["func"])
    options = _as_list(evaluator.get("options") or {})
    states = [*_as_list(evaluator.get("result") or []), *_as_list(evaluator.get("expected") or [])]
    steps = [*(task.get("config") or []), *(evaluator.get("postconfig") or [])]
    return TaskFunctions(
        metrics=[(name, (options[n] or {}) if n < len(options) else {}) for n, name in enumerate(names)],
        getters=[state["type"] for state in states if state],
        setup_steps=[step["type"] for step in steps],
    )


def is_installed(import_name: str) -> bool:
    """True when the package can be found; nothing is imported."""
    return importlib.util.find_spec(import_name) is not None


def check_task(
    functions: TaskFunctions,
    needs: PackageNeeds,
    pip_names: Mapping[str, str],
    is_there: Callable[[str], bool] = is_installed,
) -> None:
    """Refuses a task that names a function this source lacks, or whose functions need a package that is absent."""
    unknown = [
        *(f"metric {name}" for name, _ in functions.metrics if name not in needs.metrics),
        *(f"getter {name}" for name in functions.getters if name not in needs.getters),
        *(f"set-up step {name}" for name in functions.setup_steps if name not in needs.setup_steps),
    ]
    if unknown:
        lacks = ", no ".join(dict.fromkeys(unknown))
        raise AttemptError("evaluator_error", f"this source has no {lacks}; take the task out or use another source")
    absent = [name for name in wanted_packages(functions, needs) if not is_there(name)]
    if absent:
        pip = " ".join(pip_names.get(name, name) for name in absent)
        raise AttemptError("evaluator_error", f"the task needs {', '.join(absent)}, not installed: pip install {pip}")


def wanted_packages(functions: TaskFunctions, needs: PackageNeeds) -> list[str]:
    """Sorted import names of everything that the task's functions may use."""
    wanted: set[str] = set(needs.always)
    for name, options in functions.metrics:
        wanted.update(_chosen(needs.metrics[name], options))
    for name in functions.getters:
        wanted.update(needs.getters[name])
    for name in functions.setup_steps:
        wanted.update(needs.setup_steps[name])
    return sorted(wanted)


def _chosen(need: list[str] | Choice, options: Mapping[str, Any]) -> Iterable[str]:
    if isinstance(need, list):
        return need
    values = _values_at(options, need.option.split(".")) or [need.default]
    return [name for value in values for name in need.values.get(str(value), [])]


def _values_at(value: Any, path: Sequence[str]) -> list[Any]:
    """What a path of keys leads to; a list on the way is followed in each of its elements."""
    if isinstance(value, list):
        return [found for element in value for found in _values_at(element, path)]
    if not path:
        return [value]
    return _values_at(value[path[0]], path[1:]) if isinstance(value, dict) and path[0] in value else []


def _need(value: object, path: str) -> list[str] | Choice:
    if isinstance(value, list):
        return value
    fields = Fields(value, path)
    choice = Choice(fields.take("option", str), fields.take("default", str), fields.take("values", dict))
    fields.finish()
    return choice


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
