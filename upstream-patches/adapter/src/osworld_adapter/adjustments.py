"""Declared adjustments: what is replaced or wrapped in upstream at run time, each checked before it is applied."""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from osworld_adapter.config import read_json
from osworld_adapter.fields import Fields
from osworld_adapter.outcome import AttemptError

Kind = Literal["replace", "wrap", "lazy_imports"]
# For `replace` it is given the original for the signature's sake; what it returns takes the original's place.
Implementation = Callable[[Any], Any]


@dataclass(frozen=True)
class Adjustment:
    """One declared difference; `expect` is the shape that the target must have."""

    name: str
    kind: Kind
    target: str
    intent: str
    expect: dict[str, str]
    packages: dict[str, str]
    owners: tuple[str, ...]


@dataclass(frozen=True)
class AdjustmentSet:
    """A profile's adjustments, the distribution that they are for, and the digest that every run records."""

    distribution: str
    version: str
    adjustments: tuple[Adjustment, ...]
    digest: str

    def lazy(self) -> Adjustment:
        """The one that names the lazy packages."""
        return next(adjustment for adjustment in self.adjustments if adjustment.kind == "lazy_imports")

    def replaced(self) -> list[Adjustment]:
        return [adjustment for adjustment in self.adjustments if adjustment.kind != "lazy_imports"]


def load_adjustments(path: Path) -> AdjustmentSet:
    """Reads `adjustments.json`; FieldError names what is wrong in it."""
    document = read_json(path)
    fields = Fields(document, path.name)
    fields.choice("schema_version", (1,))
    source = Fields(fields.take("source", dict), f"{path.name}.source")
    items = fields.take("adjustments", list)
    result = AdjustmentSet(
        distribution=source.take("name", str),
        version=source.take("version", str),
        adjustments=tuple(_adjustment(item, f"{path.name}.adjustments[{n}]") for n, item in enumerate(items)),
        digest=digest(document),
    )
    for part in (source, fields):
        part.finish()
    return result


def digest(document: object) -> str:
    """SHA-256 over the canonical JSON: sorted keys, no spaces, ASCII-escaped."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def check_distribution(wanted: AdjustmentSet) -> None:
    """Refuses an interpreter whose upstream is not the one that the adjustments were declared for."""
    try:
        found = importlib.metadata.version(wanted.distribution)
    except importlib.metadata.PackageNotFoundError:
        found = "absent"
    if found != wanted.version:
        raise AttemptError(
            "runner_exit",
            f"{wanted.distribution} is {found} here and the profile is for {wanted.version}; "
            "install the profile's requirements.txt",
        )


def mismatch(adjustment: Adjustment) -> str | None:
    """Why the target does not have the declared shape, or None when it has."""
    try:
        _, _, target = _locate(adjustment.target)
        source = inspect.getsource(target)
    except (ImportError, AttributeError, OSError, TypeError) as error:
        return f"{adjustment.target} cannot be found: {error}"
    found = {"signature": str(inspect.signature(target)), "source_sha256": hashlib.sha256(source.encode()).hexdigest()}
    differing = [key for key, value in adjustment.expect.items() if found[key] != value]
    return "; ".join(f"{key} is {found[key]}, declared is {adjustment.expect[key]}" for key in differing) or None


def apply_adjustments(wanted: AdjustmentSet, implementations: Mapping[str, Implementation]) -> None:
    """Checks all, then applies all; a target of another shape is refused with the adjustment's name."""
    declared = wanted.replaced()
    if {adjustment.name for adjustment in declared} != set(implementations):
        raise AttemptError(
            "runner_exit",
            f"declared adjustments {sorted(adjustment.name for adjustment in declared)} "
            f"and implemented ones {sorted(implementations)} differ",
        )
    for adjustment in declared:
        reason = mismatch(adjustment)
        if reason:
            raise AttemptError("runner_exit", f"adjustment {adjustment.name} is refused: {reason}")
    for adjustment in declared:
        owner, name, target = _locate(adjustment.target)
        setattr(owner, name, implementations[adjustment.name](target))


def _locate(target: str) -> tuple[Any, str, Any]:
    module, _, path = target.partition(":")
    owner: Any = importlib.import_module(module)
    *parents, name = path.split(".")
    for parent in parents:
        owner = getattr(owner, parent)
    return owner, name, getattr(owner, name)


def _adjustment(value: object, path: str) -> Adjustment:
    fields = Fields(value, path)
    kind: Kind = fields.choice("kind", ("replace", "wrap", "lazy_imports"))
    lazy = kind == "lazy_imports"
    expect = Fields(fields.take("expect", dict, {}) if lazy else fields.take("expect", dict), f"{path}.expect")
    shape = {} if lazy else {key: expect.take(key, str) for key in ("signature", "source_sha256")}
    expect.finish()
    result = Adjustment(
        name=fields.take("name", str),
        kind=kind,
        target=fields.take("target", str),
        intent=fields.take("intent", str),
        expect=shape,
        packages=fields.take("packages", dict) if lazy else {},
        owners=tuple(fields.take("owners", list)) if lazy else (),
    )
    fields.finish()
    return result
