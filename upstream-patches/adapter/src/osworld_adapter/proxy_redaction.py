"""Keeps secret texts that are known out of everything that an attempt writes and tells."""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import re
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote

from osworld_adapter.evidence import Evidence, Step
from osworld_adapter.outcome import AttemptError, Invalid, Valid

REDACTED = "[redacted]"
MIN_CHARACTERS = 4  # A shorter text would be found everywhere.
_WORDS = {"true", "false", "none", "null"}
MAX_BYTES = 1_000_000
TEXT_SUFFIXES = {".log", ".txt", ".json", ".jsonl"}
MAX_SMALL_BYTES = 16_384  # Above it a mounted file that is no JSON is data rather than a secret.
MIN_TOKEN_CHARACTERS = 8
# A key that ends in one of the first has a value that is public, or a word that would blot out half a log.
_PUBLIC = r"[\w.-]*(?:ur[il]|type|expiry|file|path|backend)\b"
_WORDS_OF_SECRETS = "key|credential|pass(?:word|wd|phrase)|secret|token|jwt|email"
_SECRET_KEY = rf"(?!{_PUBLIC})[\w.-]*(?:{_WORDS_OF_SECRETS})[\w.-]*"
_KEY = re.compile(_SECRET_KEY, re.IGNORECASE)
_ASSIGNMENT = re.compile(r"""(?:export\s+)?([A-Za-z_][\w.]*)\s*=\s*(["']?)(?!=)(.+?)\2""")
_YAML_LINE = re.compile(rf"""^\s*["']?{_SECRET_KEY}["']?\s*:\s*["']?([^"'\s#]+)""", re.IGNORECASE | re.MULTILINE)


class Redactor:
    """Replaces secret texts, also where they stand escaped in JSON, Python text or a URL."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = {secret for secret in secrets if len(secret) >= MIN_CHARACTERS and secret.lower() not in _WORDS}
        forms = {form for secret in known for form in _forms(secret)}
        self._forms = sorted(forms, key=lambda form: (-len(form), form))  # The longest first: it may hold another.

    @property
    def active(self) -> bool:
        return bool(self._forms)

    def text(self, text: str) -> str:
        for form in self._forms:
            text = text.replace(form, REDACTED)
        return text

    def clean(self, value: Any) -> Any:
        """A copy of JSON-like data with every text in it redacted."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.clean(key): self.clean(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.clean(item) for item in value]
        return value

    def error(self, error: AttemptError) -> AttemptError:
        return AttemptError(error.reason, self.text(error.message))

    def outcome(self, outcome: Valid | Invalid) -> Valid | Invalid:
        if isinstance(outcome, Valid):
            return dataclasses.replace(outcome, evaluator=self.clean(outcome.evaluator))
        return dataclasses.replace(outcome, message=self.text(outcome.message))


def _forms(secret: str) -> list[str]:
    return [secret, json.dumps(secret)[1:-1], repr(secret)[1:-1], quote(secret, safe="")]


def secrets_of(path: Path) -> list[str]:
    """Values of a JSON or YAML file whose keys say that they are secret; none when it is no such file."""
    try:
        text = path.read_text(encoding="utf-8") if path.stat().st_size <= MAX_BYTES else ""
    except (OSError, UnicodeDecodeError):
        return []
    try:
        return list(_secret_values(json.loads(text)))
    except ValueError:
        return _YAML_LINE.findall(text)


def mounted_secrets(path: Path) -> list[str]:
    """Those, and of a small text file that is no JSON its tokens too: a line without spaces, the value of KEY=value."""
    try:
        text = path.read_text(encoding="utf-8") if path.stat().st_size <= MAX_SMALL_BYTES else ""
        json.loads(text)
    except (OSError, UnicodeDecodeError):
        return []
    except ValueError:
        return [*secrets_of(path), *_tokens(text)]
    return secrets_of(path)


def _tokens(text: str) -> Iterable[str]:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    for line in lines:
        assigned = _ASSIGNMENT.fullmatch(line)
        if assigned is not None and (_KEY.fullmatch(assigned[1]) or len(assigned[3]) >= MIN_TOKEN_CHARACTERS):
            yield assigned[3]
        # A heading of a YAML or INI file is none.
        whole = len(lines) == 1 or (len(line.split()) == 1 and not line.endswith((":", "]")))
        if assigned is None and whole and len(line) >= MIN_TOKEN_CHARACTERS and any(map(str.isalnum, line)):
            yield line


def _secret_values(value: Any, key: str = "") -> Iterable[str]:
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _secret_values(item, str(name))
    elif isinstance(value, list):
        for item in value:
            yield from _secret_values(item, key)
    elif isinstance(value, str) and _KEY.fullmatch(key):
        yield value


class RedactedEvidence(Evidence):
    """Evidence whose texts hold no secret."""

    def __init__(self, folder: Path, redactor: Redactor) -> None:
        super().__init__(folder)
        self._redactor = redactor

    def step(self, step: Step) -> None:
        action, response = self._redactor.text(step.action), self._redactor.text(step.response)
        super().step(dataclasses.replace(step, action=action, response=response, info=self._redactor.clean(step.info)))

    def note(self, text: str) -> None:
        super().note(self._redactor.text(text))

    def document(self, name: str, content: dict[str, Any]) -> None:
        super().document(name, self._redactor.clean(content))


class RedactedStream:
    """A text stream that lets go of whole lines only, so that no secret slips through in two parts."""

    def __init__(self, inner: TextIO, redactor: Redactor) -> None:
        self._inner = inner
        self._redactor = redactor
        self._held = ""
        self._lock = threading.RLock()

    def write(self, text: str) -> int:
        with self._lock:
            self._held += text
            lines, newline, self._held = self._held.rpartition("\n")
            if newline:
                self._inner.write(self._redactor.text(lines + newline))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Lets go of an unfinished line, too; what had only half of a secret at its end shows that half."""
        with self._lock:
            held, self._held = self._held, ""
            self._inner.write(self._redactor.text(held))
            self._inner.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def redact_process(redactor: Redactor) -> None:
    """From here on standard output, standard error and every log handler, one that comes later too, are redacted."""
    if not redactor.active:
        return
    for name in ("stdout", "stderr"):
        setattr(sys, name, RedactedStream(getattr(sys, name), redactor))
    original = logging.Handler.format

    def redacted(handler: logging.Handler, record: logging.LogRecord) -> str:
        return redactor.text(original(handler, record))

    handler_class: Any = logging.Handler
    handler_class.format = redacted


def redact_files(folder: Path, redactor: Redactor) -> None:
    """Takes secrets out of the text files below `folder`, which others wrote by themselves; links are left alone."""
    if not redactor.active:
        return
    for at, _, names in os.walk(folder):
        for file in (Path(at) / name for name in names):
            if file.suffix in TEXT_SUFFIXES and file.is_file() and not file.is_symlink():
                _redact_file(file, redactor)


def _redact_file(file: Path, redactor: Redactor) -> None:
    text = file.read_bytes().decode("utf-8", "surrogateescape")
    clean = redactor.text(text)
    if clean == text:
        return
    partial = file.with_name(f".{file.name}.{threading.get_ident()}.partial")
    partial.write_bytes(clean.encode("utf-8", "surrogateescape"))
    partial.replace(file)
