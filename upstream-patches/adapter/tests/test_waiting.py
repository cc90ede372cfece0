from __future__ import annotations

from collections.abc import Iterator

import pytest

from osworld_adapter.waiting import settle


class Clock:
    """Time passes only by sleeping."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float, /) -> None:
        self.now += seconds


@pytest.mark.parametrize(
    ("frames", "picture", "still", "seconds"),
    [
        ([b"a", b"a"], b"a", True, 0.4),
        ([b"a", b"b", b"c", b"c"], b"c", True, 1.2),
        ([b"a", b"b", b"a", b"b"], b"b", False, 1.2),
        ([b"a", None], None, False, 0.4),
    ],
)
def test_a_screen_is_settled_after_two_equal_pictures(
    frames: list[bytes | None], picture: bytes | None, still: bool, seconds: float
) -> None:
    clock, left = Clock(), iter(frames)
    settled = settle(lambda: next(left), 1.0, clock)
    assert (settled.screenshot, settled.still) == (picture, still)
    assert clock.now == pytest.approx(seconds)


def test_a_screen_that_never_stands_still_is_waited_for_no_longer_than_the_bound() -> None:
    def moving() -> Iterator[bytes]:
        count = 0
        while True:
            count += 1
            yield str(count).encode()

    clock, frames = Clock(), moving()
    assert not settle(lambda: next(frames), 5.0, clock).still
    assert 5.0 <= clock.now < 5.5
