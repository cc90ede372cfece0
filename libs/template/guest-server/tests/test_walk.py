"""The walk over a real bus with applications of our own, in the system's Python, which has the bus library."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from lxml import etree

from conftest import SOURCES
from osworld_guest.accessibility.tree_xml import NAMESPACES

PYTHON = "/usr/bin/python3"
FAKE_DESKTOP = Path(__file__).with_name("fake_desktop.py")


def read(subject: str) -> str | None:
    if shutil.which("dbus-run-session") is None:
        pytest.skip("dbus-run-session is not installed on this machine")
    probe = "import gi; gi.require_version('Atspi', '2.0'); from gi.repository import Atspi"
    if subprocess.run([PYTHON, "-c", probe], check=False, capture_output=True).returncode != 0:
        pytest.skip("the system's Python has no AT-SPI library on this machine")
    child = [PYTHON, "-m", "osworld_guest.accessibility.child", subject]
    finished = subprocess.run(
        ["dbus-run-session", "--", PYTHON, str(FAKE_DESKTOP), *child],
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    )
    text: str | None = json.loads(finished.stdout)["text"]
    return text


def test_the_tree_has_the_sound_application_whole_beside_a_hung_and_a_vanished_one() -> None:
    tree = etree.fromstring(read("tree") or "")
    assert tree.xpath("/desktop-frame/application/@name") == ["gnome-terminal-server"]
    inside = tree.xpath("/desktop-frame/application/frame[@name='a window']/*")
    assert [element.tag for element in inside] == ["terminal"]
    terminal = tree.xpath("//terminal")[0]
    assert terminal.text == "text of /terminal\n"
    assert terminal.get(f"{{{NAMESPACES['attr']}}}id") == "terminal"
    assert terminal.get(f"{{{NAMESPACES['st']}}}focused") == "true"
    assert terminal.get(f"{{{NAMESPACES['cp']}}}screencoord") == "(1, 2)"


def test_the_terminal_is_read_without_waiting_for_other_applications() -> None:
    assert read("terminal") == "text of /terminal"
