"""The whole program from outside: real process, real socket, upstream's real DesktopEnv, a small HTTP guest."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from conftest import Run
from fakes import DEADLINE_SECONDS, PNG, Guest, make_task, ports
from osworld_adapter.control import EXIT_COORDINATOR_GONE

pytestmark = pytest.mark.upstream
IMAGE_TEXT = {"func": "compare_image_text", "result": {"type": "vm_file"}, "expected": {"type": "cloud_file"}}


def test_a_solved_task_scores_1_with_evidence(run: Run, guest: Guest) -> None:
    guest.output("yes")
    running = run()
    finished = running.finish()
    assert finished["outcome"] == "valid", finished
    assert finished["reward"] == 1.0
    assert finished["evaluator"]["metrics"] == [{"name": "exact_match", "value": 1.0}]
    assert finished["upstream"] == {"name": "desktop-env", "version": "1.0.2"}
    assert finished["loaded_packages"] == []
    assert running.coordinator.requests() == ["start", "stop"]
    phases = [message["phase"] for message in running.coordinator.seen if message["type"] == "phase"]
    assert phases == ["import", "start", "setup", "agent", "evaluate", "close"]
    steps = [json.loads(line) for line in (running.folder / "traj.jsonl").read_text().splitlines()]
    assert [step["action"] for step in steps] == ["pyautogui.press('enter')", "DONE"]
    assert (running.folder / steps[0]["screenshot_before"]).read_bytes() == PNG
    assert (running.folder / "recording.mp4").read_bytes() == b"film"
    assert (running.folder / "result.txt").read_text() == "1.0\n"
    record = json.loads((running.folder / "evaluator.json").read_text())
    assert [call["role"] for call in record["calls"]] == ["result", "expected", "metric"]
    assert "Executing setup step" in (running.folder / "upstream.log").read_text()
    assert (running.folder / "cache" / "0000-task").is_dir()


def test_an_unsolved_task_scores_0_without_any_step(run: Run, guest: Guest) -> None:
    guest.output("no")
    running = run(agent={"kind": "none"})
    finished = running.finish()
    assert (finished["outcome"], finished["reward"]) == ("valid", 0.0)
    assert not (running.folder / "traj.jsonl").exists()


@pytest.mark.parametrize(("action", "reward"), [("FAIL", 1.0), ("DONE", 0.0)])
def test_an_infeasible_task_scores_1_only_after_FAIL(run: Run, action: str, reward: float) -> None:  # noqa: N802
    agent = {"kind": "scripted", "actions": [action]}
    finished = run(make_task(config=[], evaluator={"func": "infeasible"}), agent=agent).finish()
    assert (finished["outcome"], finished["reward"]) == ("valid", reward)


def test_waiting_for_a_window_counts_as_WAIT_and_says_when_none_came(run: Run, guest: Guest) -> None:  # noqa: N802
    guest.output("0x01  0 host Terminal - user\nyes")
    wanted = [{"wait_for_window": "^Term"}, {"wait_for_window": "Gimp", "timeout_seconds": 0.1}, "DONE"]
    running = run(agent={"kind": "scripted", "actions": wanted})
    running.finish()
    steps = [json.loads(line) for line in (running.folder / "traj.jsonl").read_text().splitlines()]
    assert [(step["action"], step["info"].get("found")) for step in steps] == [
        ("WAIT", True),
        ("WAIT", False),
        ("DONE", None),
    ]
    assert steps[0]["info"]["titles"] == ["Terminal - user"]
    assert any("Gimp" in note for note in json.loads((running.folder / "timeline.json").read_text())["notes"])


@pytest.mark.parametrize(
    ("task", "named"),
    [
        (make_task(evaluator=IMAGE_TEXT), "pip install easyocr"),
        (make_task(evaluator={"func": "check_play_and_exit"}), "metric check_play_and_exit"),
        (make_task(evaluator={"func": "exact_match", "result": {"type": "aura"}}), "getter aura"),
        (make_task(config=[{"type": "chrome_inject_js", "parameters": {}}]), "set-up step chrome_inject_js"),
    ],
)
def test_a_task_that_this_source_cannot_score_is_refused_before_a_sandbox(
    run: Run, task: dict[str, Any], named: str
) -> None:
    running = run(task)
    finished = running.finish()
    assert (finished["reason"], finished["phase"]) == ("evaluator_error", "import")
    assert named in finished["message"]
    assert running.coordinator.requests() == []


def test_a_sandbox_that_cannot_be_had_is_named_as_the_coordinator_named_it(run: Run) -> None:
    error = {"ok": False, "error": {"code": "guest_not_ready", "message": "no desktop after 60 s"}}
    running = run(answer=lambda _: error)
    finished = running.finish()
    assert (finished["reason"], finished["phase"]) == ("guest_not_ready", "start")
    assert "no desktop after 60 s" in finished["message"]
    assert running.coordinator.requests() == ["start"]


def test_a_score_survives_a_sandbox_that_does_not_stop(run: Run, guest: Guest) -> None:
    guest.output("yes")
    refused = {"ok": False, "error": {"code": "relay_failed", "message": "stuck"}}
    running = run(answer=lambda method: refused if method == "stop" else ports(guest), record=False)
    finished = running.finish()
    assert (finished["outcome"], finished["reward"]) == ("valid", 1.0)
    notes = json.loads((running.folder / "timeline.json").read_text())["notes"]
    assert any("close failed" in note and "stuck" in note for note in notes)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b'{"status":"error","message":"[Errno 2] No such file or directory: \'code\'"}', "application_missing"),
        (b'{"status":"error","message":"out of memory"}', "setup_failed"),
    ],
)
def test_a_failed_launch_is_no_score(run: Run, guest: Guest, answer: bytes, reason: str) -> None:
    guest.routes["/setup/launch"] = lambda _: (500, answer)
    finished = run(make_task(config=[{"type": "launch", "parameters": {"command": ["code"]}}])).finish()
    assert (finished["reason"], finished["phase"]) == (reason, "setup")


def test_a_set_up_step_that_raises_is_setup_failed(run: Run) -> None:
    finished = run(make_task(config=[{"type": "open", "parameters": {"path": "/missing"}}])).finish()
    assert (finished["reason"], finished["phase"]) == ("setup_failed", "setup")
    assert "/missing" in finished["message"]


def test_an_evaluator_that_raises_is_evaluator_error(run: Run, guest: Guest) -> None:
    guest.routes["/execute"] = lambda _: (200, b'{"output": null}')
    evaluator = {"func": "is_utc_0", "result": {"type": "vm_command_line", "command": "timedatectl"}}
    running = run(make_task(evaluator=evaluator), agent={"kind": "none"}, record=False)
    finished = running.finish()
    assert (finished["reason"], finished["phase"]) == ("evaluator_error", "evaluate")
    assert not (running.folder / "result.txt").exists()


@pytest.mark.parametrize("answer", [(502, b"{}"), None])
def test_a_guest_that_is_gone_while_evaluating_is_never_a_zero(run: Run, guest: Guest, answer: Any) -> None:
    def execute(_: bytes) -> tuple[int, bytes]:
        if answer is None:
            raise ConnectionResetError
        return answer  # type: ignore[no-any-return]

    guest.routes["/execute"] = execute
    finished = run(agent={"kind": "none"}, record=False).finish()
    assert (finished["reason"], finished["phase"]) == ("guest_lost", "evaluate")


def test_a_lost_sandbox_ends_the_attempt_in_the_middle_of_a_call(run: Run, guest: Guest) -> None:
    called, released = threading.Event(), threading.Event()

    def hang(_: bytes) -> tuple[int, bytes]:
        called.set()
        released.wait(DEADLINE_SECONDS)
        return 200, b"{}"

    guest.routes["/terminal"] = hang
    running = run()
    try:
        assert called.wait(DEADLINE_SECONDS)
        running.coordinator.push({"type": "lost", "reason": "guest_lost", "message": "the sandbox is gone"})
        finished = running.finish()
    finally:
        released.set()
    assert (finished["reason"], finished["phase"], finished["message"]) == (
        "guest_lost",
        "setup",
        "the sandbox is gone",
    )
    assert running.coordinator.requests() == ["start"]
    timeline = json.loads((running.folder / "timeline.json").read_text())
    assert timeline["outcome"] == finished
    assert set(timeline["phase_seconds"]) == {"import", "start", "setup"}
    assert not list(running.folder.glob("*.partial"))


def test_an_attempt_does_not_outlive_its_coordinator(run: Run, guest: Guest) -> None:
    called, released = threading.Event(), threading.Event()

    def hang(_: bytes) -> tuple[int, bytes]:
        called.set()
        released.wait(DEADLINE_SECONDS)
        return 200, b"{}"

    guest.routes["/terminal"] = hang
    running = run()
    try:
        assert called.wait(DEADLINE_SECONDS)
        running.coordinator.hang_up()
        assert running.process.wait(DEADLINE_SECONDS) == EXIT_COORDINATOR_GONE
    finally:
        released.set()


def test_a_configuration_with_an_unknown_key_is_refused_over_the_socket(run: Run) -> None:
    finished = run(maxsteps=3).finish()
    assert (finished["reason"], finished["phase"]) == ("runner_exit", "import")
    assert "config.maxsteps is not known; did you mean max_steps?" in finished["message"]
