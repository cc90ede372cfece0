"""One attempt by OSWorld's own runner script, unmodified, in this process and the workers that it forks."""

from __future__ import annotations

import json
import os
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

from osworld_adapter.adjustments import load_adjustments
from osworld_adapter.agent_config import UpstreamRunner
from osworld_adapter.attempt_secrets import AttemptSecrets
from osworld_adapter.config import AttemptConfig, read_json
from osworld_adapter.control import ControlClient
from osworld_adapter.lazy_imports import LazyImports
from osworld_adapter.model_calls import ModelCalls
from osworld_adapter.outcome import AttemptError, Invalid, Phase, Valid
from osworld_adapter.provider import MACHINE
from osworld_adapter.proxy_redaction import RedactedEvidence, redact_files, redact_process
from osworld_adapter.runner_arguments import RunnerArguments, command_line
from osworld_adapter.runner_family import Family, Message, end_family, only_fork
from osworld_adapter.runner_hooks import RunnerHooks
from osworld_adapter.runner_imports import FailedImports
from osworld_adapter.runner_result import read_result, runner_error
from osworld_adapter.runner_start import adjusting, check_task_file, import_from, run_script
from osworld_adapter.upstream import prepare_process


class RunnerAttempt:
    """Prepares the process, runs the script, and makes an outcome of what its family told and left."""

    def __init__(self, config: AttemptConfig, runner: UpstreamRunner, client: ControlClient) -> None:
        self._config = config
        self._runner = runner
        self._client = client
        self._adjustments = load_adjustments(config.profile_dir / "adjustments.json")
        self._arguments = RunnerArguments(runner.runner, runner.arguments)
        self._results = config.attempt_dir / "upstream-results"
        self._secrets = AttemptSecrets(config)
        self._evidence = RedactedEvidence(config.attempt_dir, self._secrets.redactor)
        self._family = Family(self._answer, self._gone, client.let_go)
        self._lock = threading.Lock()
        self._begun = False
        self._steps = 0
        self._phase: Phase = "import"  # The last one that was work: what is missing at the end went wrong in it.
        self._fault: Invalid | None = None
        self._evaluated: Message | None = None
        client.settle = self._settle
        client.before_abort = self._evidence.outcome
        client.before_exit = self._end

    def run(self) -> Valid | Invalid:
        """The outcome, told; everything that the runner started is ended when this returns."""
        try:
            code, message = self._execute()
            self._family.drain()
            outcome = self._conclude(code, message)
        except AttemptError as error:
            outcome = self._settle() or Invalid(error.reason, self._client.phase, error.message)
        except Exception as error:
            traceback.print_exc()
            outcome = Invalid("runner_exit", self._client.phase, f"{type(error).__name__}: {error}")
        self._client.decided = self._client.decided or self._secrets.redactor.outcome(outcome)
        self._client.finish(self._client.decided)
        self._evidence.phase_ends()
        self._evidence.outcome(self._client.decided)
        self._end()
        return self._client.decided

    def _execute(self) -> tuple[int, str]:
        self._enter("import")
        config, runner = self._config, self._runner
        if config.timing != "upstream":
            raise AttemptError(
                "runner_exit", f"timing is {config.timing} and OSWorld's runner keeps its fixed waits; write upstream"
            )
        given = {**self._adjustments.values("argument"), "path_to_vm": MACHINE}
        words = command_line(config, runner, given)
        check_task_file(config, runner.checkout)
        task = read_json(config.task_file)
        self._secrets.check(task)
        self._prepare(task)
        sys.argv = words
        with self._arguments.watching():
            return run_script(Path(words[0]))

    def _prepare(self, task: dict[str, Any]) -> None:
        config, checkout = self._config, self._runner.checkout
        redact_process(self._secrets.redactor)
        prepare_process(config.attempt_dir, os.environ, self._secrets.proxy.active, config.proxy_file)
        self._secrets.place(task, config.attempt_dir)
        for folder in self._adjustments.values("folder"):
            (config.attempt_dir / folder).mkdir(exist_ok=True)
        manifest = json.dumps({config.domain: [config.task_id]})
        (config.attempt_dir / "task-manifest.json").write_text(manifest + "\n", encoding="utf-8")
        sys.path[:0] = [str(checkout), str((checkout / self._runner.runner).parent)]
        lazy = LazyImports(self._adjustments.lazy().packages, self._adjustments.lazy().owners)
        imports = FailedImports(lazy)
        hooks = RunnerHooks(self._family, self._evidence, imports, config, self._secrets)
        finder = adjusting(self._adjustments, hooks, ModelCalls(self._runner.model, os.environ, hooks.abort))
        finder.install()
        only_fork(hooks.abort)
        with lazy.importing():
            imports.install()
            import_from(checkout)
        imports.forget()
        hooks.install()
        self._family.install()

    def _answer(self, message: Message) -> Message:
        """What a worker, or the runner itself, tells and asks; the reply comes when it has had its effect."""
        match message["type"]:
            case "begin":
                self._begin()
            case "request":
                return self._request(message["method"])
            case "phase":
                self._enter(message["phase"])
            case "step":
                self._steps += 1
                self._client.step(self._steps, self._secrets.redactor.text(message["action"]), message["done"])
            case "note":
                self._evidence.note(message["message"])
            case "fault":
                told = Invalid(message["reason"], message["phase"], self._secrets.redactor.text(message["message"]))
                self._fault = self._fault or told
            case "evaluated":
                self._evaluated = message
            case "closing":
                self._tell_score()
            case "abort":
                self._client.abort(self._secrets.redactor.error(AttemptError(message["reason"], message["message"])))
        return {}

    def _begin(self) -> None:
        if self._begun:  # The runner replaces a worker that has ended; this attempt's one task is behind it.
            self._client.decided = self._conclude(0, "")
            self._client.abort(AttemptError("runner_exit", "the runner started a second environment"))
        self._begun = True
        try:
            self._arguments.result_file(self._config)
        except AttemptError as error:
            self._client.abort(error)

    def _request(self, method: str) -> Message:
        try:
            return {"ports": self._client.request(method)}
        except AttemptError as error:
            return {"reason": error.reason, "message": error.message}

    def _gone(self, last: Message) -> None:
        if last["type"] != "closed":
            phase = self._client.phase
            message = f"a worker of the runner ended in phase {phase} without closing its environment"
            self._client.abort(AttemptError("runner_exit", message))

    def _tell_score(self) -> None:
        """Before the sandbox is stopped: a stop of the run that comes in its midst must not cost the result."""
        with self._lock:
            outcome = self._settle()
            if isinstance(outcome, Valid):
                self._client.decided = outcome
                self._client.finish(outcome)

    def _settle(self) -> Valid | Invalid | None:
        """What is known by now: the first fault, or the score that was evaluated and written."""
        if self._fault is not None or self._evaluated is None:
            return self._fault
        try:
            return self._secrets.redactor.outcome(self._score())
        except (AttemptError, OSError):
            return None

    def _conclude(self, code: int, message: str) -> Valid | Invalid:
        if self._fault is not None:
            return self._fault
        try:
            return self._score()
        except AttemptError as error:
            found = error
        if code and found.reason != "malformed_result":
            found = AttemptError("runner_exit", f"the runner ended with exit code {code} and left no result")
        if found.reason == "malformed_result":
            return Invalid(found.reason, self._phase, found.message)
        said = message or runner_error(self._results, self._evidence.folder / "upstream.log")
        return Invalid(found.reason, self._phase, f"{found.message}: {said}" if said else found.message)

    def _score(self) -> Valid:
        reward = read_result(self._results, self._arguments.result_file(self._config))
        evaluated = self._evaluated
        if evaluated is None or evaluated["answer"] != reward:
            answer = "was never asked" if evaluated is None else f"answered {evaluated['answer']}"
            raise AttemptError("malformed_result", f"result.txt holds {reward} and the evaluator {answer}")
        return Valid(
            reward=reward,
            evaluator={"metrics": evaluated["metrics"], "seconds": evaluated["seconds"]},
            loaded_packages=evaluated["loaded"],
            adjustments_digest=self._adjustments.digest,
            upstream=self._source(),
        )

    def _source(self) -> dict[str, str]:
        told = self._runner.source
        if told is not None:
            return {"name": told.repository, "version": told.commit}
        return {"name": self._adjustments.distribution, "version": self._adjustments.version}

    def _end(self) -> None:
        end_family()
        self._secrets.google.remove()
        for folder in ("logs", "upstream-results"):
            redact_files(self._config.attempt_dir / folder, self._secrets.redactor)

    def _enter(self, phase: Phase) -> None:
        self._phase = self._phase if phase == "close" else phase
        self._evidence.phase_ends()
        self._client.enter(phase)
        self._evidence.phase_begins(phase)
