"""Who acts in an attempt, as its configuration says."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from osworld_adapter.fields import FieldError, Fields

AgentOption = str | int | bool
KINDS = ("scripted", "none", "upstream_runner", "upstream", "module", "http")
_OPTION_NAME = re.compile(r"[a-z][a-z0-9_]*")
_CLASS_NAME = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


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
    """Who acts inside this runner."""

    kind: Literal["scripted", "none"]
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True)
class RunnerSource:
    """What the checkout is of, when it is not the source that the adjustments name."""

    repository: str
    commit: str


@dataclass(frozen=True)
class UpstreamRunner:
    """OSWorld's own runner script, which brings loop and agent; arguments without their dashes, True is a flag."""

    checkout: Path
    runner: str
    model: str
    arguments: dict[str, str | Literal[True]]
    source: RunnerSource | None = None


@dataclass(frozen=True)
class UpstreamAgent:
    """An agent that OSWorld's package brings, by the name under which the profile declares it."""

    name: str
    model: str
    settings: dict[str, AgentOption] = field(default_factory=dict)


@dataclass(frozen=True)
class ModuleAgent:
    """A class with OSWorld's agent interface, `module:Class`; from the package when there is no folder."""

    target: str
    model: str
    settings: dict[str, AgentOption] = field(default_factory=dict)
    folder: Path | None = None


@dataclass(frozen=True)
class HttpAgent:
    """A program outside of the attempt that is asked over HTTP; `url` has no slash at its end."""

    url: str
    name: str
    settings: dict[str, AgentOption] = field(default_factory=dict)
    model: str | None = None


OwnLoopAgent = AgentSettings | UpstreamAgent | ModuleAgent | HttpAgent
AnyAgent = OwnLoopAgent | UpstreamRunner


def absolute(fields: Fields, key: str) -> Path:
    """The absolute path under `key`; FieldError for any other."""
    path = Path(fields.take(key, str))
    if not path.is_absolute():
        raise FieldError(f"{fields.path(key)} must be an absolute path, not {str(path)!r}")
    return path


def parse_agent(value: object) -> AnyAgent:
    """The agent of a configuration; FieldError says which key is wrong and what it must be."""
    fields = Fields(value, "config.agent")
    match fields.choice("kind", KINDS):
        case "upstream_runner":
            return _runner(fields)
        case "upstream":
            return _upstream(fields)
        case "module":
            return _module(fields)
        case "http":
            return _http(fields)
        case "scripted":
            return _scripted(fields)
    fields.finish()
    return AgentSettings("none")


def _scripted(fields: Fields) -> AgentSettings:
    actions = fields.take("actions", list)
    fields.finish()
    return AgentSettings(
        "scripted", tuple(_action(item, f"config.agent.actions[{n}]") for n, item in enumerate(actions))
    )


def _upstream(fields: Fields) -> UpstreamAgent:
    agent = UpstreamAgent(fields.take("name", str), fields.take("model", str), _options(fields))
    fields.finish()
    return agent


def _module(fields: Fields) -> ModuleAgent:
    target = fields.take("class", str)
    if not _CLASS_NAME.fullmatch(target):
        raise FieldError(f"{fields.path('class')} must be module:Class, not {target!r:.80}")
    folder = absolute(fields, "folder") if fields.take("folder", str, "") else None
    agent = ModuleAgent(target, fields.take("model", str), _options(fields), folder)
    fields.finish()
    return agent


def _http(fields: Fields) -> HttpAgent:
    url = fields.take("url", str)
    parts = urlsplit(url)
    if parts.username is not None:
        raise FieldError(f"{fields.path('url')} must hold no user and no password; the agent is asked without them")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise FieldError(f"{fields.path('url')} must be an address such as http://127.0.0.1:8000, not {url!r:.80}")
    agent = HttpAgent(
        url.rstrip("/"), fields.take("name", str), _options(fields), fields.take("model", str, "") or None
    )
    fields.finish()
    return agent


def _options(fields: Fields) -> dict[str, AgentOption]:
    options = fields.take("settings", dict, {})
    for name, value in options.items():
        if not _OPTION_NAME.fullmatch(name):
            raise FieldError(f"{fields.path('settings')}.{name} is no name; write lower-case letters, digits and _")
        if not isinstance(value, str | int | bool):
            raise FieldError(
                f"{fields.path('settings')}.{name} must be text, a whole number, true or false, not {value!r:.80}; "
                "write a fraction as text"
            )
    return dict(options)


def _runner(fields: Fields) -> UpstreamRunner:
    arguments = fields.take("arguments", dict)
    for name, value in arguments.items():
        if not isinstance(value, str) and value is not True:
            raise FieldError(f"config.agent.arguments.{name} must be text, or true for a flag, not {value!r:.80}")
    runner = UpstreamRunner(
        checkout=absolute(fields, "checkout"),
        runner=fields.take("runner", str),
        model=fields.take("model", str),
        arguments=arguments,
        source=_runner_source(fields.take("source", dict, {})),
    )
    fields.finish()
    return runner


def _runner_source(value: dict[str, Any]) -> RunnerSource | None:
    if not value:
        return None
    fields = Fields(value, "config.agent.source")
    source = RunnerSource(fields.take("repository", str), fields.take("commit", str))
    fields.finish()
    return source


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
