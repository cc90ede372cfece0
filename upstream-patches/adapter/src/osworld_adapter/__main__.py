"""`python -m osworld_adapter --config FILE`, with OSWORLD_CONTROL_SOCKET naming the coordinator's socket."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from pathlib import Path

from osworld_adapter.agent_config import UpstreamRunner
from osworld_adapter.attempt import Attempt
from osworld_adapter.config import load_config
from osworld_adapter.control import ControlClient
from osworld_adapter.fields import FieldError
from osworld_adapter.outcome import Invalid, Valid
from osworld_adapter.runner_attempt import RunnerAttempt

SOCKET_VARIABLE = "OSWORLD_CONTROL_SOCKET"
USAGE_ERROR = 2


def main(arguments: list[str] | None = None) -> int:
    """0 once `finished` was sent, whatever the outcome; 2 when there is nobody to send it to."""
    parser = argparse.ArgumentParser(prog="osworld_adapter")
    parser.add_argument("--config", type=Path, required=True, help="the attempt's configuration, JSON")
    config_file: Path = parser.parse_args(arguments).config
    socket_path = os.environ.pop(SOCKET_VARIABLE, None)  # What the attempt starts has no business with it.
    if not socket_path:
        print(f"{SOCKET_VARIABLE} is not set; it names the coordinator's unix socket", file=sys.stderr)
        return USAGE_ERROR
    try:
        client = ControlClient.connect(Path(socket_path))
    except OSError as error:
        print(f"{SOCKET_VARIABLE}={socket_path} cannot be reached: {error}", file=sys.stderr)
        return USAGE_ERROR
    client.finish(_outcome(config_file, client))
    return 0


def _outcome(config_file: Path, client: ControlClient) -> Valid | Invalid:
    try:
        config = load_config(config_file)
        if isinstance(config.agent, UpstreamRunner):
            return RunnerAttempt(config, config.agent, client).run()
        return Attempt(config, client).run()
    except FieldError as error:
        return Invalid("runner_exit", client.phase, str(error))
    except Exception as error:
        traceback.print_exc()
        return Invalid("runner_exit", client.phase, f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # Not `sys.exit`: threads that upstream or playwright left behind must not keep the process alive.
