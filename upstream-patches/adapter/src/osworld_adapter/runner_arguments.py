"""The command line of OSWorld's runner scripts: ours first, the contract's after it, nothing taken silently."""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NoReturn

from osworld_adapter.agent_config import UpstreamRunner
from osworld_adapter.config import AttemptConfig
from osworld_adapter.outcome import AttemptError

# What decides where the machine, the task and the result are; a mount goes to DesktopEnv itself.
PROTECTED = (
    "provider_name",
    "path_to_vm",
    "headless",
    "test_all_meta_path",
    "test_config_base_dir",
    "result_dir",
    "num_envs",
    "vm_secret_mount",
    "model",
)
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_RESULT_PARTS = ("result_dir", "action_space", "observation_type", "model")


def command_line(config: AttemptConfig, runner: UpstreamRunner, given: Mapping[str, str]) -> list[str]:
    """The script and its arguments; `given` are those that the profile declares (the provider and the template)."""
    refuse_protected(runner.arguments)
    folder = config.attempt_dir
    own: dict[str, str | Literal[True]] = {
        **given,
        "headless": True,
        "test_all_meta_path": str(folder / "task-manifest.json"),
        "test_config_base_dir": str(runner.checkout / "evaluation_examples"),
        "result_dir": str(folder / "upstream-results"),
        "num_envs": "1",
        "model": runner.model,
    }
    # Joined by `=`, so that no value can pass for another argument.
    words = [
        f"--{name}" if value is True else f"--{name}={value}" for name, value in {**own, **runner.arguments}.items()
    ]
    return [str(runner.checkout / runner.runner), *words]


def refuse_protected(arguments: Mapping[str, object]) -> None:
    """Refuses an argument that is ours to give, under its name or a beginning of it, which argparse would accept."""
    for name in arguments:
        if not _NAME.fullmatch(name):
            raise AttemptError(
                "runner_exit", f"agent.arguments has {name!r:.80}, which is no name; write it without dashes"
            )
        protected = next((known for known in PROTECTED if known.startswith(name.replace("-", "_"))), None)
        if protected is not None:
            raise AttemptError(
                "runner_exit", f"agent.arguments has {name}, and --{protected} is set by the attempt; take it out"
            )


class RunnerArguments:
    """Watches the runner read its own command line: unknown names are refused, and what it made of it is kept."""

    def __init__(self, runner: str, names: Mapping[str, object]) -> None:
        self._runner = runner
        self._names = names
        self._read: dict[str, Any] | None = None

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Inside, a parser that reads `sys.argv` refuses by a sentence instead of ending the process."""
        original = argparse.ArgumentParser.parse_known_args

        def parse(parser: argparse.ArgumentParser, args: Any = None, namespace: Any = None) -> Any:
            if args is not None and list(args) != sys.argv[1:]:
                return original(parser, args, namespace)
            self._refuse_unknown(parser)
            vars(parser)["error"] = self._refuse
            try:
                found = original(parser, args, namespace)
            finally:
                del vars(parser)["error"]
            self._read = dict(vars(found[0]))
            return found

        parser_class: Any = argparse.ArgumentParser
        parser_class.parse_known_args = parse
        try:
            yield
        finally:
            parser_class.parse_known_args = original

    def result_file(self, config: AttemptConfig) -> Path:
        """Where this runner must leave this task's result."""
        values = {} if self._read is None else self._read
        absent = [name for name in _RESULT_PARTS if not isinstance(values.get(name), str)]
        if absent:
            raise AttemptError(
                "runner_exit", f"{self._runner} read no --{absent[0]}, so the place of its result is not known"
            )
        base = config.attempt_dir / "upstream-results"
        path = Path(*(values[name] for name in _RESULT_PARTS), config.domain, config.task_id, "result.txt")
        if ".." in path.parts or not path.is_relative_to(base):
            raise AttemptError("runner_exit", f"{self._runner} would leave its result at {path}, outside {base}")
        return path

    def _refuse_unknown(self, parser: argparse.ArgumentParser) -> None:
        known = [option.removeprefix("--") for option in parser._option_string_actions]
        for name in self._names:
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"did you mean {near[0]}?" if near else "take it out of agent.arguments"
                raise AttemptError("runner_exit", f"{self._runner} has no argument --{name}; {hint}")

    def _refuse(self, message: str) -> NoReturn:
        raise AttemptError("runner_exit", f"{self._runner} refuses its arguments: {message}; change agent.arguments")
