"""The window list and the window of an opened file."""

from __future__ import annotations

from pathlib import Path

import pytest

from osworld_guest.windows import Window, parse_window_list, shows_file


def test_a_title_may_hold_anything_or_nothing() -> None:
    text = (
        "0x01a00003 -1 osworld Desktop Icons 1\n0x02400007  0 osworld a  b - c\n0x03  0 osworld\n0x04  0    N/A x y\n"
    )
    assert parse_window_list(text) == [
        Window("0x01a00003", "Desktop Icons 1"),
        Window("0x02400007", "a  b - c"),
        Window("0x03", ""),
        Window("0x04", "x y"),
    ]


@pytest.mark.parametrize(
    ("title", "is_known", "expected"),
    [
        ("1.pptx - LibreOffice Impress", False, True),
        ("1.pptx - LibreOffice Impress", True, True),
        ("1 - Image Viewer", False, True),
        ("1 - Image Viewer", True, False),
        ("21 files", False, False),
        ("Home", False, False),
    ],
)
def test_a_window_shows_a_file_by_its_name_and_a_new_one_by_the_name_without_ending(
    title: str, is_known: bool, expected: bool
) -> None:
    window = Window("0x1", title)
    assert shows_file(Path("/home/user/1.pptx"), window, [window] if is_known else []) is expected
