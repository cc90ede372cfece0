"""The XML, looked at with the selectors that OSWorld's getters, metrics, tasks and agents use."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from lxml import etree
from lxml.cssselect import CSSSelector

from osworld_guest.accessibility.node import Action, Extents, Node
from osworld_guest.accessibility.tree_xml import NAMESPACES, tree_to_xml

SHOWN = frozenset({"showing", "visible", "enabled", "multi_line"})
STATE = "{https://accessibility.ubuntu.example.org/ns/state}"
COMPONENT = "{https://accessibility.ubuntu.example.org/ns/component}"

BROWSER = Node(
    "application",
    "Chromium",
    children=[
        Node(
            "frame",
            "Page - Chromium",
            SHOWN | {"active"},
            extents=Extents(10, 20, 800, 600),
            children=[
                Node(
                    "tool-bar",
                    extents=Extents(30, 50, 700, 40),
                    children=[Node("entry", "Address and search bar", SHOWN, text="example.org/path")],
                ),
                Node("push-button", "Chromium", extents=Extents(35, 55, 20, 10)),
            ],
        )
    ],
)
MAIL = Node(
    "application",
    "Thunderbird",
    children=[
        Node(
            "frame",
            children=[
                Node(
                    "page-tab-list",
                    attributes={"id": "tabmail-tabs"},
                    children=[Node("page-tab", "About Profiles")],
                ),
                Node(
                    "tool-bar",
                    attributes={"id": "MsgHeadersToolbar"},
                    children=[
                        Node("label", "To"),
                        Node(
                            "section",
                            attributes={"class": "address-pill"},
                            children=[Node("label", "<fox@someuniversity.edu>", attributes={"class": "pill-label"})],
                        ),
                    ],
                ),
                Node("paragraph", text="Write to anonym-x2024@outlook.com"),
                Node("password-text", "Password"),
            ],
        )
    ],
)
IMPRESS = Node(
    "application", "soffice", children=[Node("frame", children=[Node("document-frame", "Slides View", SHOWN)])]
)


def parsed(*applications: Node) -> etree._Element:
    return etree.fromstring(tree_to_xml(Node("desktop-frame", "main", children=list(applications))))


@pytest.mark.parametrize(
    "selector",
    [
        r"application[name=Google\ Chrome] entry[name=Address\ and\ search\ bar]",
        'application[name=Thunderbird] page-tab-list[attr|id="tabmail-tabs"]>page-tab[name="About Profiles"]',
        'tool-bar[attr|id=MsgHeadersToolbar] label[name=To]~[attr|class="address-pill"]'
        '>label[attr|class="pill-label"][name*="fox@someuniversity.edu"]',
    ],
)
def test_the_selectors_of_upstream_find_their_one_element(selector: str) -> None:
    assert len(CSSSelector(selector, namespaces=NAMESPACES)(parsed(BROWSER, MAIL))) == 1


@pytest.mark.parametrize(
    "path",
    [
        "//application[@name='Thunderbird']//*[contains(text(), 'anonym-x2024@outlook.com') or "
        "contains(@name, 'anonym-x2024@outlook.com')]",
        "//application[@name='Thunderbird']//*[contains(@name, 'password') or contains(@name, 'Password')]",
    ],
)
def test_the_paths_of_upstream_find_their_one_element(path: str) -> None:
    assert len(parsed(BROWSER, MAIL).xpath(path, namespaces=NAMESPACES)) == 1


def test_the_address_is_the_text_of_the_entry() -> None:
    assert parsed(BROWSER).xpath("//entry")[0].text == "example.org/path"


def test_only_the_application_gets_the_alias() -> None:
    tree = parsed(BROWSER)
    assert tree.xpath("/desktop-frame/application/@name") == ["Google Chrome"]
    assert tree.xpath("//push-button/@name") == ["Chromium"]


def test_the_slide_pane_is_a_document_frame_with_its_name() -> None:
    root = ElementTree.fromstring(tree_to_xml(Node("desktop-frame", "main", children=[IMPRESS])))
    assert [frame.get("name") for frame in root.iter("document-frame")] == ["Slides View"]


def test_states_that_hold_are_true_and_others_absent() -> None:
    entry = parsed(BROWSER).xpath("//entry")[0]
    assert {name: value for name, value in entry.attrib.items() if name.startswith(STATE)} == {
        STATE + "showing": "true",
        STATE + "visible": "true",
        STATE + "enabled": "true",
        STATE + "multi_line": "true",
    }


def test_places_are_pairs_from_the_screen_the_window_and_the_parent() -> None:
    tool_bar = parsed(BROWSER).xpath("//tool-bar")[0]
    assert tool_bar.get(COMPONENT + "screencoord") == "(30, 50)"
    assert tool_bar.get(COMPONENT + "size") == "(700, 40)"
    assert tool_bar.get(COMPONENT + "windowcoord") == "(20, 30)"
    assert tool_bar.get(COMPONENT + "parentcoord") == "(20, 30)"


def test_values_actions_and_document_attributes_have_their_namespaces() -> None:
    node = Node(
        "slider",
        values={"value": 40.0, "max": 100.0},
        actions=[Action("click ancestor", "clicks", "<Alt>x"), Action("")],
        document_attributes={"DocURL": "http://x/"},
        is_image=True,
    )
    slider = parsed(Node("application", "a", children=[node])).xpath("//slider")[0]
    assert dict(slider.attrib) == {
        "name": "",
        f"{{{NAMESPACES['val']}}}value": "40.0",
        f"{{{NAMESPACES['val']}}}max": "100.0",
        f"{{{NAMESPACES['act']}}}click-ancestor_desc": "clicks",
        f"{{{NAMESPACES['act']}}}click-ancestor_kb": "<Alt>x",
        f"{{{NAMESPACES['act']}}}_desc": "",
        f"{{{NAMESPACES['docattr']}}}DocURL": "http://x/",
        "image": "true",
    }


def test_what_xml_cannot_hold_is_left_out() -> None:
    node = Node("odd role!", "a\x00b\ud800c", attributes={"2 bad:name": "\x1bv", "": "x"}, text="left\ufffcright\x07")
    element = parsed(Node("application", "a", children=[node]))[0][0]
    assert (element.tag, element.get("name"), element.text) == ("odd-role_", "abc", "leftright")
    assert element.get(f"{{{NAMESPACES['attr']}}}_2-bad_name") == "v"


def test_a_deep_tree_is_written_whole() -> None:
    node = Node("panel", "leaf")
    for _ in range(48):
        node = Node("panel", children=[node])
    assert len(parsed(Node("application", "a", children=[node])).xpath("//panel[@name='leaf']")) == 1
