"""Tells objects that another one is about to replace.

Chromium reads its pages only once somebody asks for their tree. Until then an empty document without an address stands
in for a page, for some tenths of a second, or seconds when the page is long.
"""

from __future__ import annotations

from osworld_guest.accessibility.node import Node


def awaits_page(node: Node) -> bool:
    """Whether a shown document's page is still to come. An empty page that has come has an address and a type."""
    return (
        node.role == "document-web"
        and "showing" in node.states
        and not node.children
        # A toolkit that tells nothing about its documents is not waited for.
        and bool(node.document_attributes)
        and not any(node.document_attributes.values())
    )


def is_gone(node: Node) -> bool:
    """Whether an object went away after its parent had listed it."""
    return node.is_lost or "defunct" in node.states or is_unread(node)


def is_unread(node: Node) -> bool:
    """Whether an object told nothing: it went away, hung or was not asked."""
    return node.role == "unknown" and not node.states and not node.children
