"""An object with OSWorld's agent interface, `reset` and `predict`, as an agent of this runner's loop."""

from __future__ import annotations

import inspect
import json
import logging
import shutil
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from osworld_adapter.action_text import unsendable
from osworld_adapter.agent_faults import is_model_failure, last_line
from osworld_adapter.agents import Assignment, Decision
from osworld_adapter.model_calls import ModelCalls
from osworld_adapter.outcome import AttemptError

LOGGER = "desktopenv.example"
UNREADABLE = "the model's answer could not be read by the agent"


@dataclass(frozen=True)
class Predicting:
    """What is known of the object: `parsers` are its functions whose exceptions are the model's nonsense.

    `call` is the path of its method that asks the model, `notes` go with the first turn.
    """

    name: str
    model: str
    wants_tree: bool = False
    call: str = ""
    parsers: tuple[str, ...] = ()
    scratch: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


class WatchedCalls:
    """Remembers that a call of the model failed for good, however the agent swallows it."""

    def __init__(self, model: str, environment: Mapping[str, str]) -> None:
        self.fault: AttemptError | None = None
        self.calls = ModelCalls(model, environment, self._failed)

    def watch(self, agent: Any, path: str) -> None:
        """Wraps the method at a path such as `client.create`, on this object only."""
        *parents, name = path.split(".")
        owner = agent
        for parent in parents:
            owner = getattr(owner, parent)
        setattr(owner, name, self._watched(self.calls.wrap(getattr(owner, name))))

    def _watched(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            answer = call(*args, **kwargs)
            self.fault = None  # An agent that asks again and gets its answer has lost nothing.
            return answer

        return called

    def _failed(self, failure: AttemptError) -> NoReturn:
        self.fault = failure
        raise failure


class PredictingAgent:
    """Asks `predict(instruction, observation)` for a response and actions, one call a turn."""

    def __init__(self, agent: Any, known: Predicting, environment: Mapping[str, str]) -> None:
        self.wants_tree = known.wants_tree
        self._agent = agent
        self._known = known
        self._instruction = ""
        self._notes = known.notes
        self._calls = WatchedCalls(known.model, environment)
        if known.call:
            self._calls.watch(agent, known.call)

    def begin(self, assignment: Assignment) -> None:
        """Calls `reset` with a logger, where the object has one that takes it."""
        self._instruction = assignment.instruction
        reset = getattr(self._agent, "reset", None)
        if reset is None:
            return
        arguments = (logging.getLogger(LOGGER),) if inspect.signature(reset).parameters else ()
        try:
            reset(*arguments)
        except Exception as error:
            raise self._fault(error, "reset") from error

    def decide(self, observation: dict[str, Any]) -> Decision:
        """One `predict`; AttemptError when the model failed or the agent broke."""
        decision = self._predict(observation)
        notes, self._notes = self._notes, ()
        return replace(decision, notes=(*notes, *decision.notes))

    def _predict(self, observation: dict[str, Any]) -> Decision:
        try:
            answer = self._agent.predict(self._instruction, dict(observation))
        except Exception as error:
            if self._calls.fault is None and self._by_parser(error):
                traceback.print_exc()
                return Decision((), notes=(f"{UNREADABLE}: {last_line(error)}",))
            raise self._fault(error, "predict") from error
        finally:
            for folder in self._known.scratch:
                shutil.rmtree(folder, ignore_errors=True)
        if self._calls.fault is not None:
            raise self._calls.fault
        if isinstance(answer, tuple) and answer[:2] == (None, None) and not self._calls.calls.gateway:
            raise self._calls.calls.failure("")  # How one of OSWorld's agents tells that its client failed.
        return decision_of(answer)

    def end(self, outcome: dict[str, Any]) -> None:
        """OSWorld's interface has no end."""

    def _by_parser(self, error: Exception) -> bool:
        """Whether the exception came from the agent's reading of an answer, and not from its asking."""
        names = {frame.name for frame in traceback.extract_tb(error.__traceback__)}
        return not is_model_failure(error) and bool(names & set(self._known.parsers))

    def _fault(self, error: Exception, method: str) -> AttemptError:
        if self._calls.fault is not None:
            return self._calls.fault
        if isinstance(error, AttemptError):
            return error
        if is_model_failure(error):
            return self._calls.calls.failure(last_line(error))
        return AttemptError(
            "runner_exit",
            f"the agent {self._known.name} failed in {method}: {last_line(error)}; its traceback is in stdout.log",
        )


def decision_of(answer: object) -> Decision:
    """The actions of `(response, actions)`; an answer of another shape is a turn without an action."""
    if not isinstance(answer, tuple | list) or len(answer) < 2:
        return Decision((), notes=(f"predict returned {type(answer).__name__} instead of (response, actions)",))
    response, actions = answer[0], answer[1]
    given = [actions] if isinstance(actions, str | dict) else actions if isinstance(actions, tuple | list) else []
    texts = [text_of(action) for action in given]
    faults = [_fault_of(action, text) for action, text in zip(given, texts, strict=True)]
    sound = tuple(text for text, fault in zip(texts, faults, strict=True) if text and fault is None)
    notes = tuple(f"an action of the agent {fault}" for fault in faults if fault is not None)
    return Decision(sound, _words(response), notes)


def text_of(action: object) -> str | None:
    """Text for DesktopEnv's `step`, which of an object takes its `command`; None for anything else."""
    text = action.get("command") if isinstance(action, dict) else action
    return text.strip() if isinstance(text, str) else None


def _fault_of(action: object, text: str | None) -> str | None:
    return f"is {type(action).__name__} instead of text" if text is None else unsendable(text)


def _words(response: object) -> str:
    if response is None or isinstance(response, str):
        return response or ""
    try:
        return json.dumps(response, default=str, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        # Keys of several kinds, or an object that holds itself: what was thought is no reason to lose what is done.
        return repr(response)
