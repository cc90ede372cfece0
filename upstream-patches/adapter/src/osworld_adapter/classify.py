"""From an exception to the one reason it stands for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from osworld_adapter.outcome import AttemptError, Phase, Reason

_BY_PHASE: dict[Phase, Reason] = {
    "import": "runner_exit",
    "start": "sandbox_create_failed",
    "setup": "setup_failed",
    "agent": "runner_exit",
    "evaluate": "evaluator_error",
    "close": "runner_exit",
}
_UNREACHABLE = {"ConnectionError", "ConnectTimeout", "ChunkedEncodingError"}


def classify(error: BaseException, phase: Phase, guest: str | None) -> AttemptError:
    """The reason of `error`; `guest` is the guest server's host:port, whose silence is never an evaluator's fault."""
    for cause in chain(error):
        if isinstance(cause, AttemptError):
            return cause
        if guest and guest == unreachable_host(cause):
            return AttemptError("guest_lost", f"the guest server does not answer: {cause}")
    message = f"{type(error).__name__}: {error}"
    if phase == "evaluate" and isinstance(error, TypeError) and "NoneType" in str(error):
        message += " (a getter gave None: a file or an answer of the guest was missing)"
    return AttemptError(_BY_PHASE[phase], message)


def chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what caused it, outermost first."""
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__ or current.__context__


def unreachable_host(error: BaseException) -> str | None:
    """host:port of a request that reached nobody, else None."""
    request: Any = getattr(error, "request", None)
    if type(error).__name__ not in _UNREACHABLE or request is None:
        return None
    return urlsplit(str(request.url)).netloc
