"""Which programs count as missing, in a process of its own since an audit hook stays for good."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from fakes import SOURCE

START = """
import asyncio, subprocess
def swallow(name):
    try:
        subprocess.run([name], check=False)
    except Exception:
        return 0
async def begin(name):
    await asyncio.create_subprocess_exec(name)
def swallow_async(name):
    try:
        asyncio.run(begin(name))
    except Exception:
        return 0
def text(name):
    subprocess.run(name + " 2> /dev/null", shell=True)
"""
CASES = [
    ("owner.swallow('no-such-program')", ["no-such-program"]),
    ("owner.swallow_async('/no/such/driver')", ["/no/such/driver"]),
    ("owner.swallow('true')", []),
    ("owner.text('no-such-program')", []),
    ("library.swallow('no-such-program')", []),
]


@pytest.mark.parametrize(("call", "missing"), CASES, ids=[call for call, _ in CASES])
def test_a_program_that_an_owner_cannot_start_is_missing(tmp_path: Path, call: str, missing: list[str]) -> None:
    for name in ("owner", "library"):
        (tmp_path / f"{name}.py").write_text(START)
    program = f"""
import json, owner, library
from osworld_adapter.host_programs import HostPrograms
programs = HostPrograms(["owner"])
programs.install()
{call}
print(json.dumps(programs.missing))
"""
    environment = {"PYTHONPATH": f"{SOURCE}:{tmp_path}", "PATH": "/usr/bin:/bin"}
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert json.loads(result.stdout) == missing
