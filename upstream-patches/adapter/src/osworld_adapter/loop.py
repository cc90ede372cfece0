"""From reset to the last action: observe, ask the agent, act, keep the evidence."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from osworld_adapter.agent_config import Action, WaitForWindow, WaitSeconds
from osworld_adapter.agents import Agent, Decision
from osworld_adapter.config import Timing
from osworld_adapter.evidence import Evidence, Step
from osworld_adapter.outcome import AttemptError
from osworld_adapter.waiting import Clock, settle
from osworld_adapter.windows import Desktop, wait_for_new_windows, wait_for_window

RESET_BOUND_SECONDS = 10.0
ACTION_BOUND_SECONDS = 5.0
RESPONSE_CHARACTERS = 20_000
UPSTREAM_AFTER_RESET_SECONDS = 60.0
UPSTREAM_BEFORE_EVALUATE_SECONDS = 20.0


@dataclass(frozen=True)
class LoopSettings:
    timing: Timing
    max_steps: int
    on_step: Callable[[int, str, bool], None]


class AttemptLoop:
    """Drives one DesktopEnv that was reset to the task."""

    def __init__(self, env: Any, evidence: Evidence, settings: LoopSettings, clock: Clock) -> None:
        self._env = env
        self._evidence = evidence
        self._settings = settings
        self._clock = clock
        self._actions = 0

    def after_reset(self, before: Desktop | None = None, promised: int = 0) -> bytes:
        """Waits as the timing says, for as many new windows as the set-up promised; the first picture, also kept."""
        if self._settings.timing == "upstream":
            self._clock.sleep(UPSTREAM_AFTER_RESET_SECONDS)
            screenshot = seen(self._env.controller.get_screenshot())
        else:
            if before is not None:
                self._wait_for_new_windows(before, promised)
            screenshot = self._settle(RESET_BOUND_SECONDS, "after reset")
        self._evidence.screenshot("reset", screenshot)
        return screenshot

    def run(self, agent: Agent, screenshot: bytes) -> None:
        """Acts until the agent stops, says DONE or FAIL, or has used its turns, each of any number of actions."""
        for turn in range(1, self._settings.max_steps + 1):
            decision = agent.decide(self._observation(agent, screenshot))
            if decision is None:
                return
            for note in decision.notes:
                self._evidence.note(note)
            if not decision.actions:
                self._no_action(turn, decision, screenshot)
            for action in decision.actions:
                screenshot, done = self._step(turn, action, decision, screenshot)
                if done:
                    return
        self._evidence.note(f"stopped after max_steps = {self._settings.max_steps}")

    def before_evaluate(self) -> None:
        if self._settings.timing == "upstream":
            self._clock.sleep(UPSTREAM_BEFORE_EVALUATE_SECONDS)

    def _observation(self, agent: Agent, screenshot: bytes) -> dict[str, Any]:
        tree = None
        if agent.wants_tree:
            tree = self._env.controller.get_accessibility_tree()
            if tree is None:
                raise AttemptError("guest_lost", "the guest gave no accessibility tree in three tries")
        seen = {"screenshot": screenshot, "accessibility_tree": tree, "terminal": None}
        return {**seen, "instruction": self._env.instruction}

    def _step(self, turn: int, action: Action, decision: Decision, before: bytes) -> tuple[bytes, bool]:
        self._actions += 1
        number = self._actions
        timestamp = now()
        waited = self._wait(action)
        text = action if isinstance(action, str) else "WAIT"
        observation, reward, done, info = self._env.step(text, pause=0)
        after = seen(observation["screenshot"])
        if not done and self._settings.timing == "settled":
            after = self._settle(ACTION_BOUND_SECONDS, f"after step {number}")
        self._evidence.step(
            Step(
                step_num=number,
                turn=turn,
                action=text,
                action_timestamp=timestamp,
                response=bounded(decision.response),
                reward=reward,
                done=done,
                info={**info, **waited},
                screenshot_before=self._evidence.screenshot(f"step_{number}_before", before),
                screenshot_after=self._evidence.screenshot(f"step_{number}_after", after),
            )
        )
        self._settings.on_step(turn, text, done)
        return after, done

    def _no_action(self, turn: int, decision: Decision, screenshot: bytes) -> None:
        """A turn that changed nothing, since the answer held no action; the agent is asked again."""
        self._actions += 1
        place = self._evidence.screenshot(f"step_{self._actions}_before", screenshot)
        self._evidence.step(
            Step(
                step_num=self._actions,
                turn=turn,
                action="",
                action_timestamp=now(),
                response=bounded(decision.response),
                reward=0,
                done=False,
                info={"no_action": True},
                screenshot_before=place,
                screenshot_after=place,
            )
        )
        self._settings.on_step(turn, "", False)

    def _wait(self, action: Action) -> dict[str, Any]:
        if isinstance(action, WaitSeconds):
            self._clock.sleep(action.seconds)
            return {"waited_seconds": action.seconds}
        if not isinstance(action, WaitForWindow):
            return {}
        waited = wait_for_window(self._env.controller, action, self._clock)
        if not waited["found"]:
            self._evidence.note(f"no window matched {action.pattern!r} within {action.timeout_seconds} s")
        return waited

    def _wait_for_new_windows(self, before: Desktop, promised: int) -> None:
        waited = wait_for_new_windows(self._env.controller, before, promised, self._clock)
        if not waited.drawn:
            came = f"{waited.new} came within {waited.seconds:.1f} s"
            undrawn = ", not drawn yet" if waited.new >= promised else ""
            self._evidence.note(f"the set-up promised {promised} new windows and {came}{undrawn}")

    def _settle(self, bound_seconds: float, when: str) -> bytes:
        settled = settle(self._env.controller.get_screenshot, bound_seconds, self._clock)
        if not settled.still:
            self._evidence.note(f"the screen did not stand still within {bound_seconds} s {when}")
        return seen(settled.screenshot)


def seen(screenshot: bytes | None) -> bytes:
    """The picture; a guest that gives none after upstream's three tries cannot be measured."""
    if screenshot is None:
        raise AttemptError("guest_lost", "the guest gave no screenshot in three tries")
    return screenshot


def bounded(response: str) -> str:
    """The agent's own words, cut where they would fill the disk; the cut is marked."""
    if len(response) <= RESPONSE_CHARACTERS:
        return response
    return f"{response[:RESPONSE_CHARACTERS]} [cut after {RESPONSE_CHARACTERS} of {len(response)} characters]"


def now() -> str:
    """UTC to the millisecond."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
