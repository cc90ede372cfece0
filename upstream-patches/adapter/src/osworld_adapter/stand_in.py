"""A stand-in for a package, module or attribute that is imported on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Source:
    """Where a stand-in gets the real object, and whether attribute access may stay lazy still."""

    resolve: Callable[[str, tuple[str, ...]], Any]
    is_importing: Callable[[], bool]


class StandIn:
    """Imports `module` and walks `attributes` at the first call, attribute, item, isinstance or subclassing."""

    __slots__ = ("_attributes", "_module", "_real", "_resolved", "_source")

    _module: str
    _attributes: tuple[str, ...]
    _source: Source
    _real: Any
    _resolved: bool

    def __init__(self, source: Source, module: str, attributes: tuple[str, ...] = ()) -> None:
        fields = {"_source": source, "_module": module, "_attributes": attributes, "_real": None, "_resolved": False}
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if not self._resolved and self._source.is_importing():
            if name.startswith("__"):
                raise AttributeError(name)  # typing and inspect probe for these; a probe is no use.
            return StandIn(self._source, self._module, (*self._attributes, name))
        return getattr(real(self), name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(real(self), name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return real(self)(*args, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        return real(self)[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(real(self))

    def __contains__(self, item: object) -> bool:
        return item in real(self)

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, real(self))

    def __subclasscheck__(self, subclass: type) -> bool:
        return issubclass(subclass, real(self))

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[type, ...]:
        del bases
        return (real(self),)

    def __eq__(self, other: object) -> bool:
        # Union compares its members while modules are still being imported.
        if self is other or isinstance(other, StandIn) or self._source.is_importing():
            return self is other
        return bool(real(self) == other)

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<stand-in for {':'.join(filter(None, (self._module, '.'.join(self._attributes))))}>"


def real(stand_in: StandIn) -> Any:
    """The object behind the stand-in, imported now when it was not yet; ImportError when the package is absent."""
    if not stand_in._resolved:
        found = stand_in._source.resolve(stand_in._module, stand_in._attributes)
        object.__setattr__(stand_in, "_real", found)
        object.__setattr__(stand_in, "_resolved", True)
    return stand_in._real
