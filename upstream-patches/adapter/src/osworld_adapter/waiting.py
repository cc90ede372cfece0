"""Waiting for the guest's screen to stand still."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

PROBE_SECONDS = 0.4


class Clock(Protocol):
    def monotonic(self) -> float: ...

    def sleep(self, seconds: float, /) -> None: ...


@dataclass(frozen=True)
class Settled:
    """The last picture and whether it stood still before the bound."""

    screenshot: bytes | None
    still: bool


def settle(take: Callable[[], bytes | None], bound_seconds: float, clock: Clock) -> Settled:
    """Takes screenshots PROBE_SECONDS apart until two in a row are equal, or the bound is reached."""
    end = clock.monotonic() + bound_seconds
    last = take()
    while last is not None and clock.monotonic() < end:
        clock.sleep(PROBE_SECONDS)
        current = take()
        if current == last:
            return Settled(last, still=True)
        last = current
    return Settled(last, still=False)
