"""Starts the server: `python3 -m osworld_guest --port 5000`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import threading
from pathlib import Path

from osworld_guest.accessibility.service import AccessibilityReader
from osworld_guest.desktop_routes import DesktopRoutes
from osworld_guest.display import Screen
from osworld_guest.http_server import GuestServer
from osworld_guest.recording import Recorder
from osworld_guest.routes import route_table
from osworld_guest.session import complete_environment


def main() -> int:
    """Serves until SIGTERM or SIGINT."""
    arguments = _arguments()
    complete_environment(os.environ, os.getuid(), Path(__file__).parent.parent)
    os.chdir(arguments.working_folder)
    with tempfile.TemporaryDirectory(prefix="osworld-guest-") as folder:
        recorder = Recorder(Path(folder))
        desktop = DesktopRoutes(Screen(), recorder, AccessibilityReader())
        server = GuestServer((arguments.host, arguments.port), route_table(desktop))
        for number in (signal.SIGTERM, signal.SIGINT):
            # From another thread, as `shutdown` waits for the loop that this very thread runs.
            signal.signal(number, lambda *_: threading.Thread(target=server.shutdown).start())
        sys.stderr.write(f"listening on {arguments.host}:{server.server_port}\n")
        server.serve_forever(poll_interval=0.2)
        server.server_close()
        recorder.close()
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="osworld_guest")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=5000, help="0: any free port, which the first line tells")
    parser.add_argument("--working-folder", type=Path, default=Path.home(), help="where relative paths count from")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
