"""The HTTP agent protocol against real servers on 127.0.0.1."""

from __future__ import annotations

import base64
import json
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes import Guest, Reply, make_config
from osworld_adapter.agent_config import HttpAgent
from osworld_adapter.agents import Assignment
from osworld_adapter.config import parse_config
from osworld_adapter.http_agent import BETWEEN_TRIES_SECONDS, MAX_ANSWER_BYTES, AskedAgent, Surroundings, limit
from osworld_adapter.outcome import AttemptError

ASSIGNMENT = Assignment("run-1/os/0000-task/1.1", "os", "0000-task", "Make it so.")
SEEN = {"screenshot": b"picture", "accessibility_tree": "<desktop/>", "instruction": "Make it so."}
ENDPOINT = {
    "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
    "OPENAI_API_KEY": "k",
    "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
}


class Server(Guest):
    """An agent's program whose answers a test gives."""

    def __init__(self) -> None:
        super().__init__()
        self.told: dict[str, list[dict[str, Any]]] = {}
        self.slept: list[float] = []
        self.routes = {path: self.keeping(path, lambda: (200, b"{}")) for path in ("/reset", "/predict", "/close")}

    def keeping(self, path: str, answer: Callable[[], Reply]) -> Callable[[bytes], Reply]:
        def called(body: bytes) -> Reply:
            self.told.setdefault(path, []).append(json.loads(body))
            return answer()

        return called

    def answers(self, path: str, *replies: Any) -> None:
        waiting = list(replies)

        def answer() -> Reply:
            reply = waiting.pop(0) if len(waiting) > 1 else waiting[0]
            return reply if isinstance(reply, tuple) else (200, json.dumps(reply).encode())

        self.routes[path] = self.keeping(path, answer)

    def agent(self, environment: dict[str, str] | None = None, wants_tree: bool = False, **changes: Any) -> AskedAgent:
        config = parse_config(make_config(Path("/attempts/1")))
        known = HttpAgent(f"http://127.0.0.1:{self.port}", "mine", **changes)
        return AskedAgent(known, Surroundings(config, environment or {}, wants_tree, self.slept.append))


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.stop()


def test_reset_tells_the_task_and_where_a_model_may_be_asked(server: Server) -> None:
    server.agent(ENDPOINT, settings={"style": "bold"}, model="m").begin(ASSIGNMENT)
    assert server.told["/reset"] == [
        {
            "protocol": 1,
            "session": "run-1/os/0000-task/1.1",
            "task": {"domain": "os", "id": "0000-task"},
            "instruction": "Make it so.",
            "screen": {"width": 1920, "height": 1080},
            "max_steps": 10,
            "settings": {"style": "bold"},
            "model": {
                "name": "m",
                "openai_base_url": "http://127.0.0.1:9/v1",
                "anthropic_base_url": "http://127.0.0.1:9",
                "api_key": "k",
            },
            "try": 1,
        }
    ]


def test_without_a_model_endpoint_there_is_no_model(server: Server) -> None:
    server.agent(model="m").begin(ASSIGNMENT)
    assert "model" not in server.told["/reset"][0]


@pytest.mark.parametrize("wants_tree", [True, False])
def test_predict_shows_the_screen_and_gives_back_actions(server: Server, wants_tree: bool) -> None:
    server.answers(
        "/predict", {"actions": ["WAIT", {"type": "move", "x": 1, "y": 2}], "response": "Hm."}, {"actions": []}
    )
    agent = server.agent(wants_tree=wants_tree)
    agent.begin(ASSIGNMENT)
    first, second = agent.decide(SEEN), agent.decide(SEEN)
    assert (first.actions, first.response, first.notes) == (("WAIT", "pyautogui.moveTo(1, 2)"), "Hm.", ())
    assert (second.actions, second.notes) == ((), ())
    asked = server.told["/predict"]
    assert [(question["session"], question["step"], question["try"]) for question in asked] == [
        (ASSIGNMENT.session, 1, 1),
        (ASSIGNMENT.session, 2, 1),
    ]
    picture = {"screenshot_png_base64": base64.b64encode(b"picture").decode()}
    tree = {"accessibility_tree": "<desktop/>"} if wants_tree else {}
    assert asked[0]["observation"] == {**picture, **tree}


