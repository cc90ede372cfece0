"""An agent outside of the attempt, asked over HTTP: JSON bodies, three addresses, described in docs/agents.md."""

from __future__ import annotations

import base64
import http.client
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from osworld_adapter.agent_config import HttpAgent
from osworld_adapter.agent_faults import last_line
from osworld_adapter.agents import Assignment, Decision
from osworld_adapter.config import AttemptConfig
from osworld_adapter.fields import FieldError, Fields
from osworld_adapter.http_actions import parse_actions
from osworld_adapter.outcome import AttemptError

PROTOCOL = 1
TRIES = 3
RESET_SECONDS = 60.0
PREDICT_SECONDS = 300.0
CLOSE_SECONDS = 5.0
BETWEEN_TRIES_SECONDS = 2.0
MAX_ANSWER_BYTES = 2**20
_TOO_MANY_REQUESTS = 429
_MODEL_VARIABLES = {
    "openai_base_url": "OPENAI_BASE_URL",
    "anthropic_base_url": "ANTHROPIC_BASE_URL",
    "api_key": "OPENAI_API_KEY",
}


@dataclass(frozen=True)
class Surroundings:
    """What the agent is told of its attempt, and how this side waits between two tries."""

    config: AttemptConfig
    environment: Mapping[str, str]
    wants_tree: bool
    sleep: Callable[[float], None]


class AskedAgent:
    """Sends `/reset`, then `/predict` turn by turn, then `/close`; follows no redirect and uses no proxy."""

    def __init__(self, agent: HttpAgent, surroundings: Surroundings) -> None:
        self.wants_tree = surroundings.wants_tree
        self._agent = agent
        self._surroundings = surroundings
        self._assignment = Assignment("", "", "", "")
        self._turn = 0

    def begin(self, assignment: Assignment) -> None:
        """Tells the task; AttemptError `model_unavailable` when nobody takes it."""
        config = self._surroundings.config
        self._assignment = assignment
        told = {
            "protocol": PROTOCOL,
            "session": assignment.session,
            "task": {"domain": assignment.domain, "id": assignment.task_id},
            "instruction": assignment.instruction,
            "screen": {"width": config.screen[0], "height": config.screen[1]},
            "max_steps": config.max_steps,
            "settings": self._agent.settings,
            **self._model(),
        }
        status, _ = self._asked("/reset", told, RESET_SECONDS)
        if not _is_success(status):
            raise self._unavailable("/reset", f"answered {status}", "see that its address and protocol are right")

    def decide(self, observation: dict[str, Any]) -> Decision:
        """One `/predict`; an answer that makes no sense is a turn without an action, with a note."""
        self._turn += 1
        seen = {"screenshot_png_base64": base64.b64encode(observation["screenshot"]).decode("ascii")}
        if self.wants_tree:
            seen["accessibility_tree"] = observation["accessibility_tree"]
        question = {
            "session": self._assignment.session,
            "step": self._turn,
            "instruction": self._assignment.instruction,
            "observation": seen,
        }
        status, body = self._asked("/predict", question, PREDICT_SECONDS)
        try:
            return self._decision(status, body)
        except FieldError as error:
            return Decision((), notes=(f"turn {self._turn}: the agent {self._agent.name} answered nonsense: {error}",))

    def end(self, outcome: dict[str, Any]) -> None:
        """Tells how it ended, once; nothing depends on the answer."""
        told = {name: outcome[name] for name in ("outcome", "reward", "reason") if name in outcome}
        self._send("/close", {"session": self._assignment.session, "outcome": told}, CLOSE_SECONDS)

    def _decision(self, status: int, body: bytes) -> Decision:
        if not _is_success(status):
            raise FieldError(f"its status is {status} instead of 200")
        if len(body) > MAX_ANSWER_BYTES:
            raise FieldError(f"its body is larger than {MAX_ANSWER_BYTES} bytes")
        try:
            document = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise FieldError("its body is no JSON, or too deep") from error
        fields = Fields(document, "answer")
        response = fields.take("response", str, "")
        return Decision(parse_actions(fields.take("actions", list), self._surroundings.config.screen), response)

    def _model(self) -> dict[str, dict[str, str]]:
        """Where the agent may ask a model: only the given addresses, with a key of this attempt."""
        environment = self._surroundings.environment
        known = {
            name: environment[variable] for name, variable in _MODEL_VARIABLES.items() if environment.get(variable)
        }
        if "openai_base_url" not in known:
            return {}
        return {"model": {**known, **({"name": self._agent.model} if self._agent.model else {})}}

    def _asked(self, path: str, document: dict[str, Any], timeout_seconds: float) -> tuple[int, bytes]:
        """Status and body; a server that fails or is silent is asked three times."""
        complaint = ""
        for number in range(1, TRIES + 1):
            try:
                status, body = self._send(path, {**document, "try": number}, timeout_seconds)
            except (OSError, http.client.HTTPException) as error:
                complaint = f"gave no answer ({last_line(error)})"
            else:
                if status < http.client.INTERNAL_SERVER_ERROR and status != _TOO_MANY_REQUESTS:
                    return status, body
                complaint = f"answered {status}"
            if number < TRIES:
                self._surroundings.sleep(BETWEEN_TRIES_SECONDS)
        raise self._unavailable(path, f"{complaint} in {TRIES} tries", "start it and look at its log")

    def _send(self, path: str, document: dict[str, Any], timeout_seconds: float) -> tuple[int, bytes]:
        parts = urlsplit(self._agent.url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        until = time.monotonic() + timeout_seconds
        connection = kind(parts.hostname or "", parts.port, timeout=timeout_seconds)
        try:
            headers = {"Content-Type": "application/json", "Accept": "application/json"}
            connection.request("POST", parts.path + path, json.dumps(document).encode(), headers)
            wire = connection.sock  # An answer that ends with its connection takes it out of there.
            limit(wire, until)
            answer = connection.getresponse()
            return answer.status, _read(answer, wire, until)
        finally:
            connection.close()

    def _unavailable(self, path: str, complaint: str, advice: str) -> AttemptError:
        return AttemptError(
            "model_unavailable",
            f"the agent {self._agent.name} {complaint} to POST {path}, so there is no score; {advice}",
        )


def _read(answer: http.client.HTTPResponse, wire: Any, until: float) -> bytes:
    """Little more than is allowed at most; an answer that trickles is as late as one that does not come."""
    body = bytearray()
    while chunk := answer.read1(2**16):
        body += chunk
        if len(body) > MAX_ANSWER_BYTES:
            break
        limit(wire, until)
    return bytes(body)


def limit(wire: Any, until: float) -> None:
    """Leaves the next read as long as there is; TimeoutError when there is nothing left."""
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError("its answer did not end in time")
    wire.settimeout(left)


def _is_success(status: int) -> bool:
    return http.client.OK <= status < http.client.MULTIPLE_CHOICES
