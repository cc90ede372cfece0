"""Makes the agent of an attempt before there is a sandbox, so that one that cannot be made costs nothing."""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
import time
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from osworld_adapter.agent_config import AgentOption, HttpAgent, ModuleAgent, OwnLoopAgent, UpstreamAgent
from osworld_adapter.agent_faults import last_line
from osworld_adapter.agent_registry import (
    AgentEntry,
    AgentRegistry,
    check_model,
    load_registry,
    options_of,
    refusal,
)
from osworld_adapter.agents import Agent, NoAgent, ScriptedAgent
from osworld_adapter.config import AttemptConfig
from osworld_adapter.http_agent import AskedAgent, Surroundings
from osworld_adapter.lazy_imports import LazyImports
from osworld_adapter.packages import is_installed
from osworld_adapter.predicting_agent import Predicting, PredictingAgent
from osworld_adapter.supplied_modules import SUPPLIED, supply

PACKAGE = "mm_agents"
OBSERVATION_SETTING = "observation_type"
TREE_WORDS = ("a11y_tree", "som")


@dataclass(frozen=True)
class Making:
    """Where an agent is made: the attempt, and the environment that the agent reads."""

    config: AttemptConfig
    environment: MutableMapping[str, str]


def make_agent(agent: OwnLoopAgent, making: Making) -> Agent:
    """The agent; AttemptError says what is wrong with its name, settings, packages or class."""
    if isinstance(agent, HttpAgent):
        surroundings = Surroundings(making.config, making.environment, wants_tree(agent.settings), time.sleep)
        return AskedAgent(agent, surroundings)
    if isinstance(agent, UpstreamAgent):
        return _upstream(agent, making)
    if isinstance(agent, ModuleAgent):
        return _module(agent, making)
    return ScriptedAgent(agent.actions) if agent.kind == "scripted" else NoAgent()


def wants_tree(settings: Mapping[str, AgentOption]) -> bool:
    """Whether the agent's `observation_type`, in OSWorld's words, holds the accessibility tree."""
    observation = str(settings.get(OBSERVATION_SETTING, ""))
    return any(word in observation for word in TREE_WORDS)


def _upstream(agent: UpstreamAgent, making: Making) -> Agent:
    registry = load_registry(making.config.profile_dir)
    entry = registry.find(agent.name)
    check_model(entry, agent.model)
    options = options_of(entry, agent)
    if absent := [name for name in entry.packages if not is_installed(name)]:
        pip = " ".join(entry.packages[name] for name in absent)
        raise refusal(f"the agent {entry.name} needs {', '.join(absent)}, not installed: pip install {pip}")
    _point_at_model(entry, making.environment)
    with _importing(registry):
        found = _find(entry.target)
        _check_file(entry, found)
        vars(sys.modules[found.__module__]).update(entry.constants)
        arguments = _arguments(entry, options, making.config)
    made = _construct(entry.name, found, {**arguments, "model": agent.model})
    scratch = tuple(making.config.attempt_dir / name for name in entry.scratch)
    notes = tuple(
        f"the agent {entry.name} takes the setting {name} and sends it to no model"
        for name in entry.unsent
        if name in agent.settings
    )
    known = Predicting(entry.name, agent.model, wants_tree(entry.given), entry.call, entry.parsers, scratch, notes)
    return PredictingAgent(made, known, making.environment)


def _module(agent: ModuleAgent, making: Making) -> Agent:
    registry = load_registry(making.config.profile_dir)
    with _importing(registry), _on_path(agent.folder):
        found = _find(agent.target)
    if agent.folder is not None:
        file = Path(sys.modules[found.__module__].__file__ or "").resolve()
        if not file.is_relative_to(agent.folder.resolve()):
            raise refusal(f"{agent.target} came from {file} and must come from {agent.folder}; give it another name")
    made = _construct(agent.target, found, {**_numbers(found, agent.settings), "model": agent.model})
    known = Predicting(agent.target, agent.model, wants_tree(agent.settings))
    return PredictingAgent(made, known, making.environment)


