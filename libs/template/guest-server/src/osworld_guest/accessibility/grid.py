"""The cells of a huge table (a spreadsheet has billions) that are on the screen."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from osworld_guest.accessibility.bus import NULL_PATH, Bus, Question, Reference
from osworld_guest.accessibility.cell_range import cell_range

_ACCESSIBLE = "org.a11y.atspi.Accessible"
_COMPONENT = "org.a11y.atspi.Component"
_TABLE = "org.a11y.atspi.Table"
_PROPERTIES = "org.freedesktop.DBus.Properties"
_SCREEN = 0
_FARTHEST = 1_000_000

Found = Callable[[list[tuple[str, str]]], None]


def shown_cells(bus: Bus, table: Reference, most: int, found: Found) -> None:
    """Finds the cells in the table's upper left and lower right corners and gives all between them."""
    _Corners(bus, table, most, found).start()


class _Corners:
    def __init__(self, bus: Bus, table: Reference, most: int, found: Found) -> None:
        self._bus = bus
        self._table = table
        self._most = most
        self._found = found
        self._columns = 0
        self._indexes: list[int] = []

    def start(self) -> None:
        question = Question(self._table, _PROPERTIES, "Get", "ss", (_TABLE, "NColumns"))
        self._bus.ask(question, self._columns_known)

    def _columns_known(self, columns: Any) -> None:
        self._columns = int(columns or 0)
        question = Question(self._table, _COMPONENT, "GetExtents", "u", (_SCREEN,))
        self._bus.ask(question, self._place_known)

    def _place_known(self, place: Any) -> None:
        left, top, width, height = place or (0, 0, 0, 0)
        # What is not on the screen has no size, or coordinates at the edge of what a number can hold.
        if min(width, height) <= 0 or min(left, top) < -_FARTHEST or max(left + width, top + height) > _FARTHEST:
            return
        for x, y in ((left + 1, top + 1), (left + width - 2, top + height - 2)):
            question = Question(self._table, _COMPONENT, "GetAccessibleAtPoint", "iiu", (x, y, _SCREEN))
            self._bus.ask(question, self._corner_known)

    def _corner_known(self, cell: Any) -> None:
        if cell is not None and cell[1] != NULL_PATH:
            self._bus.ask(Question(Reference(*cell), _ACCESSIBLE, "GetIndexInParent"), self._index_known)

    def _index_known(self, index: Any) -> None:
        self._indexes.append(-1 if index is None else int(index))
        if len(self._indexes) == 2:
            wanted = cell_range(min(self._indexes), max(self._indexes), self._columns, self._most)
            self._collect(wanted)

    def _collect(self, wanted: list[int]) -> None:
        cells: dict[int, tuple[str, str]] = {}
        answers = 0

        def answered(index: int, cell: Any) -> None:
            nonlocal answers
            answers += 1
            if cell is not None:
                cells[index] = cell
            if answers == len(wanted):
                self._found([cells[index] for index in sorted(cells)])

        for index in wanted:
            question = Question(self._table, _ACCESSIBLE, "GetChildAtIndex", "i", (index,))
            self._bus.ask(question, partial(answered, index))
