from __future__ import annotations

import dataclasses
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from fakes import SOURCE
from osworld_adapter.evidence import Step
from osworld_adapter.outcome import AttemptError, Invalid, Valid
from osworld_adapter.proxy_redaction import (
    RedactedEvidence,
    RedactedStream,
    Redactor,
    mounted_secrets,
    redact_files,
    secrets_of,
)

SECRET = 'pä"ss\\word'
REDACTOR = Redactor([SECRET, "hush", "hush-hush", "abc"])


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (f"it is {SECRET}!", "it is [redacted]!"),
        (json.dumps({"a": SECRET}), '{"a": "[redacted]"}'),
        (repr([SECRET]), "['[redacted]']"),
        ("http://u:p%C3%A4%22ss%5Cword@h", "http://u:[redacted]@h"),
        ("hush-hush and hush", "[redacted] and [redacted]"),
        ("abc is too short to be a secret", "abc is too short to be a secret"),
    ],
)
def test_a_secret_is_found_in_every_way_of_writing_it(text: str, clean: str) -> None:
    assert REDACTOR.text(text) == clean


def test_outcomes_and_data_are_redacted_and_numbers_stay() -> None:
    assert REDACTOR.clean({"hush": ["hush", 1.5, None, ("hush",)]}) == {
        "[redacted]": ["[redacted]", 1.5, None, ["[redacted]"]]
    }
    assert REDACTOR.outcome(Invalid("setup_failed", "setup", "no hush")).to_message()["message"] == "no [redacted]"
    assert REDACTOR.outcome(Valid(1.0, {"a": "hush"})) == Valid(1.0, {"a": "[redacted]"})
    error = REDACTOR.error(AttemptError("guest_lost", "hush"))
    assert (error.reason, error.message) == ("guest_lost", "[redacted]")


def test_a_secret_that_is_a_number_leaves_documents_readable(tmp_path: Path) -> None:
    evidence = RedactedEvidence(tmp_path, Redactor(["2048"]))
    evidence.evaluation({"size": 120481, "said": "2048"})
    assert json.loads((tmp_path / "evaluator.json").read_text()) == {"said": "[redacted]", "size": 120481}
    step = Step(1, 1, "type 2048", "now", "I type 2048", 0.0, False, {"titles": ["2048"]}, "a", "b")
    evidence.step(step)
    kept = json.loads((tmp_path / "traj.jsonl").read_text())
    redacted = {"action": "type [redacted]", "response": "I type [redacted]", "info": {"titles": ["[redacted]"]}}
    assert kept == {**dataclasses.asdict(step), **redacted}


def test_a_secret_written_in_two_parts_is_found() -> None:
    file = io.StringIO()
    stream = RedactedStream(file, REDACTOR)
    stream.write("one\nhu")
    assert file.getvalue() == "one\n"
    stream.write("sh\n")
    stream.writelines(["hush", "!"])
    stream.flush()
    assert file.getvalue() == "one\n[redacted]\n[redacted]!"


PROGRAM = """
import logging, sys
from osworld_adapter.proxy_redaction import Redactor, redact_process
handler = logging.FileHandler(sys.argv[1])
handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
logging.getLogger().addHandler(handler)
redact_process(Redactor(["hu" + "sh"]))
try:
    raise ValueError("hu" + "sh")
except ValueError:
    logging.exception("said %s", "hu" + "sh")
later = logging.FileHandler(sys.argv[2])
logging.getLogger("of.its.own").addHandler(later)
logging.getLogger("of.its.own").error("later %s", "hu" + "sh")
print("hu" + "sh")
print("hu" + "sh", file=sys.stderr)
sys.stdout.flush()
"""


def test_logs_with_their_tracebacks_and_both_streams_are_redacted(tmp_path: Path) -> None:
    file = tmp_path / "a.log"
    later = tmp_path / "later.log"
    command = [sys.executable, "-c", PROGRAM, str(file), str(later)]
    result = subprocess.run(command, env={"PYTHONPATH": str(SOURCE)}, capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, "[redacted]\n", "[redacted]\n")
    assert file.read_text().startswith("ERROR said [redacted]\nTraceback")
    assert file.read_text().endswith("ValueError: [redacted]\nERROR later [redacted]\n")
    assert later.read_text() == "later [redacted]\n"


def test_files_that_others_wrote_are_cleaned_and_links_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "a.jsonl").write_text(json.dumps({"said": SECRET}) + "\n")
    (folder / "b.log").write_bytes(b"\xff hush \xfe")
    (folder / "c.png").write_bytes(b"hush")
    (tmp_path / "elsewhere.txt").write_text("hush")
    (folder / "link.txt").symlink_to(tmp_path / "elsewhere.txt")
    redact_files(folder, REDACTOR)
    assert (folder / "deep" / "a.jsonl").read_text() == '{"said": "[redacted]"}\n'
    assert (folder / "b.log").read_bytes() == b"\xff [redacted] \xfe"
    assert (folder / "c.png").read_bytes() == b"hush"
    assert (tmp_path / "elsewhere.txt").read_text() == "hush"
    assert sorted(file.name for file in folder.iterdir()) == ["b.log", "c.png", "deep", "link.txt"]


@pytest.mark.parametrize(
    ("content", "secrets"),
    [
        (
            '{"a": [{"client_secret": "s", "token_uri": "u", "access_token": "t", "id": "i"}], "private_key": "k\\nl"}',
            ["s", "t", "k\nl"],
        ),
        ("client_config:\n  client_id: i\n  client_secret: 's' # mine\n", ["s"]),
        ("no settings at all", []),
        (
            '{"apiKey": "a", "my-credentials": ["c"], "passphrase": "p", "token_type": "Bearer", "key_file": "f"}',
            ["a", "c", "p"],
        ),
        ("save_credentials: True\nsave_credentials_backend: file\nsave_credentials_file: a/b.json\n", ["True"]),
    ],
)
def test_secret_values_are_known_by_their_keys(tmp_path: Path, content: str, secrets: list[str]) -> None:
    file = tmp_path / "file"
    file.write_text(content)
    assert secrets_of(file) == secrets
    assert secrets_of(tmp_path / "absent") == []


@pytest.mark.parametrize(
    ("content", "secrets"),
    [
        ("ghp_0123456789\n", ["ghp_0123456789"]),
        ("three words alone\n", ["three words alone"]),
        ("aGVsbG8gdGhlcmU=\n", ["aGVsbG8gdGhlcmU="]),
        ("aGVsbG8gdGhlcmVz==\n", ["aGVsbG8gdGhlcmVz=="]),
        ("short\n", []),
        ("# mine\nexport API_KEY='ab cd'\nREGION=west\nOTHER = 0123456789\n", ["ab cd", "0123456789"]),
        ("-----BEGIN KEY-----\nMIIEvQIBADANBg\n-----END KEY-----\n", ["MIIEvQIBADANBg"]),
        ("a_long_heading:\n  [another_one]\n  words in a line\n----------\n", []),
        ('{"note": "no-secret-at-all", "token": "abcd"}', ["abcd"]),
        ("x" * 20_000, []),
        ("\x00\udcff", []),
    ],
)
def test_of_a_mounted_text_file_the_tokens_are_secret_too(tmp_path: Path, content: str, secrets: list[str]) -> None:
    file = tmp_path / "file"
    file.write_text(content, errors="surrogateescape")
    assert mounted_secrets(file) == secrets


def test_a_word_that_is_everywhere_is_no_secret() -> None:
    assert Redactor(["True", "null"]).text("True or null") == "True or null"
