"""Commands and scripts, run by a real server."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from client import ask, post_json, wait_until
from conftest import Guest
from osworld_guest.processes import LimitReached, Run, run


@pytest.mark.parametrize("path", ["/execute", "/setup/execute"])
def test_a_list_is_run_without_a_shell(guest: Guest, path: str) -> None:
    status, answer = post_json(guest.port, path, {"command": ["echo", "$HOME", 7], "shell": False})
    assert (status, answer) == (200, {"status": "success", "output": "$HOME 7\n", "error": "", "returncode": 0})


def test_a_text_with_shell_is_run_by_the_shell(guest: Guest) -> None:
    command = "echo out; echo err >&2; exit 3"
    status, answer = post_json(guest.port, "/execute", {"command": command, "shell": True})
    assert (status, answer) == (200, {"status": "success", "output": "out\n", "error": "err\n", "returncode": 3})


def test_a_text_without_shell_is_split_into_words(guest: Guest) -> None:
    assert post_json(guest.port, "/execute", {"command": "printf %s 'a b'"})[1]["output"] == "a b"


def test_a_leading_tilde_of_a_list_argument_is_the_home_folder(guest: Guest) -> None:
    answer = post_json(guest.port, "/execute", {"command": ["echo", "~/Desktop", "~", "a~/b", "~root"]})[1]
    assert answer["output"] == f"{guest.home}/Desktop {guest.home} a~/b ~root\n"


def test_commands_run_in_the_home_folder(guest: Guest) -> None:
    assert post_json(guest.port, "/execute", {"command": ["pwd"]})[1]["output"] == f"{guest.home}\n"


def test_output_that_is_no_text_is_replaced(guest: Guest) -> None:
    answer = post_json(guest.port, "/execute", {"command": r"printf 'a\377b'", "shell": True})[1]
    assert answer["output"] == "a\ufffdb"


def test_a_program_that_does_not_exist_is_an_error(guest: Guest) -> None:
    status, answer = post_json(guest.port, "/execute", {"command": ["no-such-program"]})
    assert status == 500
    assert answer["message"] == "The command 'no-such-program' cannot be started: No such file or directory."


def test_a_program_left_in_the_background_does_not_hold_the_answer(guest: Guest) -> None:
    command = "sleep 300 & echo $!"
    answer = post_json(guest.port, "/execute", {"command": command, "shell": True})[1]
    pid = int(answer["output"])
    assert _is_running(pid)
    os.kill(pid, 9)


def test_children_inherit_no_descriptor_of_the_server(guest: Guest) -> None:
    answer = post_json(guest.port, "/execute", {"command": "ls -l /proc/self/fd", "shell": True})[1]
    assert "socket" not in answer["output"]


def test_the_package_is_hidden_from_the_programs_of_the_user(guest: Guest) -> None:
    answer = post_json(guest.port, "/execute", {"command": "echo [$PYTHONPATH]", "shell": True})[1]
    assert answer["output"] == "[]\n"


def test_a_command_over_its_limit_is_killed_with_all_its_children(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    command = f"echo begun; (sleep 300 & echo $! > {pid_file}; wait)"
    with pytest.raises(LimitReached) as stopped:
        run(command, Run(0.5, shell=True))
    assert stopped.value.finished.output == "begun\n"
    wait_until(lambda: not _is_running(int(pid_file.read_text())))


def test_a_command_may_write_more_than_a_pipe_holds(guest: Guest) -> None:
    command = "head -c 3000000 /dev/zero | tr '\\0' x"
    answer = post_json(guest.port, "/execute", {"command": command, "shell": True})[1]
    assert len(answer["output"]) == 3_000_000


def test_launch_answers_at_once_and_leaves_no_zombie(guest: Guest) -> None:
    pid_file = guest.home / "launched"
    command = f"echo $$ > {pid_file}; exec sleep 0.2"
    status, content = post_json(guest.port, "/setup/launch", {"command": command, "shell": True})
    assert (status, content.endswith("launched successfully")) == (200, True)
    wait_until(lambda: pid_file.exists() and pid_file.read_text().strip() != "")
    pid = int(pid_file.read_text())
    wait_until(lambda: not Path(f"/proc/{pid}").exists())


def test_launch_of_a_missing_application_is_an_error(guest: Guest) -> None:
    assert post_json(guest.port, "/setup/launch", {"command": ["no-such-program"]})[0] == 500


def test_verification_waits_for_a_command_to_succeed(guest: Guest) -> None:
    flag = guest.home / "flag"
    fields = {
        "command": f"(sleep 0.4; touch {flag}) >/dev/null 2>&1 &",
        "shell": True,
        "verification": {"command_success": f"test -e {flag}"},
        "max_wait_time": 10,
        "check_interval": 0.1,
    }
    status, answer = post_json(guest.port, "/setup/execute_with_verification", fields)
    assert (status, answer["status"], answer["returncode"]) == (200, "success", 0)
    assert answer["verification"] == {"command_success": True}


def test_verification_that_never_holds_is_an_error_with_the_output(guest: Guest) -> None:
    fields = {
        "command": ["echo", "done"],
        "verification": {"command_success": "false", "window_exists": "Nothing"},
        "max_wait_time": 0.2,
    }
    status, answer = post_json(guest.port, "/execute_with_verification", fields)
    assert (status, answer["status"], answer["output"]) == (500, "error", "done\n")
    assert answer["message"] == "Not verified within 0.2 seconds: window_exists, command_success."


def test_a_bash_script_runs_in_its_folder(guest: Guest) -> None:
    (guest.home / "inner").mkdir()
    script = "x=(a b)\necho ${x[1]} $PWD\necho problem >&2\n"
    fields = {"script": script, "timeout": 30, "working_dir": "~/inner"}
    status, answer = post_json(guest.port, "/run_bash_script", fields)
    assert (status, answer["status"], answer["returncode"]) == (200, "success", 0)
    assert answer["output"] == f"b {guest.home}/inner\nproblem\n"


def test_a_bash_script_without_a_folder_may_say_null(guest: Guest) -> None:
    fields = {"script": "exit 4", "timeout": 30, "working_dir": None}
    status, answer = post_json(guest.port, "/run_bash_script", fields)
    assert (status, answer["status"], answer["returncode"]) == (200, "error", 4)
    assert answer["error"] == "The script ended with return code 4."


def test_a_bash_script_over_its_limit_is_stopped_and_not_to_be_repeated(guest: Guest) -> None:
    started = time.monotonic()
    status, answer = post_json(guest.port, "/run_bash_script", {"script": "echo a; sleep 300", "timeout": 0.5})
    assert (status, answer["status"], answer["returncode"], answer["output"]) == (200, "error", -1, "a\n")
    assert answer["error"] == "The command did not end within 0.5 seconds and was stopped."
    assert time.monotonic() - started < 100


def test_a_bash_script_in_a_missing_folder_is_refused(guest: Guest) -> None:
    fields = {"script": "true", "working_dir": "/no/such/folder"}
    assert post_json(guest.port, "/run_bash_script", fields)[0] == 400


def test_python_code_is_run(guest: Guest) -> None:
    status, answer = post_json(guest.port, "/run_python", {"code": "print('äö', 1 + 1)"})
    assert (status, answer["status"], answer["output"], answer["message"]) == (200, "success", "äö 2\n", "äö 2\n")


def test_python_code_that_fails_shows_its_traceback(guest: Guest) -> None:
    status, answer = post_json(guest.port, "/run_python", {"code": "print('before')\n1/0"})
    assert (status, answer["status"], answer["returncode"]) == (200, "error", 1)
    assert answer["output"].startswith("before\n")
    assert "ZeroDivisionError" in answer["error"]


def test_a_client_that_leaves_does_not_disturb_the_server(guest: Guest) -> None:
    client = subprocess.run(
        ["bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{guest.port}; printf 'POST /execute HTTP/1.1\\r\\nContent-Le' >&3"],
        check=True,
    )
    assert client.returncode == 0
    assert ask(guest.port, "GET", "/platform")[0] == 200


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False
