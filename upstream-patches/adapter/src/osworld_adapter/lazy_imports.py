"""Lazy third-party imports for a package that imports far more at start than one task needs.

Stand-ins never enter `sys.modules`, so libraries that import the same names get the real modules.
"""

from __future__ import annotations

import builtins
import importlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from osworld_adapter.stand_in import Source, StandIn


class LazyImports:
    """Replaces `__import__` for modules of `owners`, and records what was loaded and what was absent.

    The hook stays after the import phase, because upstream's functions import packages of their own and swallow the
    error: an absent package would become a score of 0. `supplied` are modules that are given in the place of absent
    ones, to the owners alone; `user` is who needs the packages, for messages.
    """

    def __init__(
        self,
        packages: Mapping[str, str],
        owners: Sequence[str],
        supplied: Mapping[str, ModuleType] | None = None,
        user: str = "evaluator",
    ) -> None:
        self._packages = packages
        self._owners = frozenset(owners)
        self._supplied = supplied or {}
        self._user = user
        self._importing = False
        self._original = builtins.__import__
        self._source = Source(self._resolve, lambda: self._importing)
        self._loaded: set[str] = set()
        self._missing: set[str] = set()

    @property
    def loaded(self) -> list[str]:
        """Import names of the lazy packages that were really used."""
        return sorted(self._loaded)

    @property
    def missing(self) -> list[str]:
        """Import names that the owners asked for and that could not be imported."""
        return sorted(self._missing)

    def pip_name(self, import_name: str) -> str:
        return self._packages.get(import_name, import_name)

    @contextmanager
    def importing(self) -> Iterator[None]:
        """Inside, the owners' imports of lazy packages give stand-ins; the recording hook is installed for good."""
        builtins.__import__ = self._import
        self._importing = True
        try:
            yield
        finally:
            self._importing = False

    def remove(self) -> None:
        """Puts the original `__import__` back."""
        builtins.__import__ = self._original

    def _import(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        top = name.partition(".")[0]
        owner = str((globals or {}).get("__name__") or "").partition(".")[0]
        if fromlist and not level and owner in self._owners and name in self._supplied:
            return self._supplied[name]
        if level or owner not in self._owners or top in self._owners:
            return self._original(name, globals, locals, fromlist or (), level)
        if self._importing and top in self._packages:
            return StandIn(self._source, name if fromlist else top)
        return self._record(top, lambda: self._original(name, globals, locals, fromlist or (), level))

    def _resolve(self, module: str, attributes: tuple[str, ...]) -> Any:
        found = self._record(module.partition(".")[0], lambda: importlib.import_module(module))
        path = module
        for attribute in attributes:
            path = f"{path}.{attribute}"
            if not hasattr(found, attribute):
                self._record(module.partition(".")[0], lambda path=path: importlib.import_module(path))
            found = getattr(found, attribute)
        return found

    def _record(self, top: str, load: Any) -> Any:
        try:
            module = load()
        except Exception as error:
            # Not only ImportError: a package may also fail over a shared library or a folder that it cannot write.
            self._missing.add(top)
            pip = f"pip install {self.pip_name(top)}"
            message = f"the {self._user} needs {top} and it cannot be imported ({error}): {pip}"
            raise ImportError(message, name=top) from error
        if top in self._packages:
            self._loaded.add(top)
        return module
