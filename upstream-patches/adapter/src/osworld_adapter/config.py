"""The attempt's configuration file."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from osworld_adapter.fields import FieldError, Fields

Timing = Literal["settled", "upstream"]


@dataclass(frozen=True)
class WaitForWindow:
    """Wait until a window title of the guest matches; then the step counts as a WAIT."""

    pattern: str
    timeout_seconds: float


@dataclass(frozen=True)
class WaitSeconds:
    """Wait a fixed time; then the step counts as a WAIT."""

    seconds: float


Action = str | WaitForWindow | WaitSeconds


@dataclass(frozen=True)
class AgentSettings:
    kind: Literal["scripted", "none"]
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True)
class AttemptConfig:
    """One attempt; paths are absolute."""

    run_id: str
    attempt_dir: Path
    domain: str
    task_id: str
    task_file: Path
    trial: int
    attempt: int
    agent: AgentSettings
    max_steps: int
    timing: Timing
    screen: tuple[int, int]
    client_password: str
    enable_proxy: bool
    profile_dir: Path
    record: bool


def load_config(path: Path) -> AttemptConfig:
    """The configuration in `path`; FieldError says which key is wrong and what it must be."""
    return parse_config(read_json(path))


def read_json(path: Path) -> Any:
    """A JSON file's content; FieldError when it cannot be read or is no JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FieldError(f"{path} cannot be read as JSON: {error}") from error


def parse_config(document: object) -> AttemptConfig:
    fields = Fields(document, "config")
    fields.choice("schema_version", (1,))
    task = Fields(fields.take("task", dict), "config.task")
    screen = Fields(fields.take("screen", dict), "config.screen")
    config = AttemptConfig(
        run_id=fields.take("run_id", str),
        attempt_dir=_absolute(fields, "attempt_dir"),
        domain=task.take("domain", str),
        task_id=task.take("id", str),
        task_file=_absolute(fields, "task_file"),
        trial=fields.positive("trial"),
        attempt=fields.positive("attempt"),
        agent=_agent(fields.take("agent", dict)),
        max_steps=fields.positive("max_steps"),
        timing=fields.choice("timing", ("settled", "upstream")),
        screen=(screen.positive("width"), screen.positive("height")),
        client_password=fields.take("client_password", str, "password"),
        enable_proxy=fields.take("enable_proxy", bool, False),
        profile_dir=_absolute(fields, "profile_dir"),
        record=fields.take("record", bool, True),
    )
    for part in (task, screen, fields):
        part.finish()
    return config


def _absolute(fields: Fields, key: str) -> Path:
    path = Path(fields.take(key, str))
    if not path.is_absolute():
        raise FieldError(f"{fields.path(key)} must be an absolute path, not {str(path)!r}")
    return path


def _agent(value: object) -> AgentSettings:
    fields = Fields(value, "config.agent")
    kind: Literal["scripted", "none"] = fields.choice("kind", ("scripted", "none"))
    actions = fields.take("actions", list) if kind == "scripted" else []
    fields.finish()
    return AgentSettings(kind, tuple(_action(item, f"config.agent.actions[{n}]") for n, item in enumerate(actions)))


def _action(value: object, path: str) -> Action:
    if isinstance(value, str):
        if not value.strip():
            raise FieldError(f"{path} is empty; write WAIT, DONE, FAIL or Python text for pyautogui")
        return value
    fields = Fields(value, path)
    action: Action
    if isinstance(value, dict) and "wait_seconds" in value:
        action = WaitSeconds(_seconds(fields, "wait_seconds"))
    else:
        action = WaitForWindow(fields.take("wait_for_window", str), _seconds(fields, "timeout_seconds", 20.0))
        _check_pattern(action.pattern, f"{path}.wait_for_window")
    fields.finish()
    return action


def _seconds(fields: Fields, key: str, default: float | None = None) -> float:
    value = fields.take(key, float) if default is None else fields.take(key, float, default)
    if not 0 < value <= 600:
        raise FieldError(f"{fields.path(key)} must be more than 0 and at most 600 seconds, not {value}")
    return value


def _check_pattern(pattern: str, path: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise FieldError(f"{path} is no regular expression: {error}") from error
