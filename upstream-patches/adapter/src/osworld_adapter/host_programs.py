"""Which programs of this machine upstream wanted to start and that are not there."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable
from types import FrameType
from typing import Any

_STARTERS = {"subprocess", "asyncio", "osworld_adapter"}


class HostPrograms:
    """An audit hook: evaluators swallow the error of a missing program and answer 0, as with packages."""

    def __init__(self, owners: Iterable[str]) -> None:
        self._owners = frozenset(owners)
        self._missing: set[str] = set()

    @property
    def missing(self) -> list[str]:
        return sorted(self._missing)

    def install(self) -> None:
        """For the rest of the process, since an audit hook cannot be taken away."""
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event != "subprocess.Popen":
            return
        executable, words = arguments[0], arguments[1]
        name = executable or (words if isinstance(words, str | os.PathLike) else words[0])
        if starter(sys._getframe(1)) in self._owners and shutil.which(os.fspath(name)) is None:
            self._missing.add(os.fsdecode(name))


def starter(frame: FrameType | None) -> str:
    """The top-level package that starts the program: a library's own probing for tools is not upstream's."""
    while frame is not None:
        top = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        if top not in _STARTERS:
            return top
        frame = frame.f_back
    return ""
