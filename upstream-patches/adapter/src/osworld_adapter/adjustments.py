"""Declared adjustments: what is replaced or wrapped in upstream at run time, each checked before it is applied."""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any, Literal

from osworld_adapter.config import read_json
from osworld_adapter.fields import FieldError, Fields
from osworld_adapter.outcome import AttemptError

Kind = Literal["replace", "wrap", "lazy_imports", "folder", "argument"]
KINDS: tuple[Kind, ...] = ("replace", "wrap", "lazy_imports", "folder", "argument")
# For `replace` it is given the original for the signature's sake; what it returns takes the original's place.
Implementation = Callable[[Any], Any]


@dataclass(frozen=True)
class Expectation:
    """The shape of a target: exactly this text where given, at least these parameters, and these names in its code."""

    signature: str | None = None
    source_sha256: str | None = None
    parameters: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Adjustment:
    """One declared difference; `value` is that of a `folder` or `argument`, or what a wrapper puts in."""

    name: str
    kind: Kind
    target: str
    intent: str
    expect: Expectation = Expectation()
    value: str = ""
    packages: dict[str, str] = field(default_factory=dict)
    owners: tuple[str, ...] = ()

    @property
    def module(self) -> str:
        return self.target.partition(":")[0]


@dataclass(frozen=True)
class AdjustmentSet:
    """A profile's adjustments, the source that they are for, and the digest that every run records.

    A package has a distribution and a version; a git source has its repository and its commit in their places.
    """

    kind: Literal["package", "git"]
    distribution: str
    version: str
    adjustments: tuple[Adjustment, ...]
    digest: str

    def lazy(self) -> Adjustment:
        """The one that names the lazy packages."""
        return next(adjustment for adjustment in self.adjustments if adjustment.kind == "lazy_imports")

    def replaced(self) -> list[Adjustment]:
        return [adjustment for adjustment in self.adjustments if adjustment.kind in ("replace", "wrap")]

    def values(self, kind: Kind) -> dict[str, str]:
        """Target to value of all adjustments of that kind."""
        return {adjustment.target: adjustment.value for adjustment in self.adjustments if adjustment.kind == kind}


def load_adjustments(path: Path) -> AdjustmentSet:
    """Reads `adjustments.json`; FieldError names what is wrong in it."""
    document = read_json(path)
    fields = Fields(document, path.name)
    fields.choice("schema_version", (1,))
    kind, name, version = _source(fields.take("source", dict), f"{path.name}.source")
    items = fields.take("adjustments", list)
    fields.take("agents", dict, {})  # Read by whoever makes one; here only part of the digest.
    result = AdjustmentSet(
        kind=kind,
        distribution=name,
        version=version,
        adjustments=tuple(_adjustment(item, f"{path.name}.adjustments[{n}]", kind) for n, item in enumerate(items)),
        digest=digest(document),
    )
    fields.finish()
    return result


def digest(document: object) -> str:
    """SHA-256 over the canonical JSON: sorted keys, no spaces, ASCII-escaped."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def check_distribution(wanted: AdjustmentSet) -> None:
    """Refuses an interpreter whose upstream is not the one that the adjustments were declared for.

    A git source is verified by whoever made its checkout.
    """
    if wanted.kind == "git":
        return
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
        return "; ".join(_differences(adjustment.expect, target)) or None
    except (ImportError, AttributeError, OSError, TypeError) as error:
        return f"{adjustment.target} cannot be found: {error}"


def _differences(expect: Expectation, target: Any) -> Iterator[str]:
    signature = inspect.signature(target)
    if expect.signature is not None and expect.signature != str(signature):
        yield f"signature is {signature}, declared is {expect.signature}"
    if expect.source_sha256 is not None:
        found = hashlib.sha256(inspect.getsource(target).encode()).hexdigest()
        if found != expect.source_sha256:
            yield f"source_sha256 is {found}, declared is {expect.source_sha256}"
    absent = [name for name in expect.parameters if name not in signature.parameters]
    if absent:
        yield f"signature is {signature}, declared is that it takes {', '.join(absent)}"
    unused = [name for name in expect.names if name not in set(_names(inspect.unwrap(target).__code__))]
    if unused:
        yield f"its code does not use {', '.join(unused)}, declared is that it does"


def _names(code: CodeType) -> Iterator[str]:
    """Attributes and globals that the code and the functions inside it use."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def refuse(adjustment: Adjustment, reason: str) -> AttemptError:
    """The named refusal of a target whose shape is another one than declared."""
    return AttemptError("runner_exit", f"adjustment {adjustment.name} is refused, the contract moved: {reason}")


def apply_adjustments(wanted: AdjustmentSet, implementations: Mapping[str, Implementation]) -> None:
    """Checks all, then applies all; a target of another shape is refused with the adjustment's name."""
    declared = wanted.replaced()
    if {adjustment.name for adjustment in declared} != set(implementations):
        raise AttemptError(
            "runner_exit",
            f"declared adjustments {sorted(adjustment.name for adjustment in declared)} "
            f"and implemented ones {sorted(implementations)} differ",
        )
    apply_to(declared, implementations)


def apply_to(declared: list[Adjustment], implementations: Mapping[str, Implementation]) -> None:
    """Checks these, then applies them in their order; several of one target wrap each other."""
    for adjustment in declared:
        reason = mismatch(adjustment)
        if reason:
            raise refuse(adjustment, reason)
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


def _source(value: object, path: str) -> tuple[Literal["package", "git"], str, str]:
    fields = Fields(value, path)
    kind: Literal["package", "git"] = "package"
    if isinstance(value, dict) and "kind" in value:
        kind = fields.choice("kind", ("git", "package"))
    names = ("repository", "commit") if kind == "git" else ("name", "version")
    name, version = (fields.take(key, str) for key in names)
    if kind == "git" and not re.fullmatch("[0-9a-f]{40}", version):
        raise FieldError(f"{fields.path('commit')} must be 40 lower-case hexadecimal digits, not {version!r}")
    fields.finish()
    return kind, name, version


def _adjustment(value: object, path: str, source: Literal["package", "git"]) -> Adjustment:
    fields = Fields(value, path)
    kind: Kind = fields.choice("kind", KINDS)
    code, lazy = kind in ("replace", "wrap"), kind == "lazy_imports"
    result = Adjustment(
        name=fields.take("name", str),
        kind=kind,
        target=fields.take("target", str),
        intent=fields.take("intent", str),
        expect=_expect(fields.take("expect", dict), f"{path}.expect", source) if code else Expectation(),
        value=fields.take("value", str) if kind == "argument" else fields.take("value", str, ""),
        packages=fields.take("packages", dict) if lazy else {},
        owners=tuple(fields.take("owners", list)) if lazy else (),
    )
    fields.finish()
    return result


def _expect(value: object, path: str, source: Literal["package", "git"]) -> Expectation:
    """A package is pinned to the letter; of a git source at least its parameters are declared."""
    fields = Fields(value, path)
    exact = ("signature", "source_sha256")
    signature, source_sha256 = (
        fields.take(key, str) if source == "package" else fields.take(key, str, "") or None for key in exact
    )
    parameters = fields.take("parameters", list) if source == "git" else []
    names = fields.take("names", list, []) if source == "git" else []
    fields.finish()
    return Expectation(signature, source_sha256, tuple(parameters), tuple(names))
