"""Reads the tree of accessible objects, breadth first, with all independent questions at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from osworld_guest.accessibility.bus import NULL_PATH, ROOT, Bus, Question, Reference
from osworld_guest.accessibility.grid import shown_cells
from osworld_guest.accessibility.names import ROLES, STATES
from osworld_guest.accessibility.node import Action, Extents, Node
from osworld_guest.accessibility.unfinished import awaits_page, is_gone, is_unread

MAX_DEPTH = 50
MAX_BREADTH = 1024

_PREFIX = "org.a11y.atspi."
_PROPERTIES = "org.freedesktop.DBus.Properties"
_SCREEN_COORDINATES = ("u", (0,))
_WHOLE_TEXT = ("ii", (0, -1))
_VALUES = {
    "value": "CurrentValue",
    "min": "MinimumValue",
    "max": "MaximumValue",
    "step": "MinimumIncrement",
}
_POLL_SECONDS = 0.05
# How often a parent is asked again for what came in place of a child that went. Few, as some never notice the loss.
_POLLS_FOR_GONE = 10


@dataclass(frozen=True)
class Limits:
    """How long a reading may take, and how long of that it may wait for what is unfinished, web pages above all."""

    deadline_seconds: float
    page_seconds: float


@dataclass(frozen=True)
class _Parent:
    node: Node
    reference: Reference
    depth: int


class Walk:
    """One reading of the desktop, or of its applications of one name."""

    def __init__(self, bus: Bus, application: str | None = None) -> None:
        self._bus = bus
        self._application = application
        self._states: dict[int, frozenset[str]] = {}
        self._parents: list[_Parent] = []

    def read(self, limits: Limits) -> Node:
        """The desktop with everything below it; what was not read before the deadline is missing."""
        deadline = time.monotonic() + limits.deadline_seconds
        desktop = Node(role="desktop-frame", name="main")
        self._ask(ROOT, "Accessible", "GetChildren", lambda found: self._enter_applications(desktop, found or []))
        self._bus.run(limits.deadline_seconds)
        self._finish(deadline, min(deadline, time.monotonic() + limits.page_seconds))
        _drop_unread(desktop)
        return desktop

    def _finish(self, deadline: float, pages_deadline: float) -> None:
        polls = 0
        while (unfinished := self._unfinished(polls < _POLLS_FOR_GONE)) and time.monotonic() < pages_deadline:
            time.sleep(_POLL_SECONDS)
            polls += 1
            self._parents = []
            for parent in unfinished:
                self._read_again(parent)
            self._bus.run(deadline - time.monotonic())

    def _unfinished(self, gone_too: bool) -> list[_Parent]:
        def is_unfinished(child: Node) -> bool:
            return awaits_page(child) or (gone_too and is_gone(child))

        return [parent for parent in self._parents if any(map(is_unfinished, parent.node.children))]

    def _read_again(self, parent: _Parent) -> None:
        # From the parent: what comes is another object than the one that stood in for it or went.
        def enter(found: Any) -> None:
            parent.node.children.clear()
            self._enter(parent, found or [])

        self._ask(parent.reference, "Accessible", "GetChildren", enter)

    def _enter_applications(self, desktop: Node, found: list[tuple[str, str]]) -> None:
        for application, path in found[:MAX_BREADTH]:
            self._enter_application(desktop, Reference(application, path))

    def _enter_application(self, desktop: Node, reference: Reference) -> None:
        node = Node()
        desktop.children.append(node)

        def named(name: Any) -> None:
            node.name = str(name or "")
            if self._application in (None, node.name):
                self._describe(node, reference, 1)

        self._property(reference, "Accessible", "Name", named)

    def _enter(self, parent: _Parent, found: list[tuple[str, str]]) -> None:
        if parent.depth >= MAX_DEPTH or not found:
            return
        self._parents.append(parent)
        for application, path in found[:MAX_BREADTH]:
            if path != NULL_PATH:
                node = Node()
                parent.node.children.append(node)
                self._describe(node, Reference(application, path), parent.depth + 1)

    def _describe(self, node: Node, reference: Reference, depth: int) -> None:
        self._property(reference, "Accessible", "Name", _setter(node, "name", str))
        self._ask(reference, "Accessible", "GetRole", lambda number: self._set_role(node, number))
        self._ask(reference, "Accessible", "GetAttributes", _setter(node, "attributes", dict))

        def state_known(words: Any) -> None:
            node.states = self._state_names(words or [])
            self._ask(reference, "Accessible", "GetInterfaces", interfaces_known)

        def interfaces_known(names: Any) -> None:
            interfaces = {name.removeprefix(_PREFIX) for name in names or []}
            self._read_interfaces(node, reference, interfaces)
            self._read_children(node, reference, interfaces, depth)

        self._ask(reference, "Accessible", "GetState", state_known)

    def _read_children(self, node: Node, reference: Reference, interfaces: set[str], depth: int) -> None:
        def enter(found: Any) -> None:
            node.is_lost = found is None
            self._enter(_Parent(node, reference, depth), found or [])

        def count_known(count: Any) -> None:
            if isinstance(count, int) and count > MAX_BREADTH:
                shown_cells(self._bus, reference, MAX_BREADTH, enter)
            else:
                self._ask(reference, "Accessible", "GetChildren", enter)

        if "manages_descendants" in node.states and "Table" in interfaces:
            self._property(reference, "Accessible", "ChildCount", count_known)
        else:
            self._ask(reference, "Accessible", "GetChildren", enter)

    def _read_interfaces(self, node: Node, reference: Reference, interfaces: set[str]) -> None:
        if "Component" in interfaces and {"showing", "visible"} <= node.states:
            self._ask(reference, "Component", "GetExtents", _setter(node, "extents", _extents), _SCREEN_COORDINATES)
        if "Text" in interfaces:
            self._ask(reference, "Text", "GetText", _setter(node, "text", str), _WHOLE_TEXT)
        if "Action" in interfaces:
            self._ask(reference, "Action", "GetActions", _setter(node, "actions", _actions))
        if "Document" in interfaces:
            self._ask(reference, "Document", "GetAttributes", _setter(node, "document_attributes", dict))
        if "Value" in interfaces:
            # One by one: Chromium crashes when it is asked for all properties of a value at once.
            for name, property_name in _VALUES.items():
                self._property(reference, "Value", property_name, _value_setter(node, name))
        node.is_image = "Image" in interfaces

    def _set_role(self, node: Node, number: Any) -> None:
        if isinstance(number, int) and 0 <= number < len(ROLES):
            node.role = ROLES[number]

    def _state_names(self, words: list[int]) -> frozenset[str]:
        bits = sum(word << (32 * place) for place, word in enumerate(words))
        if bits not in self._states:
            self._states[bits] = frozenset(name for bit, name in enumerate(STATES) if bits >> bit & 1)
        return self._states[bits]

    def _ask(
        self,
        target: Reference,
        interface: str,
        method: str,
        answered: Callable[[Any], None],
        arguments: tuple[str, tuple[int | str, ...]] = ("", ()),
    ) -> None:
        self._bus.ask(Question(target, _PREFIX + interface, method, *arguments), answered)

    def _property(self, target: Reference, interface: str, name: str, answered: Callable[[Any], None]) -> None:
        self._bus.ask(Question(target, _PROPERTIES, "Get", "ss", (_PREFIX + interface, name)), answered)


def _setter(node: Node, field: str, convert: Callable[[Any], object]) -> Callable[[Any], None]:
    def answered(value: Any) -> None:
        if value is not None:
            setattr(node, field, convert(value))

    return answered


def _value_setter(node: Node, name: str) -> Callable[[Any], None]:
    def answered(value: Any) -> None:
        if isinstance(value, int | float):
            node.values[name] = float(value)

    return answered


def _extents(value: Any) -> Extents:
    return Extents(*(int(number) for number in value))


def _actions(value: Any) -> list[Action]:
    return [Action(str(name), str(description), str(key)) for name, description, key in value]


def _drop_unread(node: Node) -> None:
    """Objects that went away, hung or were not asked for are no part of the tree: they did not even tell a state."""
    for child in node.children:
        _drop_unread(child)
    node.children = [child for child in node.children if not is_unread(child)]
