"""The environment that programs of the desktop need, completed where the starter left it out."""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from pathlib import Path


def complete_environment(environment: MutableMapping[str, str], user_id: int, package_folder: Path) -> None:
    """Adds the display and the session bus where missing, and takes our own folder out of PYTHONPATH.

    Every command that the server runs inherits the result; the user's Python must not find the server's package.
    """
    environment.setdefault("DISPLAY", ":0")
    runtime = environment.setdefault("XDG_RUNTIME_DIR", f"/run/user/{user_id}")
    environment.setdefault("DBUS_SESSION_BUS_ADDRESS", f"unix:path={runtime}/bus")
    kept = [entry for entry in environment.get("PYTHONPATH", "").split(os.pathsep) if entry]
    kept = [entry for entry in kept if Path(entry).resolve() != package_folder.resolve()]
    environment.pop("PYTHONPATH", None)
    if kept:
        environment["PYTHONPATH"] = os.pathsep.join(kept)
