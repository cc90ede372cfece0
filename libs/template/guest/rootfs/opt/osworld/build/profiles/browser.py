"""Chromium's profile: made by its first start, then Google as the search engine, as in Google Chrome."""

from __future__ import annotations

import json
from pathlib import Path

from .desktop import HOME

PREFERENCES = HOME / ".config/google-chrome/Default/Preferences"

# Number 1 names Google in Chromium's own list; the URL is that list's, shortened.
GOOGLE = {
    "keyword": "google.com",
    "prepopulate_id": 1,
    "short_name": "Google",
    "url": "{google:baseURL}search?q={searchTerms}&{google:originalQueryForSuggestion}ie={inputEncoding}",
}


def search_with_google(file: Path) -> None:
    """Make Google the search engine in the preferences of a browser that does not run."""
    preferences = json.loads(file.read_text())
    preferences["default_search_provider_data"] = {"template_url_data": GOOGLE}
    file.write_text(json.dumps(preferences, separators=(",", ":")))


def faults(file: Path) -> list[str]:
    """Name what is not as wanted: a clean last exit, a maximized window, Google as the search engine."""
    preferences = json.loads(file.read_text())
    wanted = {
        "the browser's last exit": (preferences["profile"].get("exit_type"), "Normal"),
        "the browser's window is maximized": (preferences["browser"]["window_placement"].get("maximized"), True),
        "the search engine": (preferences["default_search_provider_data"]["template_url_data"]["short_name"], "Google"),
    }
    return [f"{name}: {seen}" for name, (seen, expected) in wanted.items() if seen != expected]
