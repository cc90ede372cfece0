"""Agents of this runner: what to do next, given what is seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from osworld_adapter.agent_config import Action


@dataclass(frozen=True)
class Decision:
    """What an agent answered in one turn: any number of actions, its own words, and what was odd about the answer."""

    actions: tuple[Action, ...]
    response: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Assignment:
    """The task that an agent is given, and `session`, a name of the attempt that no other attempt has."""

    session: str
    domain: str
    task_id: str
    instruction: str


class Agent(Protocol):
    """Asked turn by turn between `begin` and `end`; None means that it has nothing more to do."""

    wants_tree: bool

    def begin(self, assignment: Assignment) -> None: ...

    def decide(self, observation: dict[str, Any]) -> Decision | None: ...

    def end(self, outcome: dict[str, Any]) -> None: ...


class ScriptedAgent:
    """Plays a list of actions, whatever it sees."""

    wants_tree = False

    def __init__(self, actions: tuple[Action, ...]) -> None:
        self._actions = iter(actions)

    def begin(self, assignment: Assignment) -> None:
        """A script needs no preparation."""

    def decide(self, observation: dict[str, Any]) -> Decision | None:
        del observation
        action = next(self._actions, None)
        return None if action is None else Decision((action,))

    def end(self, outcome: dict[str, Any]) -> None:
        """A script does not care."""


class NoAgent(ScriptedAgent):
    """Does nothing: a template on which it scores above 0 is wrong."""

    def __init__(self) -> None:
        super().__init__(())
