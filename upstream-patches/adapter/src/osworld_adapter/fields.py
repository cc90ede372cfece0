"""Strict reading of JSON objects: every refusal names the path and what to write instead."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, TypeVar, cast

T = TypeVar("T")
_NAMES = {
    str: "text",
    int: "a whole number",
    bool: "true or false",
    dict: "an object",
    list: "a list",
    float: "a number",
}
_REQUIRED: Any = object()


class FieldError(ValueError):
    """A JSON document does not have the promised shape."""


class Fields:
    """One JSON object whose keys are taken one by one; `finish` refuses what was not asked for."""

    def __init__(self, value: object, path: str) -> None:
        if not isinstance(value, Mapping):
            raise FieldError(f"{path} must be an object, not {_describe(value)}")
        self._values: Mapping[str, Any] = value
        self._path = path
        self._known: list[str] = []

    def path(self, key: str) -> str:
        return f"{self._path}.{key}"

    def take(self, key: str, kind: type[T], default: T = _REQUIRED) -> T:
        self._known.append(key)
        if key not in self._values:
            if default is _REQUIRED:
                raise FieldError(f"{self.path(key)} is missing; it must be {_NAMES[kind]}")
            return default
        value: Any = self._values[key]
        accepted = int | float if kind is float else kind
        if not isinstance(value, accepted) or (isinstance(value, bool) and kind is not bool):
            raise FieldError(f"{self.path(key)} must be {_NAMES[kind]}, not {_describe(value)}")
        try:
            return cast(T, float(self._values[key]) if kind is float else value)
        except OverflowError as error:
            raise FieldError(f"{self.path(key)} must be {_NAMES[kind]} that a computer can hold") from error

    def choice(self, key: str, allowed: tuple[T, ...]) -> T:
        self._known.append(key)
        if key not in self._values:
            raise FieldError(f"{self.path(key)} is missing; it must be one of {_list(allowed)}")
        for option in allowed:
            if type(self._values[key]) is type(option) and self._values[key] == option:
                return option
        raise FieldError(f"{self.path(key)} must be one of {_list(allowed)}, not {_describe(self._values[key])}")

    def positive(self, key: str) -> int:
        value = self.take(key, int)
        if value < 1:
            raise FieldError(f"{self.path(key)} must be 1 or more, not {value}")
        return value

    def finish(self) -> None:
        for key in self._values:
            if key not in self._known:
                near = difflib.get_close_matches(key, self._known, n=1)
                hint = f"did you mean {near[0]}?" if near else f"allowed here: {_list(tuple(sorted(self._known)))}"
                raise FieldError(f"{self.path(key)} is not known; {hint}")


def _describe(value: object) -> str:
    return f"{value!r:.80}"


def _list(values: tuple[Any, ...]) -> str:
    return ", ".join(str(value) for value in values)
