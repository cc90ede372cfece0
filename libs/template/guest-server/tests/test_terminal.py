"""Which terminal's text is told."""

from __future__ import annotations

import pytest

from osworld_guest.accessibility.cell_range import cell_range
from osworld_guest.accessibility.node import Node
from osworld_guest.accessibility.terminal import focused_terminal_text

ACTIVE, FOCUSED, SHOWING = frozenset({"active"}), frozenset({"focused", "showing"}), frozenset({"showing"})


def terminals(*windows: Node, application: str = "gnome-terminal-server") -> Node:
    return Node("desktop-frame", children=[Node("application", application, children=list(windows))])


def window(states: frozenset[str], *inner: Node) -> Node:
    return Node("frame", states=states, children=[Node("panel", children=list(inner))])


def test_the_focused_terminal_of_the_active_window_is_told_without_blanks_at_its_end() -> None:
    other = window(frozenset(), Node("terminal", states=FOCUSED, text="other"))
    tabs = window(
        ACTIVE, Node("terminal", text="hidden"), Node("terminal", states=FOCUSED, text="$ stty size\n43 132\n \n")
    )
    assert focused_terminal_text(terminals(other, tabs)) == "$ stty size\n43 132"


def test_an_active_window_without_a_reported_focus_gives_its_only_showing_terminal() -> None:
    assert focused_terminal_text(terminals(window(ACTIVE, Node("terminal", states=SHOWING, text="x")))) == "x"


@pytest.mark.parametrize(
    "desktop",
    [
        terminals(),
        terminals(window(frozenset(), Node("terminal", states=FOCUSED, text="x"))),
        terminals(window(ACTIVE, Node("text", states=FOCUSED, text="x"))),
        terminals(window(ACTIVE, Node("terminal", states=FOCUSED, text="x")), application="gedit"),
        terminals(window(ACTIVE, *(Node("terminal", states=SHOWING, text=text) for text in "ab"))),
    ],
)
def test_without_a_focused_terminal_there_is_no_text(desktop: Node) -> None:
    assert focused_terminal_text(desktop) is None


@pytest.mark.parametrize(
    ("first", "last", "columns", "most", "indexes"),
    [
        (0, 0, 16384, 1024, [0]),
        (16384 + 1, 2 * 16384 + 2, 16384, 1024, [16385, 16386, 32769, 32770]),
        (0, 16384 * 40 + 25, 16384, 3, [0, 1, 2]),
        (-1, 5, 10, 100, []),
        (0, 5, 0, 100, []),
    ],
)
def test_the_cells_between_two_corners_are_taken_row_by_row(
    first: int, last: int, columns: int, most: int, indexes: list[int]
) -> None:
    assert cell_range(first, last, columns, most) == indexes
