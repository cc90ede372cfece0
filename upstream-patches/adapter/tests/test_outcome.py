from __future__ import annotations

import logging
from typing import Any

import pytest

from osworld_adapter.classify import classify
from osworld_adapter.log_watch import LogWatch
from osworld_adapter.outcome import AttemptError, Phase, to_reason, to_reward

GUEST = "127.0.0.1:41000"


class Request:
    def __init__(self, url: str) -> None:
        self.url = url


class ConnectionError(Exception):
    """Like the one of `requests`, which carries its request."""

    def __init__(self, url: str) -> None:
        super().__init__("refused")
        self.request = Request(url)


@pytest.mark.parametrize(("value", "reward"), [(1, 1.0), (0, 0.0), (0.25, 0.25), (True, 1.0), (False, 0.0)])
def test_numbers_and_truth_values_are_rewards(value: object, reward: float) -> None:
    assert to_reward(value) == reward


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (None, "missing_result"),
        ("1", "malformed_result"),
        (float("nan"), "malformed_result"),
        (float("inf"), "malformed_result"),
        (1.01, "malformed_result"),
        (-0.1, "malformed_result"),
        ([1], "malformed_result"),
    ],
)
def test_anything_else_is_no_reward(value: object, reason: str) -> None:
    with pytest.raises(AttemptError) as refusal:
        to_reward(value)
    assert refusal.value.reason == reason


@pytest.mark.parametrize(
    ("error", "phase", "reason"),
    [
        (ImportError("x"), "import", "runner_exit"),
        (AttemptError("relay_failed", "x"), "start", "relay_failed"),
        (RuntimeError("x"), "start", "sandbox_create_failed"),
        (RuntimeError("x"), "setup", "setup_failed"),
        (RuntimeError("x"), "agent", "runner_exit"),
        (AttributeError("x"), "evaluate", "evaluator_error"),
        (ConnectionError(f"http://{GUEST}/file"), "evaluate", "guest_lost"),
        (ConnectionError("http://example.com/gold.xlsx"), "evaluate", "evaluator_error"),
        (ConnectionError(f"http://{GUEST}/setup/upload"), "setup", "guest_lost"),
    ],
)
def test_an_exception_gets_its_reason_from_cause_and_phase(error: Exception, phase: Phase, reason: str) -> None:
    try:
        raise RuntimeError("set-up step 1 failed") from error
    except RuntimeError as wrapped:
        direct, through = classify(error, phase, GUEST), classify(wrapped, phase, GUEST)
    assert direct.reason == reason
    assert through.reason == reason


def test_a_none_that_a_getter_gave_is_said_to_be_a_missing_answer() -> None:
    found = classify(TypeError("expected str, not NoneType"), "evaluate", GUEST)
    assert found.reason == "evaluator_error"
    assert "was missing" in found.message


@pytest.mark.parametrize(("code", "reason"), [("guest_not_ready", "guest_not_ready"), ("out_of_money", "relay_failed")])
def test_a_code_outside_the_closed_list_falls_back(code: str, reason: str) -> None:
    assert to_reason(code, "relay_failed") == reason


def record(name: str, function: str, text: str, *values: Any) -> logging.LogRecord:
    return logging.LogRecord(name, logging.ERROR, "", 0, text, values, None, func=function)


TRIES = [record("desktopenv.pycontroller", "get_file", "An error occurred: %s", ConnectionError("x"))] * 3
CASES = {
    "one failed try of a controller is not the end": (TRIES[:2], None),
    "three are": (TRIES, "guest_lost"),
    "an answer in between starts the count again": (
        [*TRIES[:2], record("desktopenv.pycontroller", "get_file", "File downloaded successfully"), *TRIES[:2]],
        None,
    ),
    "a file that the guest does not have is an answer": (
        [record("desktopenv.pycontroller", "get_file", "Failed to get file. Status code: %d", 404)] * 3,
        None,
    ),
    "set-up steps do not try again": (
        [record("desktopenv.setup", "_execute_setup", "An error occurred: %s", ConnectionError("x"))],
        "guest_lost",
    ),
    "a guest that was waited for and came back": ([record("desktopenv.setup", "setup", "retry: 19/20")], None),
    "a guest that was waited for in vain": ([record("desktopenv.setup", "setup", "retry: 20/20")], "guest_lost"),
    "a record that cannot be formatted disturbs nobody": (
        [record("desktopenv.pycontroller", "run", "return code: %d", None)],
        None,
    ),
}


@pytest.mark.parametrize(("records", "reason"), CASES.values(), ids=CASES.keys())
def test_upstreams_log_tells_of_a_lost_guest(records: list[logging.LogRecord], reason: str | None) -> None:
    lost: list[AttemptError] = []
    watch = LogWatch(lost.append)
    for item in records:
        watch.handle(item)
    assert [error.reason for error in lost] == ([reason] if reason else [])


FAILED = record("desktopenv.setup", "_execute_setup", "Failed to launch application. Status code: %s", "no python")
DONE = logging.LogRecord(
    "desktopenv.setup", logging.INFO, "", 0, "SETUP COMPLETED: _execute_setup({})", (), None, func="setup"
)
WORKED = logging.LogRecord(
    "desktopenv.setup", logging.INFO, "", 0, "Command executed successfully", (), None, func="_execute_setup"
)
GETTER = "desktopenv.getter.file"
FAULTS = {
    "a command that could not be run": ([FAILED, DONE], "setup_failed"),
    "a command that worked when it was repeated": ([FAILED, WORKED, DONE], None),
    "a command whose program is absent": (
        [record("desktopenv.setup", "_execute_setup", "Status code: %s", "No such file or directory"), DONE],
        "application_missing",
    ),
    "a window that is not there is the agent's business": (
        [record("desktopenv.setup", "_activate_window_setup", "Failed to activate window. Status code: %s", "none")],
        None,
    ),
    "a wallpaper that could not be set": (
        [record("desktopenv.setup", "_change_wallpaper_setup", "Failed. Status code: %s", "gsettings failed")],
        "setup_failed",
    ),
    "a guest file that could not be kept": (
        [record(GETTER, "get_vm_file", "IO error writing file /a: No space left on device")],
        "evaluator_error",
    ),
    "a browser driver that broke down": (
        [record("desktopenv.getters.chrome", "get_open_tabs_info", "Connection closed while reading from the driver")],
        "evaluator_error",
    ),
    "a model that could not be downloaded": (
        [record("desktopenv.metric.docs", "compare", "OCR processing failed: <urlopen error no route>")],
        "evaluator_error",
    ),
    "a complaint of an agent": ([record("desktopenv.example", "predict", "<urlopen error no route>")], None),
    "a complaint of one of OSWorld's agents": (
        [record("desktopenv.qwen3vl_agent", "_call", "<urlopen error no route>")],
        None,
    ),
    "a file that the guest lacks": ([record(GETTER, "get_vm_file", "Failed to get file from VM: /a")], None),
}


@pytest.mark.parametrize(("records", "reason"), FAULTS.values(), ids=FAULTS.keys())
def test_upstreams_log_tells_of_what_forbids_a_score(records: list[logging.LogRecord], reason: str | None) -> None:
    watch = LogWatch(lambda error: pytest.fail(str(error)))
    for item in records:
        watch.handle(item)
    assert (watch.fault.reason if watch.fault else None) == reason
