"""Calls of the model by OSWorld's agent: one that fails for good is no step of the agent, however it is swallowed."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Mapping
from typing import Any, NoReturn
from urllib.parse import urlsplit

from osworld_adapter.agent_faults import is_rejected
from osworld_adapter.outcome import AttemptError
from osworld_adapter.runner_wrappers import kept

GATEWAY_VARIABLE = "OSWORLD_MODEL_GATEWAY"
_LIMIT = 500
_ADDRESS = re.compile(
    r"[a-z][a-z0-9+.-]*://[^\s'\"<>)]+|\bhost='[^']*', port=\d+|\b\d+(?:\.\d+){3}(?::\d+)?", re.IGNORECASE
)
_SHOWN_KEY = re.compile(r"\bbearer\s+\S+|\b(?:sk|key)-[\w*-]+", re.IGNORECASE)
_KEY_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD")
_ADDRESS_NAME = re.compile(r"(?:URL|BASE|HOST|ENDPOINT)$")
_MIN_CHARACTERS = 6  # A shorter value is a word like `none`, and would be found everywhere.


class ModelCalls:
    """Wraps an agent's `call_llm`: an exception or an empty answer ends the attempt without a score.

    Behind the model gateway, which sees whether a call failed, an empty answer is the model's own, and so is a request
    that was refused as wrong.
    """

    def __init__(
        self, model: str, environment: Mapping[str, str], on_failed: Callable[[AttemptError], NoReturn]
    ) -> None:
        self._model = model
        self._hidden = hidden_values(environment)
        self.gateway = environment.get(GATEWAY_VARIABLE) == "1"
        self._on_failed = on_failed

    def wrap(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """The function, whose answer is handed on as it is when it is one."""

        def call(*args: Any, **kwargs: Any) -> Any:
            last = _LastComplaint()
            root = logging.getLogger()
            root.addHandler(last)
            try:
                answer = original(*args, **kwargs)
            except Exception as error:
                if self.gateway and is_rejected(error):
                    raise
                self._on_failed(self.failure(f"{type(error).__name__}: {error}"))
            finally:
                root.removeHandler(last)
            if not self.gateway and (answer is None or (isinstance(answer, str) and not answer.strip())):
                self._on_failed(self.failure(last.text))
            return answer

        return kept(call, original)

    def failure(self, said: str) -> AttemptError:
        """The outcome of a call that failed for good; `said` is what is known of it."""
        detail = f" ({without_secrets(said, self._hidden)[:_LIMIT]})" if said else ""
        return AttemptError(
            "model_unavailable",
            f"the model {self._model} gave no answer{detail}, so there is no score; check its endpoint",
        )


class _LastComplaint(logging.Handler):
    """The last warning or error of the thread that made it, whoever logged it."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.text = ""
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        # What is raised here would pass for a failed call.
        try:
            if record.thread == self._thread:
                self.text = record.getMessage()
        except Exception:
            self.handleError(record)


def hidden_values(environment: Mapping[str, str]) -> list[str]:
    """Keys and addresses of model services that the environment names, the longest first."""
    found: set[str] = set()
    for name, value in environment.items():
        if _KEY_NAME.search(name):
            found.add(value)
        if _ADDRESS_NAME.search(name):
            parts = urlsplit(value)
            found.update((value, parts.netloc, parts.hostname or "", parts.password or ""))
    return sorted((value for value in found if len(value) >= _MIN_CHARACTERS), key=lambda value: (-len(value), value))


def without_secrets(text: str, hidden: list[str]) -> str:
    """The text without addresses, keys and what the environment names as such."""
    for value in hidden:
        text = text.replace(value, "[redacted]")
    return _SHOWN_KEY.sub("[redacted]", _ADDRESS.sub("[address]", text))
