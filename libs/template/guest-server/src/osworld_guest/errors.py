"""The one error that a route answers with."""

from __future__ import annotations

from typing import Any


class GuestError(Exception):
    """A request that cannot be done: an HTTP status, one sentence, and further fields of the JSON answer."""

    def __init__(self, status: int, message: str, **fields: Any) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.fields = fields