def _point_at_model(entry: AgentEntry, environment: MutableMapping[str, str]) -> None:
    """Gives the addresses and keys under the names that this agent reads."""
    if not environment.get(entry.base_url):
        raise refusal(
            f"the agent {entry.name} asks a model and {entry.base_url} is not set; give the run a model endpoint"
        )
    for name, source in entry.environment.items():
        environment[name] = environment.get(source, "")


@contextmanager
def _importing(registry: AgentRegistry) -> Iterator[None]:
    """Imports of the package's agents: what they do not need on these paths stays away, what is absent is supplied."""
    unknown = sorted(set(registry.supplied) - set(SUPPLIED))
    if unknown:
        raise refusal(f"the profile declares the modules {', '.join(unknown)}, which this adapter does not supply")
    lazy = LazyImports(registry.lazy_packages, (PACKAGE,), supply(registry.supplied), "agent")
    with lazy.importing():
        yield


@contextmanager
def _on_path(folder: Path | None) -> Iterator[None]:
    if folder is None:
        yield
        return
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _find(target: str) -> Any:
    module_name, _, name = target.partition(":")
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        # Not only ImportError: a module may also fail over its own code.
        raise refusal(
            f"{target} cannot be imported ({last_line(error)}); correct config.agent or install it"
        ) from error
    found = getattr(module, name, None)
    if not inspect.isclass(found):
        raise refusal(f"{module_name} has no class {name}; name one that it has, as module:Class")
    return found


def _check_file(entry: AgentEntry, found: type) -> None:
    file = Path(sys.modules[found.__module__].__file__ or "")
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    if digest != entry.module_sha256:
        raise refusal(
            f"the agent {entry.name} is refused, the contract moved: {entry.target} is in a file of digest {digest}, "
            f"declared is {entry.module_sha256}"
        )


def _arguments(entry: AgentEntry, options: dict[str, Any], config: AttemptConfig) -> dict[str, Any]:
    given = {name: _given(value, config) for name, value in entry.given.items()}
    if not entry.options_in:
        return {**given, **options}
    return {**given, entry.options_in: {**given.get(entry.options_in, {}), **options}}


def _given(value: Any, config: AttemptConfig) -> Any:
    """A declared constructor argument; `{"attempt": NAME}` comes from the attempt, `{"member": X}` is an enum's."""
    if not isinstance(value, dict):
        return value
    if set(value) == {"attempt"}:
        return {"client_password": config.client_password, "max_steps": config.max_steps, "screen": config.screen}[
            value["attempt"]
        ]
    if set(value) == {"member"}:
        module, _, path = value["member"].partition(":")
        owner, _, name = path.partition(".")
        return getattr(getattr(importlib.import_module(module), owner), name)
    return {name: _given(item, config) for name, item in value.items()}


def _construct(name: str, found: type, arguments: dict[str, Any]) -> Any:
    try:
        return found(**arguments)
    except TypeError as error:
        named = ", ".join(sorted(arguments))
        raise refusal(
            f"the agent {name} cannot be made with {named} ({last_line(error)}); correct config.agent.settings"
        ) from error
    except Exception as error:
        raise refusal(f"the agent {name} cannot be made: {last_line(error)}") from error


def _numbers(found: type, settings: Mapping[str, AgentOption]) -> dict[str, Any]:
    """Settings for a class of the user's: text becomes a fraction where the class says that it wants one."""
    try:
        parameters = inspect.signature(found).parameters
    except (TypeError, ValueError):
        return dict(settings)
    return {name: _number(value, parameters[name]) if name in parameters else value for name, value in settings.items()}


def _number(value: AgentOption, parameter: inspect.Parameter) -> AgentOption | float:
    wanted = parameter.annotation in (float, "float") or isinstance(parameter.default, float)
    if not wanted or not isinstance(value, str):
        return value
    try:
        return float(value)
    except ValueError:
        return value
