"""A plain loop over upstream's environment with the fixed waits of its runner: what a campaign is compared with.

Reads one JSON document from the file named by its argument and asks for its sandbox on standard input and file
descriptor 3, as JSON lines; upstream's own prints stay on standard output.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any, TextIO

from osworld_adapter.fields import Fields
from osworld_adapter.provider import PROVIDER_NAME, make_factory
from osworld_adapter.upstream import import_upstream, prepare_process

# What upstream's runner scripts sleep after a reset and before an evaluation, and their pause after an action.
AFTER_RESET_SECONDS = 60.0
BEFORE_EVALUATION_SECONDS = 20.0
AFTER_ACTION_SECONDS = 2.0

ANSWERS = 3


class LineClient:
    """Asks for start, reset and stop by lines; the sandbox's owner answers each with its ports."""

    def __init__(self, questions: TextIO, answers: TextIO) -> None:
        self._questions = questions
        self._answers = answers

    def say(self, message: dict[str, Any]) -> None:
        self._questions.write(json.dumps(message) + "\n")
        self._questions.flush()

    def request(self, method: str) -> dict[str, int]:
        self.say({"type": method})
        line = self._answers.readline()
        if not line:
            raise RuntimeError(f"nobody answers {method}")
        answer: dict[str, int] = json.loads(line)
        return answer


def plain_action(action: object) -> str | None:
    """The action as upstream's `step` takes it; a wait is nothing, since the loop waits by the clock."""
    return action if isinstance(action, str) else None


def run_task(env: Any, task: dict[str, Any], actions: list[object], sleep: Any = time.sleep) -> float:
    """One task as upstream's runner does it; the reward."""
    env.reset(task_config=task)
    sleep(AFTER_RESET_SECONDS)
    for action in actions:
        text = plain_action(action)
        if text is not None:
            env.step(text, AFTER_ACTION_SECONDS)
    sleep(BEFORE_EVALUATION_SECONDS)
    return float(env.evaluate())


def main(path: Path) -> None:
    fields = Fields(json.loads(path.read_text(encoding="utf-8")), path.name)
    folder = Path(fields.take("folder", str))
    profile_dir = Path(fields.take("profile_dir", str))
    jobs = fields.take("jobs", list)
    fields.finish()
    prepare_process(folder, os.environ, enable_proxy=False)
    upstream = import_upstream(profile_dir)
    client = LineClient(os.fdopen(ANSWERS, "w", encoding="utf-8"), sys.stdin)
    upstream.module.create_vm_manager_and_provider = make_factory(client)
    env = upstream.module.DesktopEnv(
        provider_name=PROVIDER_NAME,
        action_space="pyautogui",
        cache_dir=str(folder / "cache"),
        screen_size=(1920, 1080),
        headless=True,
        os_type="Ubuntu",
        require_a11y_tree=False,
    )
    try:
        for job in jobs:
            started = time.monotonic()
            reward = run_task(env, json.loads(Path(job["task_file"]).read_text(encoding="utf-8")), job["actions"])
            client.say({"type": "scored", "id": job["id"], "reward": reward, "seconds": time.monotonic() - started})
    finally:
        env.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
