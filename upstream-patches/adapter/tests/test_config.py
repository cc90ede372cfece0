from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fakes import make_config
from osworld_adapter.agent_config import (
    AgentSettings,
    HttpAgent,
    ModuleAgent,
    RunnerSource,
    UpstreamAgent,
    UpstreamRunner,
    WaitForWindow,
    WaitSeconds,
)
from osworld_adapter.config import parse_config
from osworld_adapter.fields import FieldError

FOLDER = Path("/attempts/1")


def scripted(*actions: Any) -> dict[str, Any]:
    return make_config(FOLDER, agent={"kind": "scripted", "actions": list(actions)})


def test_a_whole_configuration_is_read() -> None:
    with_default, with_limit = {"wait_for_window": "GIMP"}, {"wait_for_window": "a", "timeout_seconds": 3}
    config = parse_config(scripted("DONE", with_default, with_limit, {"wait_seconds": 1}))
    assert isinstance(config.agent, AgentSettings)
    assert config.agent.actions == ("DONE", WaitForWindow("GIMP", 20.0), WaitForWindow("a", 3.0), WaitSeconds(1.0))
    assert (config.screen, config.timing, config.attempt_dir) == ((1920, 1080), "settled", FOLDER)


def runner(**changes: Any) -> dict[str, Any]:
    agent = {"kind": "upstream_runner", "checkout": "/tree", "runner": "r.py", "model": "m", "arguments": {}}
    return make_config(FOLDER, agent={**agent, **changes})


def test_a_runner_may_say_what_its_checkout_is_of() -> None:
    told = parse_config(runner(source={"repository": "https://x.example/r.git", "commit": "abc"})).agent
    assert told == UpstreamRunner(Path("/tree"), "r.py", "m", {}, RunnerSource("https://x.example/r.git", "abc"))
    assert parse_config(runner()).agent == UpstreamRunner(Path("/tree"), "r.py", "m", {})


def acting(**agent: Any) -> dict[str, Any]:
    return make_config(FOLDER, agent=agent)


def test_agents_of_our_own_loop_are_read() -> None:
    settings: dict[str, str | int | bool] = {"temperature": "0.5", "history_n": 3, "thinking": True}
    upstream = acting(kind="upstream", name="qwen3vl", model="m", settings=settings)
    assert parse_config(upstream).agent == UpstreamAgent("qwen3vl", "m", settings)
    module = {"kind": "module", "class": "my.agent:Agent", "model": "m", "settings": {}}
    assert parse_config(acting(**module)).agent == ModuleAgent("my.agent:Agent", "m")
    assert parse_config(acting(**module, folder="/mine")).agent == ModuleAgent("my.agent:Agent", "m", {}, Path("/mine"))
    asked = {"kind": "http", "url": "http://127.0.0.1:8000/", "name": "mine", "settings": {}}
    assert parse_config(acting(**asked)).agent == HttpAgent("http://127.0.0.1:8000", "mine")
    assert parse_config(acting(**asked, model="m")).agent == HttpAgent("http://127.0.0.1:8000", "mine", {}, "m")


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ([], "config must be an object"),
        ({}, "config.schema_version is missing"),
        (make_config(FOLDER, schema_version=2), "config.schema_version must be one of 1, not 2"),
        (make_config(FOLDER, schema_version=True), "config.schema_version must be one of 1, not True"),
        (make_config(FOLDER, max_step=3), "config.max_step is not known; did you mean max_steps?"),
        (make_config(FOLDER, max_steps=0), "config.max_steps must be 1 or more"),
        (make_config(FOLDER, max_steps=True), "config.max_steps must be a whole number"),
        (make_config(FOLDER, timing="fast"), "config.timing must be one of settled, upstream"),
        (make_config(FOLDER, record="yes"), "config.record must be true or false"),
        (make_config(FOLDER, attempt_dir="here"), "config.attempt_dir must be an absolute path"),
        (make_config(FOLDER, task={"domain": "os", "id": "1", "url": ""}), "config.task.url is not known"),
        (make_config(FOLDER, screen={"width": 1}), "config.screen.height is missing"),
        (make_config(FOLDER, agent={"kind": "robot"}), "config.agent.kind must be one of scripted, none"),
        (make_config(FOLDER, agent={"kind": "none", "actions": []}), "config.agent.actions is not known"),
        (runner(source={"repository": "r"}), "config.agent.source.commit is missing"),
        (runner(source={"repository": "r", "commit": "c", "x": 1}), "config.agent.source.x is not known"),
        (scripted(" "), "config.agent.actions[0] is empty"),
        (scripted("DONE", 3), "config.agent.actions[1] must be an object"),
        (scripted({"wait_for_window": "("}), "config.agent.actions[0].wait_for_window is no regular expression"),
        (scripted({"wait_seconds": 0}), "config.agent.actions[0].wait_seconds must be more than 0"),
        (scripted({"wait_seconds": 1, "then": ""}), "config.agent.actions[0].then is not known"),
        (acting(kind="upstream", name="a"), "config.agent.model is missing; it must be text"),
        (
            acting(kind="upstream", name="a", model="m", setings={}),
            "config.agent.setings is not known; did you mean settings?",
        ),
        (
            acting(kind="upstream", name="a", model="m", settings={"top_p": 0.5}),
            "config.agent.settings.top_p must be text, a whole number, true or false, not 0.5; "
            "write a fraction as text",
        ),
        (
            acting(kind="upstream", name="a", model="m", settings={"--top": 1}),
            "config.agent.settings.--top is no name; write lower-case letters, digits and _",
        ),
        (
            acting(**{"kind": "module", "class": "my.agent", "model": "m"}),
            "config.agent.class must be module:Class, not 'my.agent'",
        ),
        (
            acting(**{"kind": "module", "class": "my:Agent", "model": "m", "folder": "mine"}),
            "config.agent.folder must be an absolute path, not 'mine'",
        ),
        (
            acting(kind="http", url="ftp://a", name="mine"),
            "config.agent.url must be an address such as http://127.0.0.1:8000, not 'ftp://a'",
        ),
        (
            acting(kind="http", url="http://me:word@127.0.0.1", name="mine"),
            "config.agent.url must hold no user and no password; the agent is asked without them",
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_its_path(document: object, sentence: str) -> None:
    with pytest.raises(FieldError) as refusal:
        parse_config(document)
    assert str(refusal.value).startswith(sentence)
