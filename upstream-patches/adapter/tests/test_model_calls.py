"""A model that does not answer is no step of the agent, in OSWorld's own runner."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

from osworld_adapter.model_calls import GATEWAY_VARIABLE, ModelCalls, hidden_values, without_secrets
from osworld_adapter.outcome import AttemptError
from runner_fakes import MODEL, RunnerAttempt, answers

ROUTE = "/v1/chat/completions"
KEY, ADDRESS = "one-attempt-key", "http://user:word@models.example:8080/v1"


@pytest.fixture
def attempt(tmp_path: Path, socket_path: Path) -> Iterator[RunnerAttempt]:
    pytest.importorskip("requests", reason="the small tree speaks by requests: see profiles/package-1.0.2")
    attempt = RunnerAttempt(tmp_path, socket_path)
    yield attempt
    attempt.end()


def test_an_endpoint_that_answers_500_is_no_score(attempt: RunnerAttempt) -> None:
    attempt.model.routes[ROUTE] = lambda _: (500, b"{}")
    finished = attempt.finish()
    assert (finished["reason"], finished["phase"], finished["message"]) == (
        "model_unavailable",
        "agent",
        f"the model {MODEL} gave no answer (The model answered 500), so there is no score; check its endpoint",
    )


def test_an_endpoint_that_is_not_there_is_no_score_and_its_address_is_not_told(attempt: RunnerAttempt) -> None:
    port = attempt.model.port
    attempt.model.stop()
    finished = attempt.finish()
    assert (finished["reason"], finished["phase"]) == ("model_unavailable", "agent")
    assert finished["message"].startswith(f"the model {MODEL} gave no answer (ConnectionError: ")
    assert finished["message"].endswith("so there is no score; check its endpoint")
    assert "127.0.0.1" not in finished["message"]
    assert str(port) not in finished["message"]


def test_an_endpoint_that_fails_after_some_steps_is_no_score_either(attempt: RunnerAttempt) -> None:
    first = answers("pyautogui.press('enter')")
    asked: list[bytes] = []

    def answer(body: bytes) -> Any:
        asked.append(body)
        return first(body) if len(asked) == 1 else (429, b"{}")

    attempt.model.routes[ROUTE] = answer
    attempt.guest.output("yes")
    finished = attempt.finish()
    assert (finished["reason"], finished["phase"]) == ("model_unavailable", "agent")
    assert [message["step"] for message in attempt.coordinator.seen if message["type"] == "step"] == [1]
    assert not list(attempt.folder.glob("**/result.txt"))


def test_an_agent_that_swallows_the_failure_is_ended_all_the_same(attempt: RunnerAttempt) -> None:
    call = '        response = self.call_llm([{"role": "user", "content": content}])\n'
    swallowed = f"        try:\n    {call}        except BaseException:\n            response = 'WAIT'\n"
    attempt.checkout.edit("mm_agents/qwen3vl_agent.py", call, swallowed)
    attempt.model.routes[ROUTE] = lambda _: (500, b"{}")
    finished = attempt.finish()
    assert (finished["reason"], finished["phase"]) == ("model_unavailable", "agent")
    assert not [message for message in attempt.coordinator.seen if message["type"] == "step"]


def test_a_model_that_answers_nonsense_is_a_valid_zero(attempt: RunnerAttempt) -> None:
    attempt.model.routes[ROUTE] = answers("I would rather not.")
    finished = attempt.finish()
    assert (finished["outcome"], finished["reward"]) == ("valid", 0.0)


@pytest.mark.parametrize("texts", [("",), ("\n", "I would rather not.")])
def test_behind_the_gateway_an_empty_answer_is_a_valid_zero(attempt: RunnerAttempt, texts: tuple[str, ...]) -> None:
    attempt.environment = {GATEWAY_VARIABLE: "1"}
    attempt.model.routes[ROUTE] = answers(*texts)
    finished = attempt.finish()
    assert (finished["outcome"], finished["reward"]) == ("valid", 0.0), finished


def test_behind_the_gateway_an_exception_is_no_score_still(attempt: RunnerAttempt) -> None:
    attempt.environment = {GATEWAY_VARIABLE: "1"}
    attempt.model.stop()
    finished = attempt.finish()
    assert (finished["reason"], finished["phase"]) == ("model_unavailable", "agent")


class RejectedError(Exception):
    status_code = 400


@pytest.mark.parametrize(("gateway", "raised"), [("1", RejectedError), ("", AttemptError)])
def test_behind_the_gateway_a_request_that_is_wrong_is_the_agents(gateway: str, raised: type[Exception]) -> None:
    def reject() -> str:
        raise RejectedError

    def failed(error: AttemptError) -> NoReturn:
        raise error

    with pytest.raises(raised):
        ModelCalls("m", {GATEWAY_VARIABLE: gateway}, failed).wrap(reject)()


def failing(call: Any) -> str:
    """The sentence with which a call of the model ends an attempt."""

    def failed(error: AttemptError) -> NoReturn:
        raise error

    environment = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": ADDRESS, "SHORT_KEY": "none"}
    with pytest.raises(AttemptError) as refusal:
        ModelCalls("m", environment, failed).wrap(call)()
    assert refusal.value.reason == "model_unavailable"
    return refusal.value.message


@pytest.mark.parametrize("answer", [None, "", " \n"])
def test_an_empty_answer_is_a_failure(answer: str | None) -> None:
    def call() -> str | None:
        return answer

    assert failing(call) == "the model m gave no answer, so there is no score; check its endpoint"
    assert not [handler for handler in logging.getLogger().handlers if type(handler).__name__ == "_LastComplaint"]


def test_what_the_log_said_last_is_told_without_key_and_address() -> None:
    def call() -> str:
        logging.getLogger("desktopenv.agent").error("first")
        logging.getLogger("desktopenv.agent").error("%s refused %s and sk-abc**def", ADDRESS, KEY)
        logging.getLogger("desktopenv.agent").info("none of it")
        return ""

    assert failing(call) == (
        "the model m gave no answer ([redacted] refused [redacted] and [redacted]), "
        "so there is no score; check its endpoint"
    )


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("at https://a.example/v1?key=b: 401", "at [address] 401"),
        ("HTTPConnectionPool(host='a.example', port=80): refused", "HTTPConnectionPool([address]): refused"),
        ("no way to 10.0.0.7:8000 or models.example", "no way to [address] or [redacted]"),
        ("Authorization: Bearer abc.def", "Authorization: [redacted]"),
        ("none of it", "none of it"),
    ],
)
def test_addresses_and_keys_are_hidden(said: str, told: str) -> None:
    assert without_secrets(said, hidden_values({"BASE_URL": ADDRESS, "API_KEY": "none"})) == told
