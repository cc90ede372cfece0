"""The whole program once more: a fault on our side is never a 0 or a 1."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from conftest import Run
from fakes import Guest, Reply, make_task, ports

pytestmark = pytest.mark.upstream
IDLE: dict[str, Any] = {"agent": {"kind": "none"}, "record": False}
POST_COMMAND = {"type": "execute", "parameters": {"command": ["python", "-c", "save()"]}}
ACTIVATE = {"type": "activate_window", "parameters": {"window_name": "Writer"}}
STATE = {"type": "vm_command_line", "command": "is-it-so"}


def answering(status: int, body: bytes = b"{}") -> Callable[[bytes], Reply]:
    return lambda _: (status, body)


def make_evaluator(**changes: Any) -> dict[str, Any]:
    expected = {"type": "rule", "rules": {"expected": "yes"}}
    return {"func": "exact_match", "result": STATE, "expected": expected, **changes}


@pytest.mark.parametrize("func", ["infeasible", "exact_match"])
def test_a_guest_that_is_gone_makes_no_score_of_a_FAIL(run: Run, guest: Guest, func: str) -> None:  # noqa: N802
    # Upstream answers 1 or 0 after a FAIL without a look at the guest, beyond a /terminal whose answer it ignores.
    agent = {"kind": "scripted", "actions": ["FAIL"]}
    task = make_task(config=[], evaluator=make_evaluator(func=func))
    terminals = iter([(200, b"{}")])

    def terminal(_: bytes) -> Reply:
        if answer := next(terminals, None):
            return answer
        guest.routes["/screenshot"] = answering(502)
        return 502, b"{}"

    guest.routes["/terminal"] = terminal
    finished = run(task, agent=agent, record=False).finish()
    assert finished["outcome"] == "invalid", finished
    assert (finished["reason"], finished["phase"]) == ("guest_lost", "evaluate")


@pytest.mark.parametrize(
    ("step", "status", "reason"),
    [
        (POST_COMMAND, 502, "guest_lost"),
        (POST_COMMAND, 500, "evaluator_error"),
        (ACTIVATE, 502, "guest_lost"),
        (ACTIVATE, 404, None),
    ],
)
def test_a_post_config_step_that_failed_silently_gives_no_score(
    run: Run, guest: Guest, step: dict[str, Any], status: int, reason: str | None
) -> None:
    guest.output("yes")
    guest.routes[f"/setup/{step['type']}"] = answering(status)
    finished = run(make_task(config=[], evaluator=make_evaluator(postconfig=[step])), **IDLE).finish()
    assert finished.get("reason") == reason
    assert finished.get("phase", "evaluate") == "evaluate"


@pytest.mark.parametrize(("status", "reason"), [(502, "guest_lost"), (500, "setup_failed")])
def test_a_set_up_command_that_failed_silently_gives_no_score(run: Run, guest: Guest, status: int, reason: str) -> None:
    guest.routes["/setup/execute"] = answering(status)
    finished = run(**IDLE).finish()
    assert (finished["reason"], finished["phase"]) == (reason, "setup")


def test_a_command_that_the_guest_could_not_run_is_no_empty_answer(run: Run, guest: Guest) -> None:
    guest.routes["/execute"] = answering(500)
    finished = run(**IDLE).finish()
    assert (finished["reason"], finished["phase"]) == ("evaluator_error", "evaluate")
    assert "POST /execute" in finished["message"]


def test_an_application_that_is_closed_is_no_lost_guest(run: Run, guest: Guest) -> None:
    # Behind a relay a closed port answers 502; here VLC's port is another guest of its own.
    player = Guest()
    player.routes["/requests/status.xml"] = answering(502)
    reply = {"ok": True, "ports": {**ports(guest)["ports"], "vlc": player.port}}
    result = {"type": "vlc_playing_info", "dest": "status.xml"}
    expected = {"type": "rule", "rules": {"type": "file_name", "file_name": "a.mp4"}}
    evaluator = {"func": "is_vlc_playing", "result": result, "expected": expected}
    try:
        finished = run(make_task(evaluator=evaluator), lambda _: reply, **IDLE).finish()
    finally:
        player.stop()
    assert (finished["reason"], finished["phase"]) == ("evaluator_error", "evaluate")


def test_a_guest_file_that_cannot_be_kept_is_no_missing_file(run: Run, guest: Guest) -> None:
    guest.routes["/file"] = answering(200, b"content")
    evaluator = make_evaluator(result={"type": "vm_file", "path": "/a.txt", "dest": "no/such/folder/a.txt"})
    finished = run(make_task(evaluator=evaluator), **IDLE).finish()
    assert (finished["reason"], finished["phase"]) == ("evaluator_error", "evaluate")
    assert "IO error writing file" in finished["message"]


def test_guest_text_that_asks_the_scorer_to_exit_gives_no_score(run: Run, guest: Guest) -> None:
    guest.output("exit(0)")  # This metric evaluates the guest's text.
    evaluator = {"func": "check_gnome_favorite_apps", "result": STATE, "expected": make_evaluator()["expected"]}
    finished = run(make_task(evaluator=evaluator), **IDLE).finish()
    assert (finished["reason"], finished["phase"]) == ("evaluator_error", "evaluate")


@pytest.mark.parametrize(("output", "reward"), [("yes", 1.0), ("no", 0.0)])
def test_a_score_that_is_known_survives_the_loss_of_its_sandbox(
    run: Run, guest: Guest, output: str, reward: float
) -> None:
    # Else a zero would get another attempt whenever a sandbox is lost in time.
    guest.output(output)

    def answer(method: str) -> dict[str, Any]:
        if method == "stop":
            running.coordinator.push({"type": "lost", "reason": "guest_lost", "message": "gone"})
        return ports(guest)

    running = run(answer=answer, **IDLE)
    finished = running.finish()
    assert (finished["outcome"], finished["reward"]) == ("valid", reward)
    assert json.loads((running.folder / "timeline.json").read_text())["outcome"] == finished
    assert (running.folder / "result.txt").read_text() == f"{reward}\n"
