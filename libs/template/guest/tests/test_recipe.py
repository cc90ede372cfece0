"""The recipe's data against the files that it names."""

from __future__ import annotations

import json
from pathlib import Path

GUEST = Path(__file__).parent.parent
ROOTFS = GUEST / "rootfs"
RECIPE = json.loads((GUEST.parent / "recipe/debian-12.json").read_text())


def test_every_program_that_a_step_or_the_start_names_is_a_script_of_the_root_folder() -> None:
    commands = [*(step["run"] for step in RECIPE["steps"]), RECIPE["start_command"], RECIPE["ready_command"]]
    for command in commands:
        program = next(word for word in command.split() if word.startswith("/"))
        file = ROOTFS / program.removeprefix("/opt/osworld/rootfs").lstrip("/")
        assert file.read_bytes().startswith(b"#!"), command


def test_packages_are_sorted_and_named_once() -> None:
    packages = RECIPE["base"]["packages"]
    assert packages == sorted(set(packages))


def test_every_python_package_is_pinned_by_version_and_hash() -> None:
    lines = (ROOTFS / "opt/osworld/build/requirements.txt").read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert pins
    assert all("==" in pin and " --hash=sha256:" in pin for pin in pins)
