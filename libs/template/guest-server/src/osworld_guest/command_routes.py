"""The routes that run commands and scripts."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from osworld_guest.errors import GuestError
from osworld_guest.fields import Fields, command_field, flag_field, seconds_field, text_field, user_path
from osworld_guest.messages import Answer, Request, json_answer, text_answer
from osworld_guest.processes import Finished, LimitReached, Run, launch, run
from osworld_guest.windows import window_exists

COMMAND_LIMIT_SECONDS = 120.0
PYTHON_LIMIT_SECONDS = 30.0
BASH_LIMIT_SECONDS = 30.0
_SYSTEM_PYTHON = "/usr/bin/python3"


def execute(request: Request) -> Answer:
    """Runs `command` to its end; 500 when it cannot start or its time is over, whatever its return code otherwise."""
    return json_answer(_shown(_run_command(request.json_object())))


def execute_with_verification(request: Request) -> Answer:
    """Runs `command`, then waits until all of `verification` holds; 500 when it does not within `max_wait_time`."""
    fields = request.json_object()
    checks = _verification_checks(fields)
    max_wait_seconds = seconds_field(fields, "max_wait_time", 10)
    interval_seconds = max(0.05, seconds_field(fields, "check_interval", 1))
    shown = _shown(_run_command(fields))
    started = time.monotonic()
    while True:
        results = {name: check() for name, check in checks.items()}
        waited = time.monotonic() - started
        shown.update(verification=results, wait_time=round(waited, 3))
        if all(results.values()):
            return json_answer(shown)
        if waited >= max_wait_seconds:
            failed = ", ".join(name for name, held in results.items() if not held)
            shown.pop("status"), shown.pop("error")
            raise GuestError(500, f"Not verified within {max_wait_seconds:g} seconds: {failed}.", **shown)
        time.sleep(min(interval_seconds, max_wait_seconds - waited))


def launch_application(request: Request) -> Answer:
    """Starts `command` and does not wait for it."""
    fields = request.json_object()
    command = command_field(fields)
    launch(command, flag_field(fields, "shell"))
    shown = command if isinstance(command, str) else " ".join(command)
    return text_answer(f"{shown} launched successfully")


def run_python(request: Request) -> Answer:
    """Runs `code` with the system's Python; a script that fails is an answer with status 200 and `status` error."""
    code = text_field(request.json_object(), "code")
    interpreter = _SYSTEM_PYTHON if Path(_SYSTEM_PYTHON).exists() else sys.executable
    return _run_script([interpreter], code, Run(PYTHON_LIMIT_SECONDS, merge_streams=True))


def run_bash_script(request: Request) -> Answer:
    """Runs `script` with bash in `working_dir` for at most `timeout` seconds; answers as `run_python` does."""
    fields = request.json_object()
    script = text_field(fields, "script")
    limit_seconds = seconds_field(fields, "timeout", BASH_LIMIT_SECONDS)
    folder = None
    if fields.get("working_dir") is not None:
        folder = user_path(text_field(fields, "working_dir"))
        if not folder.is_dir():
            raise GuestError(400, f"The working folder {str(folder)!r} does not exist.")
    return _run_script(["bash"], script, Run(limit_seconds, merge_streams=True, folder=folder))


def _run_command(fields: Fields) -> Finished:
    command = command_field(fields)
    try:
        return run(command, Run(COMMAND_LIMIT_SECONDS, shell=flag_field(fields, "shell")))
    except LimitReached as reached:
        written = {"output": reached.finished.output, "returncode": -1}
        raise GuestError(500, str(reached), **written) from reached


def _shown(finished: Finished) -> dict[str, Any]:
    return {
        "status": "success",
        "output": finished.output,
        "error": finished.error,
        "returncode": finished.returncode,
    }


def _run_script(interpreter: list[str], text: str, how: Run) -> Answer:
    """A client repeats a script whose answer is not 200, so a failed or stopped script is a 200 that says so."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", errors="surrogatepass", prefix="script-") as file:
        file.write(text)
        file.flush()
        try:
            finished, problem = run([*interpreter, file.name], how), ""
        except LimitReached as reached:
            finished, problem = reached.finished, str(reached)
    if finished.returncode != 0 and not problem:
        problem = finished.output or f"The script ended with return code {finished.returncode}."
    return json_answer(
        {
            "status": "error" if problem else "success",
            "message": finished.output,
            "output": finished.output,
            "error": problem,
            "returncode": finished.returncode,
            "return_code": finished.returncode,
            "need_more": False,
        }
    )


def _verification_checks(fields: Fields) -> dict[str, Callable[[], bool]]:
    wanted = fields.get("verification") or {}
    if not isinstance(wanted, dict):
        raise GuestError(400, "The field 'verification' must be an object.")
    if unknown := set(wanted) - {"window_exists", "command_success"}:
        raise GuestError(400, f"The verification {sorted(unknown)[0]!r} is not known.")
    checks: dict[str, Callable[[], bool]] = {}
    if "window_exists" in wanted:
        title = text_field(wanted, "window_exists")
        checks["window_exists"] = lambda: window_exists(title)
    if "command_success" in wanted:
        command = command_field(wanted, "command_success")
        checks["command_success"] = lambda: _succeeds(command)
    return checks


def _succeeds(command: str | list[str]) -> bool:
    try:
        return run(command, Run(5, shell=isinstance(command, str))).returncode == 0
    except (LimitReached, GuestError):
        return False
