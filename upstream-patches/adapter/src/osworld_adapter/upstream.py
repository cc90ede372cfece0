"""Imports DesktopEnv as a profile declares it, without the surroundings leaking in."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import time
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from osworld_adapter.adjustments import (
    AdjustmentSet,
    Implementation,
    apply_adjustments,
    check_distribution,
    load_adjustments,
)
from osworld_adapter.dotenv_files import ignore_dotenv_files
from osworld_adapter.lazy_imports import LazyImports
from osworld_adapter.outcome import AttemptError

MODULE = "desktop_env.desktop_env"


@dataclass(frozen=True)
class Upstream:
    """The imported module, the record of lazy packages, and how long the import took."""

    module: Any
    lazy: LazyImports
    adjustments: AdjustmentSet
    import_seconds: float

    def identity(self) -> dict[str, str]:
        return {"name": self.adjustments.distribution, "version": self.adjustments.version}


def prepare_process(
    folder: Path, environment: MutableMapping[str, str], enable_proxy: bool, proxy_file: Path | None = None
) -> None:
    """Keeps `.env` files, other people's proxy lists and an HTTP proxy away from the import and the guest calls.

    Upstream reads `proxy_file` while it is imported, and only when the proxy is enabled.
    """
    environment["PYTHON_DOTENV_DISABLED"] = "1"  # For what the attempt starts.
    ignore_dotenv_files()
    local = "127.0.0.1,localhost"
    for name in ("NO_PROXY", "no_proxy"):
        environment[name] = f"{environment[name]},{local}" if environment.get(name) else local
    if enable_proxy and proxy_file is not None:
        environment["PROXY_CONFIG_FILE"] = str(proxy_file)
    else:
        proxies = folder / "proxies.json"
        proxies.write_text(json.dumps([]) + "\n", encoding="utf-8")
        environment["PROXY_CONFIG_FILE"] = str(proxies)
    os.chdir(folder)


def import_upstream(profile_dir: Path) -> Upstream:
    """DesktopEnv's module with lazy packages; AttemptError when the interpreter does not fit the profile."""
    adjustments = load_adjustments(profile_dir / "adjustments.json")
    check_distribution(adjustments)
    declared = adjustments.lazy()
    lazy = LazyImports(declared.packages, declared.owners)
    started = time.monotonic()
    try:
        with lazy.importing():
            module = importlib.import_module(MODULE)
    except ImportError as error:
        lazy.remove()
        raise AttemptError("runner_exit", f"{MODULE} cannot be imported: {error}") from error
    return Upstream(module, lazy, adjustments, time.monotonic() - started)


def adjust(upstream: Upstream, implementations: Mapping[str, Implementation]) -> None:
    """Applies the declared adjustments; each target is checked first."""
    apply_adjustments(upstream.adjustments, implementations)


def refuse_missing_packages(upstream: Upstream) -> None:
    """Throws the score away when an import failed, since upstream's metrics swallow that and answer 0."""
    if upstream.lazy.missing:
        pip = " ".join(upstream.lazy.pip_name(name) for name in upstream.lazy.missing)
        raise AttemptError(
            "evaluator_error",
            f"{', '.join(upstream.lazy.missing)} could not be imported while evaluating, so there is no score: "
            f"pip install {pip}",
        )


def memory_mib() -> float:
    """Resident memory of this process in MiB; 0 where /proc is absent."""
    with contextlib.suppress(OSError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    return 0.0
