"""What the import of upstream's real package costs, and what a missing evaluator package does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fakes import PROFILE, SOURCE

pytestmark = pytest.mark.upstream
HEAVY = {
    "PIL",
    "PyPDF2",
    "acoustid",
    "borb",
    "bs4",
    "cv2",
    "docx",
    "easyocr",
    "fastdtw",
    "fitz",
    "formulas",
    "imagehash",
    "librosa",
    "matplotlib",
    "mutagen",
    "odf",
    "openpyxl",
    "pandas",
    "pdfplumber",
    "pptx",
    "pydrive",
    "pypdf",
    "pytz",
    "rapidfuzz",
    "scipy",
    "skimage",
    "tldextract",
    "torch",
    "xmltodict",
    "yaml",
}


def python(program: str, folder: Path) -> str:
    command = [sys.executable, "-c", program, str(PROFILE)]
    result = subprocess.run(command, cwd=folder, env={"PYTHONPATH": str(SOURCE)}, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_importing_DesktopEnv_loads_no_heavy_package(tmp_path: Path) -> None:  # noqa: N802
    program = """
import json, sys
from pathlib import Path
from osworld_adapter.upstream import import_upstream
upstream = import_upstream(Path(sys.argv[1]))
print(json.dumps([sorted(sys.modules), upstream.module.DesktopEnv.__name__, upstream.lazy.missing]))
"""
    modules, name, missing = json.loads(python(program, tmp_path).splitlines()[-1])
    assert name == "DesktopEnv"
    assert missing == []
    assert HEAVY & set(modules) == set()


def test_a_metric_that_swallows_the_missing_package_gives_no_score(tmp_path: Path) -> None:
    program = """
import json, sys
from pathlib import Path
from osworld_adapter.upstream import refuse_missing_packages
from osworld_adapter.outcome import AttemptError
from osworld_adapter.upstream import import_upstream
upstream = import_upstream(Path(sys.argv[1]))
from desktop_env.evaluators import metrics
sys.modules["docx"] = None  # Python's own way of making an import fail.
for name in ("a.docx", "b.docx"):
    Path(name).write_bytes(b"")
upstream_answer = metrics.compare_docx_files("a.docx", "b.docx")
try:
    refuse_missing_packages(upstream)
    refused = None
except AttemptError as error:
    refused = [error.reason, error.message]
print()
print(json.dumps([upstream_answer, upstream.lazy.missing, refused]))
"""
    answer, missing, refused = json.loads(python(program, tmp_path).splitlines()[-1])
    assert answer == 0
    assert "docx" in missing
    assert refused[0] == "evaluator_error"
    assert "python-docx" in refused[1]


def test_inspect_says_that_the_interpreter_fits_the_profile(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "osworld_adapter.inspect", "--profile-dir", str(PROFILE)]
    result = subprocess.run(command, cwd=tmp_path, env={"PYTHONPATH": str(SOURCE)}, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert report["heavy_packages_loaded"] == []
    assert [check["ok"] for check in report["adjustments"]] == [True] * 4
    assert 0 < report["rss_mib"] < 100
    assert report["upstream"] == {"name": "desktop-env", "version": "1.0.2"}


def test_packages_json_lists_exactly_the_functions_of_this_source(tmp_path: Path) -> None:
    program = """
import inspect, json, sys
from pathlib import Path
from osworld_adapter.packages import load_package_needs
from osworld_adapter.upstream import import_upstream
profile = Path(sys.argv[1])
upstream = import_upstream(profile)
from desktop_env.controllers.setup import SetupController
from desktop_env.evaluators import getters, metrics
needs = load_package_needs(profile / "packages.json")
functions = lambda owner: {name for name, value in vars(owner).items() if inspect.isfunction(value)}
steps = {name[1:-6] for name in functions(SetupController) if name.startswith("_") and name.endswith("_setup")}
found = [functions(metrics), {name.removeprefix("get_") for name in functions(getters)}, steps]
listed = [set(needs.metrics), set(needs.getters), set(needs.setup_steps)]
print(json.dumps([sorted(a ^ b) for a, b in zip(found, listed)]))
"""
    assert json.loads(python(program, tmp_path).splitlines()[-1]) == [[], [], []]
