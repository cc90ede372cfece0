"""Finds the text of the terminal that the user is typing into."""

from __future__ import annotations

from collections.abc import Iterator

from osworld_guest.accessibility.node import Node

TERMINAL_APPLICATION = "gnome-terminal-server"


def focused_terminal_text(desktop: Node) -> str | None:
    """The text, without blanks at its end, of the focused terminal of an active window; None when there is none.

    A window that is active but has not yet reported its focus gives its only showing terminal.
    """
    for application in desktop.children:
        if application.name != TERMINAL_APPLICATION:
            continue
        for window in application.children:
            terminals = [node for node in _descendants(window) if node.role == "terminal" and node.text is not None]
            chosen = [node for node in terminals if "focused" in node.states]
            if not chosen:
                showing = [node for node in terminals if "showing" in node.states]
                chosen = showing if len(showing) == 1 else []
            if "active" in window.states and chosen:
                return (chosen[0].text or "").rstrip()
    return None


def _descendants(node: Node) -> Iterator[Node]:
    for child in node.children:
        yield child
        yield from _descendants(child)
