"""Whose fault an exception of an agent is: the model service's, or its own."""

from __future__ import annotations

from typing import Any

from osworld_adapter.classify import chain

# Statuses with which a service says that the request itself is wrong, which is the agent's doing.
_REJECTED = (400, 413, 422)
# By name, since an attempt without a model imports none of these packages.
_CLIENT_ERRORS = {
    "openai": {"APIError"},
    "anthropic": {"APIError"},
    "requests": {"RequestException"},
    "urllib3": {"HTTPError"},
    "httpx": {"HTTPError"},
    "httpx2": {"HTTPError"},
    "aiohttp": {"ClientError"},
    "urllib": {"URLError"},
    "http": {"HTTPException"},
    "builtins": {"ConnectionError", "TimeoutError"},
}


def is_rejected(error: BaseException) -> bool:
    """Whether the service refused the request as wrong."""
    return any(status_of(cause) in _REJECTED for cause in chain(error))


def is_model_failure(error: BaseException) -> bool:
    """Whether a client of a model service raised it because the service, or the way to it, failed."""
    return not is_rejected(error) and any(_is_client_error(cause) for cause in chain(error))


def status_of(error: BaseException) -> int | None:
    """The HTTP status that an exception of a client carries."""
    response: Any = getattr(error, "response", None)
    statuses = (getattr(error, name, None) for name in ("status_code", "code"))
    found = (status for status in (*statuses, getattr(response, "status_code", None)) if isinstance(status, int))
    return next(found, None)


def last_line(error: BaseException) -> str:
    """Type and message, as the last line of a traceback says them."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[-1]}" if lines else type(error).__name__


def _is_client_error(error: BaseException) -> bool:
    return any(
        kind.__name__ in _CLIENT_ERRORS.get(kind.__module__.partition(".")[0], set()) for kind in type(error).__mro__
    )
