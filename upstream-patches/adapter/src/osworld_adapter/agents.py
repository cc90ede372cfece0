"""Agents of this runner: what to do next, given what is seen."""

from __future__ import annotations

from typing import Any, Protocol

from osworld_adapter.config import Action, AgentSettings


class Agent(Protocol):
    """Gives one action at a time; None means that it has nothing more to do."""

    def next_action(self, observation: dict[str, Any]) -> Action | None: ...


class ScriptedAgent:
    """Plays a list of actions, whatever it sees."""

    def __init__(self, actions: tuple[Action, ...]) -> None:
        self._actions = iter(actions)

    def next_action(self, observation: dict[str, Any]) -> Action | None:
        del observation
        return next(self._actions, None)


class NoAgent:
    """Does nothing: a template on which it scores above 0 is wrong."""

    def next_action(self, observation: dict[str, Any]) -> Action | None:
        del observation
        return None


def make_agent(settings: AgentSettings) -> Agent:
    return ScriptedAgent(settings.actions) if settings.kind == "scripted" else NoAgent()
