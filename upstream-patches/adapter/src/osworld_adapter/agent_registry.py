"""The agents of OSWorld's package that a profile declares by name, and what they are made with."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from osworld_adapter.agent_config import AgentOption, UpstreamAgent
from osworld_adapter.config import read_json
from osworld_adapter.fields import FieldError, Fields
from osworld_adapter.outcome import AttemptError

OptionKind = Literal["whole", "decimal", "flag", "text"]
_KINDS: tuple[OptionKind, ...] = ("whole", "decimal", "flag", "text")
_WANTED: dict[OptionKind, str] = {
    "whole": "a whole number",
    "decimal": 'a number, a fraction as text such as "0.9"',
    "flag": "true or false",
    "text": "text",
}
_DECIMAL = re.compile(r"-?\d+(\.\d+)?")


@dataclass(frozen=True)
class Option:
    """One setting of an agent; `default` is given when the user says nothing, None leaves it to the agent."""

    kind: OptionKind
    choices: tuple[str, ...] = ()
    default: AgentOption | None = None


@dataclass(frozen=True)
class AgentEntry:
    """One agent: where its class is, what its constructor gets, and how its calls of the model are seen.

    `given` are constructor arguments that are not the user's to choose; `options_in` names the argument that holds the
    settings, which else are arguments themselves. `environment` maps a variable that the agent reads to the one that
    holds the value. `call` is the path of the method that asks the model, `parsers` the functions that read its answer,
    `scratch` folders that the agent fills beside the evidence, `unsent` settings that it takes and does not use,
    `constants` names of its module that get another value.
    """

    name: str
    target: str
    module_sha256: str
    base_url: str
    models: tuple[str, ...]
    given: dict[str, Any]
    options_in: str
    options: dict[str, Option]
    packages: dict[str, str]
    environment: dict[str, str]
    call: str
    parsers: tuple[str, ...]
    scratch: tuple[str, ...]
    unsent: tuple[str, ...]
    constants: dict[str, AgentOption]


@dataclass(frozen=True)
class AgentRegistry:
    """All agents of a profile; `refused` are names of the package's other agents with the reason."""

    entries: dict[str, AgentEntry]
    refused: dict[str, str]
    lazy_packages: dict[str, str]
    supplied: dict[str, str]

    def find(self, name: str) -> AgentEntry:
        """The agent of that name; AttemptError says why there is none, or which is meant."""
        if name in self.entries:
            return self.entries[name]
        if name in self.refused:
            raise refusal(f"the agent {name} of this profile cannot be run here: {self.refused[name]}")
        raise refusal(f"config.agent.name is {name}, no agent of this profile; {nearest(name, self.entries)}")


def load_registry(profile_dir: Path) -> AgentRegistry:
    """Reads `agents` of `adjustments.json`; a profile without it has no agents by name."""
    document = read_json(profile_dir / "adjustments.json")
    path = "adjustments.json.agents"
    fields = Fields(document.get("agents", {}) if isinstance(document, dict) else {}, path)
    registry = AgentRegistry(
        entries={n: _entry(n, value, f"{path}.by_name.{n}") for n, value in fields.take("by_name", dict, {}).items()},
        refused=fields.take("refused", dict, {}),
        lazy_packages=fields.take("lazy_packages", dict, {}),
        supplied=fields.take("supplied_modules", dict, {}),
    )
    fields.finish()
    return registry


def check_model(entry: AgentEntry, model: str) -> None:
    """Refuses a model that the agent would not ask, or would ask at an address of its own."""
    if not any(fnmatchcase(model, pattern) for pattern in entry.models):
        allowed = ", ".join(entry.models)
        raise refusal(f"config.agent.model is {model} and the agent {entry.name} asks only {allowed}; name one of them")


def options_of(entry: AgentEntry, agent: UpstreamAgent) -> dict[str, Any]:
    """The user's settings and the defaults, in the types that the agent takes."""
    for name in agent.settings:
        if name not in entry.options:
            raise refusal(
                f"config.agent.settings.{name} is not known by the agent {entry.name}; {nearest(name, entry.options)}"
            )
    chosen = {name: agent.settings.get(name, option.default) for name, option in entry.options.items()}
    return {name: _typed(name, value, entry.options[name]) for name, value in chosen.items() if value is not None}


def nearest(name: str, known: Iterable[str]) -> str:
    """What to write instead of a name that is not known."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    return f"did you mean {near[0]}?" if near else f"allowed here: {', '.join(names) or 'nothing'}"


def refusal(sentence: str) -> AttemptError:
    """An agent that cannot be made as it was asked for; told before a sandbox exists."""
    return AttemptError("runner_exit", sentence)


def _typed(name: str, value: AgentOption, option: Option) -> AgentOption | float:
    if option.kind == "decimal" and not isinstance(value, bool) and _DECIMAL.fullmatch(str(value)):
        return float(value)
    wanted: type = {"whole": int, "flag": bool, "text": str, "decimal": float}[option.kind]
    if type(value) is not wanted:
        raise refusal(f"config.agent.settings.{name} must be {_WANTED[option.kind]}, not {value!r:.80}")
    if option.choices and value not in option.choices:
        raise refusal(f"config.agent.settings.{name} must be one of {', '.join(option.choices)}, not {value!r:.80}")
    return value


def _entry(name: str, value: object, path: str) -> AgentEntry:
    fields = Fields(value, path)
    entry = AgentEntry(
        name=name,
        target=fields.take("target", str),
        module_sha256=fields.take("module_sha256", str),
        base_url=fields.choice("base_url", ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL")),
        models=_texts(fields, "models"),
        given=fields.take("given", dict),
        options_in=fields.take("options_in", str, ""),
        options={n: _option(item, f"{path}.options.{n}") for n, item in fields.take("options", dict).items()},
        packages=fields.take("packages", dict),
        environment=fields.take("environment", dict, {}),
        call=fields.take("call", str, ""),
        parsers=_texts(fields, "parsers"),
        scratch=_texts(fields, "scratch"),
        unsent=_texts(fields, "unsent"),
        constants=fields.take("constants", dict, {}),
    )
    fields.take("intent", str)
    fields.finish()
    return entry


def _option(value: object, path: str) -> Option:
    fields = Fields(value, path)
    default = value.get("default") if isinstance(value, Mapping) else None
    if default is not None:
        fields.take("default", type(default))
    option = Option(fields.choice("kind", _KINDS), _texts(fields, "choices"), default)
    fields.finish()
    return option


def _texts(fields: Fields, key: str) -> tuple[str, ...]:
    values = fields.take(key, list, [])
    if not all(isinstance(value, str) for value in values):
        raise FieldError(f"{fields.path(key)} must be a list of texts")
    return tuple(values)
