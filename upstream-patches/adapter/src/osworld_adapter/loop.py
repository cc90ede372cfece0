"""From reset to the last action: observe, ask the agent, act, keep the evidence."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from osworld_adapter.agents import Agent
from osworld_adapter.config import Action, Timing, WaitForWindow, WaitSeconds
from osworld_adapter.evidence import Evidence, Step
from osworld_adapter.outcome import AttemptError
from osworld_adapter.waiting import Clock, settle
from osworld_adapter.windows import Desktop, wait_for_new_windows, wait_for_window

RESET_BOUND_SECONDS = 10.0
ACTION_BOUND_SECONDS = 5.0
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
        """Acts until the agent stops, says DONE or FAIL, or has used its steps."""
        for number in range(1, self._settings.max_steps + 1):
            action = agent.next_action({"screenshot": screenshot, "instruction": self._env.instruction})
            if action is None:
                return
            screenshot, done = self._step(number, action, screenshot)
            if done:
                return
        self._evidence.note(f"stopped after max_steps = {self._settings.max_steps}")

    def before_evaluate(self) -> None:
        if self._settings.timing == "upstream":
            self._clock.sleep(UPSTREAM_BEFORE_EVALUATE_SECONDS)

    def _step(self, number: int, action: Action, before: bytes) -> tuple[bytes, bool]:
        timestamp = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
        waited = self._wait(action)
        text = action if isinstance(action, str) else "WAIT"
        observation, reward, done, info = self._env.step(text, pause=0)
        after = seen(observation["screenshot"])
        if not done and self._settings.timing == "settled":
            after = self._settle(ACTION_BOUND_SECONDS, f"after step {number}")
        self._evidence.step(
            Step(
                step_num=number,
                action=text,
                action_timestamp=timestamp,
                reward=reward,
                done=done,
                info={**info, **waited},
                screenshot_before=self._evidence.screenshot(f"step_{number}_before", before),
                screenshot_after=self._evidence.screenshot(f"step_{number}_after", after),
            )
        )
        self._settings.on_step(number, text, done)
        return after, done

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
