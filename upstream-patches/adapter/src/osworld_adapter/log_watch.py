"""Reads upstream's log for faults that it does not raise: failed steps and guests that stopped answering."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from pathlib import Path

from osworld_adapter.outcome import AttemptError, Reason

UPSTREAM_LOGGERS = ("desktopenv", "desktop_env")
CONTROLLER_TRIES = 3  # Upstream's controller tries every guest call three times before it gives up silently.
_ABSENT = re.compile(r"no such file|not found|errno 2\b|not installed", re.IGNORECASE)
# Not ReadTimeout: a guest that takes long over an agent's action is there.
_UNREACHABLE = {"ConnectionError", "ConnectTimeout", "ChunkedEncodingError", "ConnectionResetError"}
# Upstream waits for the guest before every set-up and post-config, and in the second case goes on without it.
_GIVEN_UP = re.compile(r"retry: (\d+)/\1$")
# Faults of the scorer's own machine after which upstream goes on with an empty answer.
_SCORER_FAULT = re.compile(
    r"^IO error writing file|^Unexpected error writing file|^Error processing file"
    r"|Connection closed while reading from the driver|urlopen error|No space left on device"
)

# What an agent complains of, such as its model, is no fault of the scorer.
_AGENT_LOGGER = re.compile(r"desktopenv\.(?:agent|example|\w+_agent)\b")


class LogWatch(logging.Handler):
    """Keeps the first fault that forbids a score; calls `on_lost` once the guest was unreachable for a whole call."""

    def __init__(self, on_lost: Callable[[AttemptError], object]) -> None:
        super().__init__(logging.DEBUG)
        self.fault: AttemptError | None = None
        self._on_lost = on_lost
        self._unreachable: dict[str, int] = {}
        self._failed_step: str | None = None

    def emit(self, record: logging.LogRecord) -> None:
        # Upstream logs inside its own `try`: what is raised here would pass for a failed guest call.
        try:
            self._read(record)
        except Exception:
            self.handleError(record)

    def _read(self, record: logging.LogRecord) -> None:
        if record.name == "desktopenv.setup":
            self._setup(record)
        elif record.name == "desktopenv.pycontroller":
            self._controller(record)
        by_agent = _AGENT_LOGGER.match(record.name) is not None
        if not by_agent and record.levelno >= logging.WARNING and _SCORER_FAULT.search(record.getMessage()):
            self._keep(AttemptError("evaluator_error", f"{record.funcName}: {record.getMessage()}"))

    def _setup(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if _GIVEN_UP.match(text):
            self._on_lost(AttemptError("guest_lost", "the guest server did not answer before a set-up step"))
        if record.funcName == "_execute_setup":
            # A step that waits for a condition repeats its command; what counts is how it ended.
            self._failed_step = text if record.levelno >= logging.ERROR else None
        elif text.startswith("SETUP COMPLETED") and self._failed_step is not None:
            self._keep(step_failure("command", self._failed_step))
            self._failed_step = None
        if record.levelno < logging.ERROR:
            return
        if is_unreachable(record):
            self._on_lost(AttemptError("guest_lost", f"{record.funcName}: {text}"))
        elif record.funcName == "_launch_setup":
            self._keep(step_failure("launch", text))
        elif record.funcName == "_change_wallpaper_setup":
            self._keep(step_failure("wallpaper", text))

    def _keep(self, fault: AttemptError) -> None:
        self.fault = self.fault or fault

    def _controller(self, record: logging.LogRecord) -> None:
        if is_unreachable(record):
            count = self._unreachable[record.funcName] = self._unreachable.get(record.funcName, 0) + 1
            if count >= CONTROLLER_TRIES:
                self._on_lost(AttemptError("guest_lost", f"{record.funcName}: {record.getMessage()}"))
        elif "retry" not in record.getMessage().lower():
            self._unreachable.pop(record.funcName, None)


def step_failure(step: str, text: str) -> AttemptError:
    """A set-up step that upstream only logged."""
    reason: Reason = "application_missing" if _ABSENT.search(text) else "setup_failed"
    return AttemptError(reason, f"{step} failed: {text}")


def is_unreachable(record: logging.LogRecord) -> bool:
    """True when a controller's record tells of a request to the guest that did not reach it."""
    values = record.args if isinstance(record.args, tuple) else ()
    return any(type(value).__name__ in _UNREACHABLE for value in values)


def keep_upstream_log(path: Path, watch: LogWatch) -> None:
    """Sends upstream's records, and warnings of everybody else, to `path`; upstream's also to the watch."""
    file = logging.FileHandler(path, encoding="utf-8")
    file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(funcName)s: %(message)s"))
    file.addFilter(lambda record: record.levelno >= logging.WARNING or record.name.startswith(UPSTREAM_LOGGERS))
    logging.getLogger().addHandler(file)
    for name in UPSTREAM_LOGGERS:
        logger = logging.getLogger(name)
        logger.setLevel(logging.DEBUG)
        logger.addHandler(watch)
