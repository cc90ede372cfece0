"""`python -m osworld_adapter.inspect --profile-dir DIR`: does this interpreter fit the profile? One JSON object."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from pathlib import Path
from typing import Any

from osworld_adapter.adjustments import mismatch
from osworld_adapter.fields import FieldError
from osworld_adapter.outcome import AttemptError
from osworld_adapter.packages import load_package_needs
from osworld_adapter.upstream import Upstream, import_upstream, memory_mib, prepare_process


def main(arguments: list[str] | None = None) -> int:
    """0 when everything fits; 1 otherwise, with the failed checks in the JSON or the reason on standard error."""
    parser = argparse.ArgumentParser(prog="osworld_adapter.inspect")
    parser.add_argument("--profile-dir", type=Path, required=True)
    profile_dir: Path = parser.parse_args(arguments).profile_dir.resolve()
    try:
        with tempfile.TemporaryDirectory(prefix="osworld-inspect-") as scratch:
            here = Path.cwd()
            prepare_process(Path(scratch), os.environ, enable_proxy=False)
            upstream = import_upstream(profile_dir)
            os.chdir(here)
        report = describe(upstream, profile_dir)
    except (AttemptError, FieldError) as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps(report, indent=2, sort_keys=True))
    return 0 if not report["heavy_packages_loaded"] and all(check["ok"] for check in report["adjustments"]) else 1


def describe(upstream: Upstream, profile_dir: Path) -> dict[str, Any]:
    """Figures of the import and the result of every adjustment's check."""
    always = load_package_needs(profile_dir / "packages.json").always
    lazy = upstream.adjustments.lazy().packages
    checks = [(adjustment, mismatch(adjustment)) for adjustment in upstream.adjustments.replaced()]
    return {
        "adjustments": [
            {"name": adjustment.name, "target": adjustment.target, "ok": reason is None, "message": reason}
            for adjustment, reason in checks
        ],
        "adjustments_digest": upstream.adjustments.digest,
        "heavy_packages_loaded": sorted(name for name in lazy if name in sys.modules and name not in always),
        "import_seconds": round(upstream.import_seconds, 3),
        "loaded_modules": len(sys.modules),
        "python": platform.python_version(),
        "rss_mib": round(memory_mib(), 1),
        "upstream": upstream.identity(),
    }


if __name__ == "__main__":
    raise SystemExit(main())
