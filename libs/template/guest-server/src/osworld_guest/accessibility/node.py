"""An accessible object as plain data, whatever it was read from."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Action:
    """What can be done to an object."""

    name: str
    description: str = ""
    key_binding: str = ""


@dataclass(frozen=True)
class Extents:
    """A rectangle on the screen in pixels."""

    left: int
    top: int
    width: int
    height: int


@dataclass
class Node:
    """One object. `role` is hyphenated ("push-button"), `states` have underscores ("multi_line").

    Fields of an interface that the object lacks stay None or empty.
    """

    role: str = "unknown"
    name: str = ""
    states: frozenset[str] = frozenset()
    attributes: dict[str, str] = field(default_factory=dict)
    document_attributes: dict[str, str] = field(default_factory=dict)
    extents: Extents | None = None
    text: str | None = None
    values: dict[str, float] = field(default_factory=dict)
    actions: list[Action] = field(default_factory=list)
    is_image: bool = False
    # It stopped answering while it was read.
    is_lost: bool = False
    children: list[Node] = field(default_factory=list)
