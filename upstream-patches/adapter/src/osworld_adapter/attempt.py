"""One attempt from import to close; what goes wrong becomes an outcome, never an exit code."""

from __future__ import annotations

import os
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from osworld_adapter import asset_cache
from osworld_adapter.agent_config import UpstreamRunner
from osworld_adapter.agents import Agent, Assignment, NoAgent
from osworld_adapter.attempt_secrets import AttemptSecrets
from osworld_adapter.classify import classify
from osworld_adapter.config import AttemptConfig, read_json
from osworld_adapter.control import ControlClient
from osworld_adapter.evaluation_record import EvaluationRecord
from osworld_adapter.fields import FieldError
from osworld_adapter.guest_traffic import GuestTraffic, watch_traffic
from osworld_adapter.host_programs import HostPrograms
from osworld_adapter.log_watch import LogWatch, keep_upstream_log
from osworld_adapter.loop import AttemptLoop, LoopSettings, seen
from osworld_adapter.outcome import AttemptError, Invalid, Phase, Valid, to_reward
from osworld_adapter.own_agents import Making, make_agent
from osworld_adapter.packages import check_task, load_package_needs, task_functions
from osworld_adapter.provider import PROVIDER_NAME, make_factory
from osworld_adapter.proxy_redaction import RedactedEvidence, redact_process
from osworld_adapter.upstream import Upstream, adjust, import_upstream, prepare_process, refuse_missing_packages
from osworld_adapter.windows import look, promised_windows

ACTION_SPACE = "pyautogui"
PROGRAM_OWNERS = ("desktop_env", "playwright")


