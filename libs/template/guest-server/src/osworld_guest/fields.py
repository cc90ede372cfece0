"""Typed fields of a JSON body; a wrong one is a sentence with status 400."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from osworld_guest.errors import GuestError

Fields = Mapping[str, Any]
Command = str | list[str]


def text_field(fields: Fields, name: str) -> str:
    """A text that is not empty."""
    value = fields.get(name)
    if isinstance(value, str) and value:
        return value
    raise GuestError(400, f"The field {name!r} must be a text that is not empty.")


def flag_field(fields: Fields, name: str) -> bool:
    """A boolean, false when absent."""
    value = fields.get(name, False)
    if isinstance(value, bool):
        return value
    raise GuestError(400, f"The field {name!r} must be true or false.")


def seconds_field(fields: Fields, name: str, default_seconds: float) -> float:
    """A number of seconds from zero up."""
    value = fields.get(name, default_seconds)
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf"):
        return float(value)
    raise GuestError(400, f"The field {name!r} must be a number of seconds.")


def command_field(fields: Fields, name: str = "command") -> Command:
    """A command: a text, or a list of texts and numbers; neither may be empty."""
    value = fields.get(name)
    if isinstance(value, str) and value.strip():
        return value
    if isinstance(value, list) and value and all(isinstance(word, str | int | float) for word in value):
        return [str(word) for word in value]
    raise GuestError(400, f"The field {name!r} must be a command: a text or a list of texts.")


def user_path(text: str) -> Path:
    """A path with `~` and variables expanded; a relative one counts from the server's working folder."""
    if "\0" in text:
        raise GuestError(400, "A path cannot hold a NUL character.")
    return Path(os.path.expandvars(text)).expanduser().absolute()
