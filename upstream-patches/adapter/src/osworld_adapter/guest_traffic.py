"""Reads urllib3's record of every answer from the guest server's port: upstream looks at few of them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from osworld_adapter.outcome import AttemptError, Phase

LOGGER = "urllib3.connectionpool"
TRIES = 3  # As many as upstream's controllers make.
_NOT_OF_THE_GUEST = {401, 403, 407, 408, 429}  # What an edge or a relay says; a guest server never does.
_FIELDS = 7  # scheme, host, port, method, path, version, status, and what is left of the body


class GuestTraffic(logging.Handler):
    """Calls `on_lost` when something else answers in the guest's place; keeps the guest's failures while evaluating."""

    def __init__(
        self, port: Callable[[], int | None], phase: Callable[[], Phase], on_lost: Callable[[AttemptError], object]
    ) -> None:
        super().__init__(logging.DEBUG)
        self._port = port
        self._phase = phase
        self._on_lost = on_lost
        self._refused: dict[str, int] = {}
        self._failed: dict[str, None] = {}
        self._failed_actions = 0

    @property
    def fault(self) -> AttemptError | None:
        """What the guest failed to answer while evaluating; upstream takes such a failure for a missing answer."""
        if not self._failed:
            return None
        return AttemptError("evaluator_error", f"the guest server failed (500) at {', '.join(self._failed)}")

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._answer(record)
        except Exception:
            self.handleError(record)

    def _answer(self, record: logging.LogRecord) -> None:
        values: tuple[Any, ...] = record.args if isinstance(record.args, tuple) else ()
        if len(values) < _FIELDS or values[2] != self._port():
            return
        method, path, status = str(values[3]), urlsplit(str(values[4])).path, int(values[6])
        asked = f"{method} {path}"
        if status > 500 or status in _NOT_OF_THE_GUEST:
            self._refuse(asked, status)
        else:
            self._refused.pop(asked, None)
            self._of_the_guest(asked, status)

    def _refuse(self, asked: str, status: int) -> None:
        # A read may be tried again; anything else has lost an answer, and perhaps been done twice.
        count = self._refused[asked] = self._refused.get(asked, 0) + 1
        if count >= TRIES or not asked.startswith("GET "):
            self._on_lost(AttemptError("guest_lost", f"{asked} was answered {status} in the guest's place"))

    def _of_the_guest(self, asked: str, status: int) -> None:
        phase = self._phase()
        if phase == "agent" and asked == "POST /execute":
            self._failed_actions = self._failed_actions + 1 if status == 500 else 0
            if self._failed_actions >= TRIES:
                self._on_lost(AttemptError("guest_lost", f"the guest could not run an action in {TRIES} tries"))
        if phase == "evaluate" and (asked == "POST /setup/launch" or "/setup/" not in asked):
            if status == 500:
                self._failed[asked] = None
            elif asked.startswith("GET "):
                self._failed.pop(asked, None)


def watch_traffic(traffic: GuestTraffic) -> None:
    """Connects the watch; the records stay out of other handlers' way only by their level."""
    logger = logging.getLogger(LOGGER)
    logger.setLevel(logging.DEBUG)
    logger.addHandler(traffic)
