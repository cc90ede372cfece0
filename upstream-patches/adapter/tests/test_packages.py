from __future__ import annotations

from typing import Any

import pytest

from fakes import PROFILE
from osworld_adapter.fields import FieldError
from osworld_adapter.outcome import AttemptError
from osworld_adapter.packages import check_task, load_package_needs, task_functions, wanted_packages

NEEDS = load_package_needs(PROFILE / "packages.json")


def wanted(evaluator: dict[str, Any], **task: Any) -> set[str]:
    return set(wanted_packages(task_functions({"evaluator": evaluator, **task}), NEEDS)) - set(NEEDS.always)


@pytest.mark.parametrize(
    ("evaluator", "packages"),
    [
        ({"func": "exact_match", "result": {"type": "vm_command_line"}}, set()),
        ({"func": "infeasible"}, set()),
        ({"func": "compare_docx_files"}, {"docx", "odf", "rapidfuzz"}),
        ({"func": "compare_table", "options": {"rules": [{"type": "freeze"}]}}, {"openpyxl", "pandas"}),
        (
            {"func": "compare_table", "options": {"rules": [{"type": "sheet_data"}, {"type": "style"}]}},
            {"formulas", "openpyxl", "pandas", "xmltodict"},
        ),
        ({"func": ["exact_match", "check_pdf_pages"], "options": [None, {}]}, {"pypdf"}),
        ({"func": "exact_match", "expected": {"type": "rule_relativeTime"}}, {"pytz"}),
        ({"func": ["exact_match"], "result": [{"type": "googledrive_file"}], "expected": [None]}, {"pydrive"}),
        ({"func": "compare_archive"}, set()),
        ({"func": "compare_archive", "options": {"file_type": "pdf"}}, {"fitz", "rapidfuzz"}),
        ({"func": "exact_match", "postconfig": [{"type": "googledrive"}]}, {"pydrive"}),
    ],
)
def test_a_task_needs_what_its_functions_may_use(evaluator: dict[str, Any], packages: set[str]) -> None:
    assert wanted(evaluator) == packages


def test_set_up_steps_count_as_well() -> None:
    assert wanted({"func": "exact_match"}, config=[{"type": "googledrive"}]) == {"pydrive"}


def test_the_refusal_names_every_absent_package_and_how_to_get_it() -> None:
    functions = task_functions({"evaluator": {"func": "compare_docx_files"}})
    with pytest.raises(AttemptError, match="needs docx, odf, not installed: pip install python-docx odf") as refusal:
        check_task(functions, NEEDS, {"docx": "python-docx"}, lambda name: name not in ("docx", "odf"))
    assert refusal.value.reason == "evaluator_error"


def test_a_task_whose_packages_are_there_passes() -> None:
    check_task(task_functions({"evaluator": {"func": "compare_docx_files"}}), NEEDS, {}, lambda _: True)


def test_a_task_without_an_evaluator_is_refused() -> None:
    with pytest.raises(FieldError, match=r"task\.evaluator\.func is missing"):
        task_functions({"config": []})
