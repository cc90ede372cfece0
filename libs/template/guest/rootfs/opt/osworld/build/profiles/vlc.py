"""VLC's settings file: written whole by VLC itself, then edited.

Getters of OSWorld read this file and fail when it is absent.
"""

from __future__ import annotations

import re
from pathlib import Path

from .desktop import HOME, ProfileError, in_session

SETTINGS = HOME / ".config/vlc/vlcrc"

# The privacy question would cover the window; the web interface is what OSWorld asks for the playing state.
OPTIONS = (
    ("qt-privacy-ask", "0"),
    ("metadata-network-access", "0"),
    ("extraintf", "http"),
    ("http-port", "8080"),
    ("http-password", "password"),
)


def make_settings() -> None:
    """Let VLC write its settings file and set our options in it."""
    in_session("vlc", "--intf", "dummy", "--no-audio", "--reset-config", "vlc://quit")
    SETTINGS.write_text(with_options(SETTINGS.read_text()))


def with_options(text: str) -> str:
    """Return the settings with every option set at its (commented) line; a ProfileError for an option VLC lacks."""
    for name, value in OPTIONS:
        text, count = re.subn(rf"^#?{re.escape(name)}=.*$", f"{name}={value}", text, count=1, flags=re.MULTILINE)
        if count == 0:
            raise ProfileError(f"VLC's settings file has no option {name}")
    return text


def missing_options(settings: Path) -> list[str]:
    """Name the options that the file does not set as wanted."""
    lines = settings.read_text().splitlines()
    return [name for name, value in OPTIONS if f"{name}={value}" not in lines]
