from __future__ import annotations

import urllib.error
from email.message import Message

import pytest

from osworld_adapter.agent_faults import is_model_failure, is_rejected, last_line


def http_error(status: int) -> urllib.error.HTTPError:
    return urllib.error.HTTPError("http://127.0.0.1", status, "no", Message(), None)


@pytest.mark.parametrize(
    ("error", "by_model"),
    [
        (ConnectionResetError(), True),
        (TimeoutError(), True),
        (http_error(503), True),
        (http_error(400), False),
        (http_error(413), False),
        (OSError("no space"), False),
        (KeyError("a"), False),
    ],
)
def test_an_exception_is_the_models_or_the_agents(error: Exception, by_model: bool) -> None:
    assert is_model_failure(error) is by_model
    wrapped = RuntimeError("the agent's own words")
    wrapped.__cause__ = error
    assert is_model_failure(wrapped) is by_model
    assert is_rejected(wrapped) is (isinstance(error, urllib.error.HTTPError) and not by_model)


@pytest.mark.parametrize(
    ("error", "line"), [(ValueError("one\ntwo\n"), "ValueError: two"), (AssertionError(), "AssertionError")]
)
def test_an_exception_is_told_as_tracebacks_end(error: Exception, line: str) -> None:
    assert last_line(error) == line
