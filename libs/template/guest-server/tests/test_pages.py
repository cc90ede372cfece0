"""The walk over a bus of plain data, whose objects answer differently the second time."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from osworld_guest.accessibility.bus import ROOT, Answered, Question, Reference
from osworld_guest.accessibility.names import ROLES, STATES
from osworld_guest.accessibility.node import Node
from osworld_guest.accessibility.walk import Limits, Walk

BROWSER = ":1.7"
EMPTY_DOCUMENT = {"URI": "", "Title": "", "MimeType": "", "DocType": ""}
LOADED_DOCUMENT = {"URI": "https://example.org/", "Title": "a page", "MimeType": "text/html", "DocType": "html"}
PATIENT = Limits(deadline_seconds=20.0, page_seconds=20.0)


@dataclass
class FakeObject:
    """What an object answers; `children` holds the lists of children of the first, second, ... and all later times.

    Without any list the object goes away before it tells its children.
    """

    role: str
    name: str = ""
    children: list[list[str]] = field(default_factory=lambda: [[]])
    states: tuple[str, ...] = ("showing", "visible")
    document: dict[str, str] | None = None
    values: dict[str, float] = field(default_factory=dict)

    def next_children(self) -> list[tuple[str, str]] | None:
        """The answer to being asked once more."""
        if not self.children:
            return None
        paths = self.children.pop(0) if len(self.children) > 1 else self.children[0]
        return [(BROWSER, path) for path in paths]


class FakeBus:
    """Answers from a table; keeps the questions."""

    def __init__(self, objects: dict[str, FakeObject]) -> None:
        self.objects = objects
        self.questions: list[Question] = []
        self._waiting: deque[tuple[Question, Answered]] = deque()

    def ask(self, question: Question, answered: Answered) -> None:
        self._waiting.append((question, answered))

    def run(self, deadline_seconds: float) -> None:
        assert deadline_seconds > 0
        while self._waiting:
            question, answered = self._waiting.popleft()
            self.questions.append(question)
            answered(self._answer(question))

    def asked(self, path: str, method: str) -> int:
        wanted = (Reference(BROWSER, path), method)
        return sum((question.target, question.method) == wanted for question in self.questions)

    def _answer(self, question: Question) -> Any:
        if question.target == ROOT:
            return [(BROWSER, "/application")]
        described = self.objects.get(question.target.path)
        if described is None:
            return None
        if question.method == "Get":
            return {"Name": described.name, **described.values}.get(str(question.arguments[1]))
        if question.interface.endswith(".Document"):
            return described.document
        if question.method == "GetChildren":
            return described.next_children()
        interfaces = ["Accessible", "Document"] if described.document is not None else ["Accessible"]
        return {
            "GetRole": ROLES.index(described.role),
            "GetState": [sum(1 << STATES.index(state) for state in described.states), 0],
            "GetAttributes": {},
            "GetInterfaces": [
                f"org.a11y.atspi.{name}" for name in [*interfaces, *(["Value"] * bool(described.values))]
            ],
        }[question.method]


def browser(children_of_view: list[list[str]], **documents: FakeObject) -> FakeBus:
    return FakeBus(
        {
            "/application": FakeObject("application", "Chromium", [["/frame"]]),
            "/frame": FakeObject("frame", "a window", [["/bar", "/view"]]),
            "/bar": FakeObject("entry", "Address and search bar"),
            "/view": FakeObject("panel", "", children_of_view),
            "/heading": FakeObject("heading", "a heading"),
            **{f"/{name}": described for name, described in documents.items()},
        }
    )


def page_of(desktop: Node) -> list[tuple[str, list[str]]]:
    """The documents in the view: name and the names of what is in them."""
    view = desktop.children[0].children[0].children[1]
    return [(document.name, [child.name for child in document.children]) for document in view.children]


def test_a_page_that_replaces_its_empty_document_later_is_read_in_full() -> None:
    standing_in = FakeObject("document-web", document=EMPTY_DOCUMENT)
    page = FakeObject("document-web", "a page", [["/heading"]], document=LOADED_DOCUMENT)
    bus = browser([["/standing_in"], ["/standing_in"], ["/page"]], standing_in=standing_in, page=page)
    assert page_of(Walk(bus).read(PATIENT)) == [("a page", ["a heading"])]
    # What was complete is not read again.
    assert bus.asked("/view", "GetChildren") == 3
    assert bus.asked("/bar", "GetRole") == 1


def test_a_page_in_a_frame_of_a_page_that_came_late_is_waited_for_too() -> None:
    standing_in = FakeObject("document-web", document=EMPTY_DOCUMENT)
    frame = FakeObject("internal-frame", "a frame", [["/standing_in"], ["/inner"]])
    page = FakeObject("document-web", "a page", [["/inner_frame"]], document=LOADED_DOCUMENT)
    inner = FakeObject("document-web", "inner", [["/heading"]], document=LOADED_DOCUMENT)
    objects = {"standing_in": standing_in, "inner_frame": frame, "page": page, "inner": inner}
    bus = browser([["/standing_in"], ["/page"]], **objects)
    view = Walk(bus).read(PATIENT).children[0].children[0].children[1]
    frames = view.children[0].children
    assert [(document.name, [child.name for child in document.children]) for document in frames[0].children] == [
        ("inner", ["a heading"])
    ]


def test_a_page_that_never_comes_ends_the_wait_with_the_rest_of_the_tree() -> None:
    bus = browser([["/standing_in"]], standing_in=FakeObject("document-web", document=EMPTY_DOCUMENT))
    desktop = Walk(bus).read(Limits(deadline_seconds=20.0, page_seconds=0.2))
    assert page_of(desktop) == [("", [])]
    assert desktop.children[0].children[0].children[0].name == "Address and search bar"
    assert bus.asked("/view", "GetChildren") > 1


def test_pages_that_are_empty_hidden_or_of_a_toolkit_that_says_nothing_are_not_waited_for() -> None:
    for document in (
        FakeObject("document-web", "blank", document={**EMPTY_DOCUMENT, "URI": "about:blank"}),
        FakeObject("document-web", "hidden", states=("enabled",), document=EMPTY_DOCUMENT),
        FakeObject("document-web", "silent", document=None),
        FakeObject("panel", "no page", document=EMPTY_DOCUMENT),
    ):
        bus = browser([["/document"]], document=document)
        assert page_of(Walk(bus).read(PATIENT)) == [(document.name, [])]
        assert bus.asked("/view", "GetChildren") == 1


def test_what_comes_in_place_of_an_object_that_went_while_it_was_read_is_read() -> None:
    gone = FakeObject("invalid", states=("defunct",))
    page = FakeObject("document-web", "a page", [["/heading"]], document=LOADED_DOCUMENT)
    bus = browser([["/gone"], ["/page"]], gone=gone, page=page)
    assert page_of(Walk(bus).read(PATIENT)) == [("a page", ["a heading"])]
    bus = browser([["/nowhere"], ["/page"]], page=page)
    assert page_of(Walk(bus).read(PATIENT)) == [("a page", ["a heading"])]
    went_half_read = FakeObject("document-web", document=None, children=[])
    bus = browser([["/went_half_read"], ["/page"]], went_half_read=went_half_read, page=page)
    assert page_of(Walk(bus).read(PATIENT)) == [("a page", ["a heading"])]


def test_a_parent_that_never_notices_that_a_child_went_is_left_soon() -> None:
    bus = browser([["/nowhere", "/heading"]])
    assert page_of(Walk(bus).read(PATIENT)) == [("a heading", [])]
    assert bus.asked("/view", "GetChildren") == 11


def test_no_application_is_asked_for_all_properties_at_once() -> None:
    slider = FakeObject("slider", "a slider", values={"CurrentValue": 7.0, "MaximumValue": 10.0})
    bus = browser([["/slider"]], slider=slider)
    view = Walk(bus).read(PATIENT).children[0].children[0].children[1]
    assert view.children[0].values == {"value": 7.0, "max": 10.0}
    assert {question.method for question in bus.questions if question.method.startswith("GetAll")} == set()
