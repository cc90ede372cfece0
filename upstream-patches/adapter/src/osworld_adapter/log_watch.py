"""Reads upstream's log for faults that it does not raise: failed launches and guests that stopped answering."""

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
_GATEWAY = {502, 503, 504}  # A relay's answer in place of the guest's, which never uses them.


class LogWatch(logging.Handler):
    """Keeps the first failed launch; calls `on_lost` once the guest has been unreachable for a whole call."""

    def __init__(self, on_lost: Callable[[AttemptError], object]) -> None:
        super().__init__(logging.DEBUG)
        self.launch_failure: AttemptError | None = None
        self._on_lost = on_lost
        self._unreachable: dict[str, int] = {}

    def emit(self, record: logging.LogRecord) -> None:
        if record.name == "desktopenv.setup":
            self._setup(record)
        elif record.name == "desktopenv.pycontroller":
            self._controller(record)
        elif record.name.startswith("desktopenv.getter") and is_unreachable(record):
            self._on_lost(AttemptError("guest_lost", f"{record.funcName}: {record.getMessage()}"))
        elif record.name == "desktopenv.env" and record.getMessage().startswith("Environment setup failed"):
            self._on_lost(AttemptError("guest_not_ready", "the guest server did not answer during set-up"))

    def _setup(self, record: logging.LogRecord) -> None:
        if record.levelno < logging.ERROR:
            return
        text = record.getMessage()
        if is_unreachable(record):
            self._on_lost(AttemptError("guest_lost", f"{record.funcName}: {text}"))
        elif record.funcName == "_launch_setup" and self.launch_failure is None:
            reason: Reason = "application_missing" if _ABSENT.search(text) else "setup_failed"
            self.launch_failure = AttemptError(reason, f"launch failed: {text}")

    def _controller(self, record: logging.LogRecord) -> None:
        if is_unreachable(record):
            count = self._unreachable[record.funcName] = self._unreachable.get(record.funcName, 0) + 1
            if count >= CONTROLLER_TRIES:
                self._on_lost(AttemptError("guest_lost", f"{record.funcName}: {record.getMessage()}"))
        elif "retry" not in record.getMessage().lower():
            self._unreachable.pop(record.funcName, None)


def is_unreachable(record: logging.LogRecord) -> bool:
    """True when the record tells of a request to the guest that did not reach it."""
    values = record.args if isinstance(record.args, tuple) else ()
    if "Status code" in str(record.msg) and any(value in _GATEWAY for value in values if isinstance(value, int)):
        return True
    # A getter's own downloads come from other hosts; only upstream's controllers log the guest's exceptions.
    controllers = record.name in ("desktopenv.setup", "desktopenv.pycontroller")
    return controllers and any(type(value).__name__ in _UNREACHABLE for value in values)


def keep_upstream_log(path: Path, watch: LogWatch) -> None:
    """Sends upstream's records, and warnings of everybody else, to `path`; upstream's also to the watch."""
    file = logging.FileHandler(path, encoding="utf-8")
    file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s %(funcName)s: %(message)s"))
    logging.getLogger().addHandler(file)
    for name in UPSTREAM_LOGGERS:
        logger = logging.getLogger(name)
        logger.setLevel(logging.DEBUG)
        logger.addHandler(watch)