def test_close_tells_how_it_ended(server: Server) -> None:
    agent = server.agent()
    agent.begin(ASSIGNMENT)
    agent.end({"type": "finished", "outcome": "valid", "reward": 1.0, "evaluator": {"secret": "of no concern"}})
    assert server.told["/close"] == [{"session": ASSIGNMENT.session, "outcome": {"outcome": "valid", "reward": 1.0}}]


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ((200, b"no json"), "its body is no JSON, or too deep"),
        ((200, b"[" * 100_000), "its body is no JSON, or too deep"),
        ((200, b"[]"), "answer must be an object, not []"),
        ({"response": "I am thinking"}, "answer.actions is missing; it must be a list"),
        ({"actions": "DONE"}, "answer.actions must be a list, not 'DONE'"),
        ({"actions": [], "response": 7}, "answer.response must be text, not 7"),
        ({"actions": [{"type": "wait"}]}, "actions[0].seconds is missing; it must be a number"),
        ((200, b'"' + b"a" * MAX_ANSWER_BYTES), "its body is larger than 1048576 bytes"),
        ((404, b"{}"), "its status is 404 instead of 200"),
        ((302, b"{}"), "its status is 302 instead of 200"),
    ],
)
def test_an_answer_that_makes_no_sense_is_a_turn_without_an_action(server: Server, reply: Any, why: str) -> None:
    server.answers("/predict", reply)
    decision = server.agent().decide(SEEN)
    assert (decision.actions, decision.notes) == ((), (f"turn 1: the agent mine answered nonsense: {why}",))
    assert len(server.told["/predict"]) == 1


def refused(ask: Callable[[], object]) -> str:
    with pytest.raises(AttemptError) as refusal:
        ask()
    assert refusal.value.reason == "model_unavailable"
    return refusal.value.message


def test_a_server_that_is_not_there_is_no_score(server: Server) -> None:
    server.stop()
    assert refused(lambda: server.agent().begin(ASSIGNMENT)) == (
        "the agent mine gave no answer (ConnectionRefusedError: [Errno 111] Connection refused) in 3 tries "
        "to POST /reset, so there is no score; start it and look at its log"
    )
    assert server.slept == [BETWEEN_TRIES_SECONDS] * 2


@pytest.mark.parametrize(("status", "tries"), [(404, 1), (302, 1), (500, 3)])
def test_a_server_that_does_not_take_the_task_is_no_score(server: Server, status: int, tries: int) -> None:
    server.answers("/reset", (status, b""))
    assert f"the agent mine answered {status}" in refused(lambda: server.agent().begin(ASSIGNMENT))
    assert len(server.told["/reset"]) == tries


@pytest.mark.parametrize("status", [500, 503, 429])
def test_a_server_that_fails_three_times_is_no_score(server: Server, status: int) -> None:
    server.answers("/predict", (status, b"{}"))
    assert refused(lambda: server.agent().decide(SEEN)) == (
        f"the agent mine answered {status} in 3 tries to POST /predict, so there is no score; "
        "start it and look at its log"
    )
    assert [question["try"] for question in server.told["/predict"]] == [1, 2, 3]
    assert [question["step"] for question in server.told["/predict"]] == [1, 1, 1]


def test_a_server_that_fails_once_is_asked_again(server: Server) -> None:
    server.answers("/predict", (502, b"{}"), {"actions": ["DONE"]})
    assert server.agent().decide(SEEN).actions == ("DONE",)


def test_a_redirect_is_not_followed_and_no_proxy_is_used(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as elsewhere:
        elsewhere.setblocking(False)
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{elsewhere.getsockname()[1]}")
        monkeypatch.delenv("no_proxy", raising=False)
        monkeypatch.delenv("NO_PROXY", raising=False)
        server.agent().begin(ASSIGNMENT)
        with pytest.raises(BlockingIOError):
            elsewhere.accept()
    assert len(server.told["/reset"]) == 1


def test_every_read_of_an_answer_has_only_what_is_left_of_the_time() -> None:
    with socket.socket() as wire:
        wire.settimeout(300)
        limit(wire, time.monotonic() + 7)
        left = wire.gettimeout()
        assert left is not None
        assert 0 < left <= 7
        with pytest.raises(TimeoutError, match="its answer did not end in time"):
            limit(wire, time.monotonic())
