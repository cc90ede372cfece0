"""python3 -m profiles: as root, in namespaces of its own; exits 1 with a sentence when a profile is not as wanted."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

from . import browser, home, libreoffice, vlc
from .applications import APPLICATIONS, open_and_close
from .desktop import SESSION, ProfileError, wait_for_rest, wait_until

LOGS = Path("/var/log/osworld")


def desktop_is_complete() -> bool:
    """Tell whether the shell and the desktop's icons are there."""
    return subprocess.run(["/usr/local/bin/osworld-ready", "desktop"], check=False).returncode == 0


def pyautogui_sees_the_screen() -> bool:
    """Tell whether pyautogui can be imported, finds the pointer and takes a picture (by way of GNOME Shell)."""
    code = "import pyautogui; pyautogui.position(); pyautogui.screenshot()"
    return subprocess.run([SESSION, "run", "python3", "-c", code], capture_output=True, check=False).returncode == 0


def make_profiles() -> None:
    """Bring the desktop up, make every profile, and check the result."""
    wait_until("a complete desktop", desktop_is_complete)
    wait_for_rest()
    report("desktop complete")
    vlc.make_settings()
    libreoffice.make_profile()
    for application in APPLICATIONS:
        open_and_close(application)
        report(f"{application.name} opened and closed")
    browser.search_with_google(browser.PREFERENCES)
    wait_until("a picture of the screen by pyautogui", pyautogui_sees_the_screen)
    report("pyautogui sees the screen")


def report(what: str) -> None:
    """Print a line of progress with the seconds since the start."""
    print(f"{time.monotonic() - STARTED:5.1f} s {what}", flush=True)


def print_logs() -> None:
    """Print the end of every part's log, to tell why something failed."""
    for log in sorted(LOGS.glob("*.log")):
        print(f"--- {log.name}\n{log.read_text(errors='replace')[-3000:]}", file=sys.stderr)


def main() -> int:
    """Return the exit status."""
    desktop = subprocess.Popen(["/usr/local/bin/osworld-desktop"])
    try:
        make_profiles()
        stop(desktop)
        home.remove_traces()
        home.check()
    except (ProfileError, subprocess.TimeoutExpired, OSError) as error:
        print_logs()
        print(f"profiles: {error}", file=sys.stderr)
        return 1
    shutil.rmtree(LOGS)
    report("profiles made and checked")
    return 0


def stop(desktop: subprocess.Popen[bytes]) -> None:
    """End the restart loops, then everything of the desktop's user, and wait until nothing is left of either."""
    subprocess.run(["pkill", "--signal", "KILL", "--parent", str(desktop.pid)], check=False)
    desktop.kill()
    desktop.wait()
    subprocess.run(["pkill", "--signal", "KILL", "--uid", "user"], check=False)
    wait_until("the desktop's processes ended", nothing_is_left, limit_s=20)


def nothing_is_left() -> bool:
    """Tell whether no process of the desktop's user lives."""
    return subprocess.run(["pgrep", "--uid", "user"], stdout=subprocess.DEVNULL, check=False).returncode != 0


STARTED = time.monotonic()

if __name__ == "__main__":
    sys.exit(main())
