"""Whether the guest can be given an action: its server hands the text to a program as one argument."""

from __future__ import annotations

# Linux takes 131,072 bytes in one argument (execve(2)); OSWorld puts its imports in front, and this much in each `<`.
MAX_BYTES = 120_000
LESS_THAN_BYTES = 80


def unsendable(action: str) -> str | None:
    """Why the guest cannot be given the text, as the end of a sentence; None when it can."""
    if "\0" in action:
        return "holds a NUL character, which no program can be given"
    try:
        size = len(action.encode()) + LESS_THAN_BYTES * action.count("<")
    except UnicodeEncodeError:
        return "holds half of a surrogate pair, which is no character"
    return f"needs {size} bytes, and {MAX_BYTES} are the most that the guest takes" if size > MAX_BYTES else None
