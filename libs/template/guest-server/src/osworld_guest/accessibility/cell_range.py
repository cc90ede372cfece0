"""Which cells of a table lie between two of them."""

from __future__ import annotations


def cell_range(first: int, last: int, columns: int, most: int) -> list[int]:
    """The child indexes of the rectangle between two cells of a table, row by row, at most `most`."""
    if columns <= 0 or first < 0 or last < first:
        return []
    top, left = divmod(first, columns)
    bottom, right = divmod(last, columns)
    indexes = [row * columns + column for row in range(top, bottom + 1) for column in range(left, right + 1)]
    return indexes[:most]