class Attempt:
    """Runs the phases in order; the first failure ends it."""

    def __init__(self, config: AttemptConfig, client: ControlClient) -> None:
        if isinstance(config.agent, UpstreamRunner):
            raise FieldError("config.agent.kind is upstream_runner, which brings a loop of its own; use RunnerAttempt")
        self._config = config
        self._own_agent = config.agent
        self._agent: Agent = NoAgent()
        self._begun = False
        self._client = client
        self._secrets = AttemptSecrets(config)
        self._redactor = self._secrets.redactor
        self._evidence = RedactedEvidence(config.attempt_dir, self._redactor)
        self._watch = LogWatch(self._abort)
        self._env: Any = None
        self._traffic = GuestTraffic(self._guest_port, lambda: client.phase, self._abort)
        self._programs = HostPrograms(PROGRAM_OWNERS)
        self._record = EvaluationRecord()
        self._downloads = asset_cache.AssetRecord()
        client.before_abort = self._evidence.outcome
        client.before_exit = self._secrets.google.remove

    def run(self) -> Valid | Invalid:
        """The outcome; evidence is on disk when this returns."""
        outcome: Valid | Invalid
        try:
            outcome = self._measure()
        except (Exception, SystemExit) as error:  # A metric runs code of the guest, which may ask to exit.
            traceback.print_exc()
            phase = self._client.phase
            found = classify(error, phase, self._guest())
            outcome = Invalid(found.reason, phase, found.message)
        outcome = self._redactor.outcome(outcome)
        self._client.decided = outcome
        self._client.finish(outcome)  # Before the clean-up: a stop that comes in its midst must not cost the result.
        self._evidence.outcome(outcome)
        self._end_agent(outcome)
        self._close()
        self._evidence.outcome(outcome)  # Once more, with how the end went.
        return outcome

    def _measure(self) -> Valid:
        with self._phase("import"):
            task = self._load_task()
            self._secrets.check(task)
            upstream = self._import(task)
            self._agent = make_agent(self._own_agent, Making(self._config, os.environ))
            self._secrets.place(task, self._config.attempt_dir)
        with self._phase("start"):
            self._env = self._start(upstream)
        with self._phase("setup"):
            promised = promised_windows(task) if self._config.timing == "settled" else 0
            before = look(self._env.controller) if promised else None
            self._set_up(task)
            screenshot = self._loop().after_reset(before, promised)
        self._act(screenshot)
        with self._phase("evaluate"):
            return self._evaluate(upstream)

    def _load_task(self) -> dict[str, Any]:
        task = read_json(self._config.task_file)
        if not isinstance(task, dict) or task.get("id") != self._config.task_id:
            raise FieldError(f"{self._config.task_file} is not the task {self._config.task_id}")
        return task

    def _import(self, task: dict[str, Any]) -> Upstream:
        prepare_process(self._config.attempt_dir, os.environ, self._secrets.proxy.active, self._config.proxy_file)
        keep_upstream_log(self._config.attempt_dir / "upstream.log", self._watch)
        self._secrets.google_watch.install()
        redact_process(self._redactor)
        watch_traffic(self._traffic)
        self._programs.install()
        if self._config.assets is not None:
            self._downloads = asset_cache.install(self._config.assets, lambda: self._client.phase)
        upstream = import_upstream(self._config.profile_dir)
        factory = make_factory(self._client)
        adjust(
            upstream,
            {
                "provider-factory": lambda original: factory,  # noqa: ARG005
                "evaluation-record": self._record.wrap_set_evaluator_info,
                "proxy-check": self._secrets.proxy.wrap_setup,
                "secret-mounts": self._secrets.mounts.wrap_start,
            },
        )
        needs = load_package_needs(self._config.profile_dir / "packages.json")
        check_task(task_functions(task), needs, upstream.adjustments.lazy().packages)
        return upstream

    def _start(self, upstream: Upstream) -> Any:
        return upstream.module.DesktopEnv(
            provider_name=PROVIDER_NAME,
            action_space=ACTION_SPACE,
            cache_dir=str(self._config.attempt_dir / "cache"),
            screen_size=self._config.screen,
            require_a11y_tree=False,
            enable_proxy=self._secrets.proxy.active,
            client_password=self._config.client_password,
        )

    def _set_up(self, task: dict[str, Any]) -> None:
        try:
            self._env.reset(task_config=task)
        finally:
            if note := self._secrets.proxy.note():
                self._evidence.note(note)
        self._secrets.proxy.confirm()
        for fault in (self._watch.fault, self._secrets.google_watch.fault, self._downloads.fault):
            if fault is not None:
                raise fault

    def _act(self, screenshot: bytes) -> None:
        with self._phase("agent"):
            if self._config.record:
                self._env.controller.start_recording()
            loop = self._loop()
            try:
                self._agent.begin(self._assignment())
                self._begun = True
                loop.run(self._agent, screenshot)
                loop.before_evaluate()
            finally:
                if self._config.record:
                    self._evidence.recording(self._env.controller.end_recording)

    def _evaluate(self, upstream: Upstream) -> Valid:
        started = time.monotonic()
        answer: Any = None
        try:
            answer = self._env.evaluate()
        finally:
            seconds = round(time.monotonic() - started, 3)
            self._evidence.evaluation(
                {
                    "answer": repr(answer),
                    "assets": self._downloads.served,
                    "calls": self._record.calls,
                    "conjunction": getattr(self._env, "metric_conj", None),
                    "loaded_packages": upstream.lazy.loaded,
                    "missing_packages": upstream.lazy.missing,
                    "not_recorded_downloads": self._downloads.from_network,
                    "proxy": self._secrets.proxy.record(),
                    "seconds": seconds,
                }
            )
        self._refuse_faults(upstream)
        return Valid(
            reward=to_reward(answer),
            evaluator={"metrics": self._record.metrics(), "seconds": seconds},
            loaded_packages=upstream.lazy.loaded,
            adjustments_digest=upstream.adjustments.digest,
            upstream=upstream.identity(),
        )

    def _assignment(self) -> Assignment:
        config = self._config
        session = f"{config.run_id}/{config.domain}/{config.task_id}/{config.trial}.{config.attempt}"
        return Assignment(session, config.domain, config.task_id, self._env.instruction)

    def _end_agent(self, outcome: Valid | Invalid) -> None:
        if not self._begun:
            return
        try:
            self._agent.end(outcome.to_message())
        except Exception as error:  # The outcome is told by now, and an agent's end changes nothing of it.
            self._evidence.note(f"the agent did not take its end: {type(error).__name__}: {error}")

    def _close(self) -> None:
        # The outcome is known by now, and whether the sandbox is gone is for its owner to verify.
        try:
            self._secrets.google.remove()
            if self._env is not None:
                with self._phase("close"):
                    self._env.close()
        except Exception as error:
            traceback.print_exc()
            self._evidence.note(f"close failed: {type(error).__name__}: {error}")

    def _refuse_faults(self, upstream: Upstream) -> None:
        """Throws the score away when something failed that upstream's evaluators take for a missing answer."""
        # A sandbox that died at any moment before is dead now, however quietly upstream went on.
        self._evidence.screenshot("evaluated", seen(self._env.controller.get_screenshot()))
        for fault in (self._watch.fault, self._secrets.google_watch.fault, self._traffic.fault, self._downloads.fault):
            if fault is not None:
                reason = "evaluator_error" if fault.reason == "setup_failed" else fault.reason
                raise AttemptError(reason, fault.message)
        refuse_missing_packages(upstream)
        if self._programs.missing:
            missing = ", ".join(self._programs.missing)
            raise AttemptError("evaluator_error", f"the evaluator wanted to start {missing}, not found on this machine")

    def _loop(self) -> AttemptLoop:
        settings = LoopSettings(self._config.timing, self._config.max_steps, self._client.step)
        return AttemptLoop(self._env, self._evidence, settings, time)

    @contextmanager
    def _phase(self, phase: Phase) -> Iterator[None]:
        self._client.enter(phase)
        self._evidence.phase_begins(phase)
        try:
            yield
        finally:
            self._evidence.phase_ends()

    def _abort(self, failure: AttemptError) -> NoReturn:
        self._client.abort(self._redactor.error(failure))

    def _guest_port(self) -> int | None:
        return None if self._env is None else int(self._env.server_port)

    def _guest(self) -> str | None:
        return f"{self._env.vm_ip}:{self._env.server_port}" if self._env is not None else None
