"""Writes a tree of nodes as the XML that OSWorld's getters, metrics and agents read.

An element a node: the role is the tag, the name an attribute, the text the content. Everything else is in a namespace:
a state that holds is `st:<state>="true"`, places and sizes are `cp:screencoord="(x, y)"`, `cp:size="(w, h)"`.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree

from osworld_guest.accessibility.node import Extents, Node

_NAMESPACE_ROOT = "https://accessibility.ubuntu.example.org/ns/"
NAMESPACES = {
    "st": _NAMESPACE_ROOT + "state",
    "attr": _NAMESPACE_ROOT + "attributes",
    "cp": _NAMESPACE_ROOT + "component",
    "doc": _NAMESPACE_ROOT + "document",
    "docattr": _NAMESPACE_ROOT + "document/attributes",
    "txt": _NAMESPACE_ROOT + "text",
    "val": _NAMESPACE_ROOT + "value",
    "act": _NAMESPACE_ROOT + "action",
}
# The getter of the active URL selects the application by the name of the branded browser.
APPLICATION_ALIASES = {"Chromium": "Google Chrome"}

_FORBIDDEN_TEXT = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FORBIDDEN_NAME = re.compile(r"[^\w.-]")
# Stands for an embedded object, which has an element of its own.
_OBJECT_REPLACEMENT = "\ufffc"


def tree_to_xml(desktop: Node) -> str:
    """The XML text; the root is the desktop, its children are the applications."""
    for prefix, uri in NAMESPACES.items():
        ElementTree.register_namespace(prefix, uri)
    root = _element(desktop, None, None)
    for application in desktop.children:
        _append(root, application, None, None)
        root[-1].set("name", APPLICATION_ALIASES.get(application.name, _clean(application.name)))
    return ElementTree.tostring(root, encoding="unicode")


def _append(parent: ElementTree.Element, node: Node, above: Extents | None, window: Extents | None) -> None:
    element = _element(node, above, window)
    parent.append(element)
    for child in node.children:
        _append(element, child, node.extents, window or node.extents)


def _element(node: Node, above: Extents | None, window: Extents | None) -> ElementTree.Element:
    element = ElementTree.Element(_xml_name(node.role) or "unknown", {"name": _clean(node.name)})
    for state in sorted(node.states):
        _set(element, "st", state, "true")
    for name, value in node.attributes.items():
        _set(element, "attr", name, value)
    for name, value in node.document_attributes.items():
        _set(element, "docattr", name, value)
    for name, number in node.values.items():
        _set(element, "val", name, str(number))
    for action in node.actions:
        _set(element, "act", f"{action.name}_desc", action.description)
        if action.key_binding:
            _set(element, "act", f"{action.name}_kb", action.key_binding)
    if node.extents is not None:
        _set_place(element, node.extents, above, window)
    if node.is_image:
        element.set("image", "true")
    if node.text is not None:
        element.text = _clean(node.text.replace(_OBJECT_REPLACEMENT, ""))
    return element


def _set_place(element: ElementTree.Element, place: Extents, above: Extents | None, window: Extents | None) -> None:
    _set(element, "cp", "screencoord", str((place.left, place.top)))
    _set(element, "cp", "windowcoord", _relative(place, window or place))
    _set(element, "cp", "parentcoord", _relative(place, above or Extents(0, 0, 0, 0)))
    _set(element, "cp", "size", str((place.width, place.height)))


def _relative(place: Extents, origin: Extents) -> str:
    return str((place.left - origin.left, place.top - origin.top))


def _set(element: ElementTree.Element, prefix: str, name: str, value: str) -> None:
    if local_name := _xml_name(name):
        element.set(f"{{{NAMESPACES[prefix]}}}{local_name}", _clean(value))


def _xml_name(text: str) -> str:
    """A name that XML accepts; what it does not accept becomes a hyphen (a space) or an underscore."""
    name = _FORBIDDEN_NAME.sub("_", text.strip().replace(" ", "-"))
    return name if not name or name[0].isalpha() or name[0] == "_" else f"_{name}"


def _clean(text: str) -> str:
    return _FORBIDDEN_TEXT.sub("", text)
