"""The attempt's configuration file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from osworld_adapter.agent_config import AnyAgent, absolute, parse_agent
from osworld_adapter.fields import FieldError, Fields

Timing = Literal["settled", "upstream"]
SECRET_FOLDER = "/opt/osworld/secrets"


@dataclass(frozen=True)
class SecretMount:
    """A file of this machine that every sandbox gets."""

    local: Path
    guest: str


@dataclass(frozen=True)
class Assets:
    """Recorded downloads; offline, nothing else may be fetched."""

    folder: Path
    offline: bool


@dataclass(frozen=True)
class AttemptConfig:
    """One attempt; paths are absolute."""

    run_id: str
    attempt_dir: Path
    domain: str
    task_id: str
    task_file: Path
    trial: int
    attempt: int
    agent: AnyAgent
    max_steps: int
    timing: Timing
    screen: tuple[int, int]
    client_password: str
    enable_proxy: bool
    profile_dir: Path
    record: bool
    proxy_file: Path | None = None
    secret_mounts: tuple[SecretMount, ...] = ()
    settings_dir: Path | None = None
    assets: Assets | None = None


def load_config(path: Path) -> AttemptConfig:
    """The configuration in `path`; FieldError says which key is wrong and what it must be."""
    return parse_config(read_json(path))


def read_json(path: Path) -> Any:
    """A JSON file's content; FieldError when it cannot be read or is no JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise FieldError(f"{path} cannot be read as JSON: {error}") from error


def parse_config(document: object) -> AttemptConfig:
    fields = Fields(document, "config")
    fields.choice("schema_version", (1,))
    task = Fields(fields.take("task", dict), "config.task")
    screen = Fields(fields.take("screen", dict), "config.screen")
    config = AttemptConfig(
        run_id=fields.take("run_id", str),
        attempt_dir=absolute(fields, "attempt_dir"),
        domain=task.take("domain", str),
        task_id=task.take("id", str),
        task_file=absolute(fields, "task_file"),
        trial=fields.positive("trial"),
        attempt=fields.positive("attempt"),
        agent=parse_agent(fields.take("agent", dict)),
        max_steps=fields.positive("max_steps"),
        timing=fields.choice("timing", ("settled", "upstream")),
        screen=(screen.positive("width"), screen.positive("height")),
        client_password=fields.take("client_password", str, "password"),
        enable_proxy=fields.take("enable_proxy", bool, False),
        profile_dir=absolute(fields, "profile_dir"),
        record=fields.take("record", bool, True),
        proxy_file=_optional_path(fields, "proxy_file"),
        secret_mounts=tuple(
            _mount(item, f"config.secret_mounts[{n}]") for n, item in enumerate(fields.take("secret_mounts", list, []))
        ),
        settings_dir=_optional_path(fields, "settings_dir"),
        assets=_assets(fields.take("assets", dict, {})),
    )
    for part in (task, screen, fields):
        part.finish()
    if config.enable_proxy and config.proxy_file is None:
        raise FieldError("config.proxy_file is missing; enable_proxy needs the file that lists OSWorld's proxies")
    return config


def _optional_path(fields: Fields, key: str) -> Path | None:
    text = fields.take(key, str, "")
    if text and not Path(text).is_absolute():
        raise FieldError(f"{fields.path(key)} must be an absolute path, not {text!r}")
    return Path(text) if text else None


def _mount(value: object, path: str) -> SecretMount:
    fields = Fields(value, path)
    mount = SecretMount(absolute(fields, "local"), fields.take("guest", str))
    fields.finish()
    below = mount.guest.removeprefix(f"{SECRET_FOLDER}/")
    if below == mount.guest or {"", ".", ".."} & set(below.split("/")):
        raise FieldError(f"{fields.path('guest')} must be a file under {SECRET_FOLDER}, not {mount.guest!r:.80}")
    return mount


def _assets(value: dict[str, Any]) -> Assets | None:
    if not value:
        return None
    fields = Fields(value, "config.assets")
    assets = Assets(absolute(fields, "folder"), fields.take("offline", bool))
    fields.finish()
    return assets
