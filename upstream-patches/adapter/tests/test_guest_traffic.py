from __future__ import annotations

import logging

import pytest

from osworld_adapter.guest_traffic import LOGGER, GuestTraffic
from osworld_adapter.outcome import AttemptError, Phase

PORT = 41000
Answers = list[tuple[str, int]]
CASES: dict[str, tuple[Phase, Answers, str | None, str | None]] = {
    "a read that is refused once": ("setup", [("GET /screenshot", 502)], None, None),
    "a read that is answered in between": (
        "setup",
        [("GET /screenshot", 502), ("GET /screenshot", 502), ("GET /screenshot", 200), ("GET /screenshot", 502)],
        None,
        None,
    ),
    "a read that is refused three times": ("setup", [("GET /screenshot", 502)] * 3, "guest_lost", None),
    "anything else that is refused": ("setup", [("POST /setup/activate_window", 502)], "guest_lost", None),
    "a token that is refused": ("evaluate", [("POST /file", 403)], "guest_lost", None),
    "an edge that sees too many requests": ("evaluate", [("POST /file", 429)], "guest_lost", None),
    "a file that is not there": ("evaluate", [("POST /file", 404)] * 3, None, None),
    "a file that the guest fails to give": ("evaluate", [("POST /file", 500)], None, "POST /file"),
    "a command that the guest fails to run": (
        "evaluate",
        [("POST /execute", 500), ("POST /execute", 200)],
        None,
        "POST /execute",
    ),
    "a tree that comes at the second try": (
        "evaluate",
        [("GET /accessibility", 500), ("GET /accessibility", 200)],
        None,
        None,
    ),
    "a browser that cannot be started again": ("evaluate", [("POST /setup/launch", 500)], None, "POST /setup/launch"),
    "a window that is not there": ("evaluate", [("POST /setup/close_window", 500)], None, None),
    "an action that ran at the second try": (
        "agent",
        [("POST /execute", 500), ("POST /execute", 200), ("POST /execute", 500), ("POST /execute", 500)],
        None,
        None,
    ),
    "an action that never ran": ("agent", [("POST /execute", 500)] * 3, "guest_lost", None),
}


def record(port: int, asked: str, status: int) -> logging.LogRecord:
    method, path = asked.split()
    values = ("http", "127.0.0.1", port, method, path, "HTTP/1.1", status, 0)
    return logging.LogRecord(LOGGER, logging.DEBUG, "", 0, '%s://%s:%s "%s %s %s" %s %s', values, None)


@pytest.mark.parametrize(("phase", "answers", "lost", "failed"), CASES.values(), ids=CASES.keys())
def test_answers_of_the_guests_port_are_judged_by_status_route_and_phase(
    phase: Phase, answers: Answers, lost: str | None, failed: str | None
) -> None:
    losses: list[AttemptError] = []
    traffic = GuestTraffic(lambda: PORT, lambda: phase, losses.append)
    for asked, status in answers:
        traffic.handle(record(PORT, asked, status))
    assert [error.reason for error in losses] == ([lost] if lost else [])
    assert (traffic.fault is None) == (failed is None)
    if failed is not None and traffic.fault is not None:
        assert failed in traffic.fault.message


def test_other_ports_may_refuse_since_an_application_may_be_closed() -> None:
    traffic = GuestTraffic(lambda: PORT, lambda: "evaluate", lambda error: pytest.fail(str(error)))
    traffic.handle(record(PORT + 1, "POST /requests/status.xml", 502))
    assert traffic.fault is None
