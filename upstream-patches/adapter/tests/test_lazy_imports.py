"""The shim on a throw-away package, in a process of its own since it replaces `__import__`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fakes import SOURCE

OWNER = """
from typing import Optional, Union
import heavy as h
import heavy.inner
import absent_module as absent
from heavy import Thing, nothing_before_use
from heavy.inner import deep
Either = Union[h.Thing, absent.Frame, str]

def annotated(thing: Optional[h.Thing], frame: absent.Frame) -> Either: ...
def make(): return Thing(3)
def is_thing(value): return isinstance(value, (int, h.Thing))
def subclass():
    class Special(Thing): pass
    return Special
def walk(): return deep.value + heavy.inner.deep.value
def supplied():
    from absent_module.errors import Oops
    return Oops
def swallow():
    try:
        return absent.read()
    except Exception:
        return 0
def swallow_broken():
    try:
        import broken
        return broken.read()
    except Exception:
        return 0
def swallow_late():
    try:
        from absent_late import read
        return read()
    except Exception:
        return 0
"""
HEAVY = """
class Thing:
    def __init__(self, size): self.size = size
nothing_before_use = [1, 2]
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name, text in {
        "owner/__init__.py": OWNER,
        "heavy/__init__.py": HEAVY,
        "heavy/inner.py": "class deep: value = 4",
        "library/__init__.py": "import heavy\nreal = heavy.Thing",
        "broken/__init__.py": "raise OSError('a shared library is missing')",
    }.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return tmp_path


def evaluate(folder: Path, expression: str) -> Any:
    program = f"""
import json, sys
from osworld_adapter.lazy_imports import LazyImports
from types import SimpleNamespace
given = {{"absent_module.errors": SimpleNamespace(Oops="supplied")}}
lazy = LazyImports({{"heavy": "Heavy-Pip", "absent_module": "Absent-Pip"}}, ["owner"], given, "agent")
with lazy.importing():
    import owner
print(json.dumps({expression}))
"""
    command = [sys.executable, "-c", program]
    result = subprocess.run(
        command, cwd=folder, env={"PYTHONPATH": f"{SOURCE}:{folder}"}, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


BOTH = "[list(owner.nothing_before_use), 2 in owner.nothing_before_use]"
PROBED = "[len(__import__('inspect').signature(owner.annotated).parameters), lazy.loaded]"
ABSENT = "[owner.swallow(), lazy.missing]"
CASES: list[tuple[str, str, Any]] = [
    ("nothing lazy is imported with its owner", "['heavy' in sys.modules, lazy.loaded, lazy.missing]", [False, [], []]),
    ("the first call imports the real package", "[owner.make().size, lazy.loaded]", [3, ["heavy"]]),
    ("isinstance knows the real class", "[owner.is_thing(owner.make()), owner.is_thing('x')]", [True, False]),
    ("a subclass is one of the real class", "owner.subclass()(5).size", 5),
    ("iteration and containment reach the object", BOTH, [[1, 2], True]),
    ("names below a submodule resolve", "owner.walk()", 8),
    ("an absent package that a function swallows is recorded", ABSENT, [0, ["absent_module"]]),
    ("so is one that a function imports itself", "[owner.swallow_late(), lazy.missing]", [0, ["absent_late"]]),
    ("and one that fails otherwise than by ImportError", "[owner.swallow_broken(), lazy.missing]", [0, ["broken"]]),
    ("other libraries get the real module", "__import__('library').real.__name__", "Thing"),
    (
        "a module that is supplied takes the place of an absent one",
        "[owner.supplied(), lazy.missing]",
        ["supplied", []],
    ),
    ("probing by typing and inspect loads nothing", PROBED, [2, []]),
]


@pytest.mark.parametrize(("expression", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_lazy_imports(package: Path, expression: str, expected: Any) -> None:
    assert evaluate(package, expression) == expected


def test_the_error_names_the_package_to_install(package: Path) -> None:
    message = (
        "[str(error) for error in [__import__('pytest').raises(ImportError, lambda: owner.absent.read()).value]][0]"
    )
    said = evaluate(package, message)
    assert said.startswith("the agent needs absent_module and it cannot be imported (")
    assert said.endswith("): pip install Absent-Pip")
