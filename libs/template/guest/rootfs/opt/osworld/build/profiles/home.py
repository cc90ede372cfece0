"""What of the home folder is kept in the image, and what must be in it."""

from __future__ import annotations

import shutil

from . import browser, libreoffice, vlc
from .desktop import HOME, ProfileError

# Traces of this run that a fresh sandbox must not find. Kept on purpose: ~/.cache/mesa_shader_cache and
# ~/.cache/gstreamer-1.0, which make the next start faster.
TRACES = (
    ".Xauthority",
    ".bash_history",
    ".cache/gnome-screenshot",
    ".cache/chromium",
    ".cache/google-chrome",
    ".cache/thunderbird",
    ".cache/tracker3",
    ".config/chromium",
    ".config/dconf",
    ".config/google-chrome/*/Cache",
    ".config/google-chrome/*/Code Cache",
    ".config/google-chrome/*/GPUCache",
    ".config/google-chrome/*/Sessions",
    ".config/google-chrome/Crash Reports",
    ".config/google-chrome/Singleton*",
    ".config/google-chrome/component_crx_cache",
    ".config/ibus",
    ".config/pulse",
    ".local/share/gvfs-metadata",
    ".local/share/recently-used.xbel",
    ".local/share/tracker3",
    # Were it kept, a profile that a task unpacks over ours would lose against it.
    ".thunderbird/installs.ini",
    ".thunderbird/*/lock",
    ".thunderbird/*/.parentlock",
    "thunderbird",
)


EXPECTED = (
    "Desktop",
    ".cache/mesa_shader_cache",
    ".config/GIMP/2.10/pluginrc",
    ".config/google-chrome/Default/Preferences",
    ".config/libreoffice/4/user/registrymodifications.xcu",
    ".config/user-dirs.dirs",
    ".config/vlc/vlcrc",
    ".local/share/gnome-shell/lock-warning-shown",
    ".thunderbird/profiles.ini",
    ".thunderbird/*/prefs.js",
)


def remove_traces() -> None:
    """Delete what this run left and no fresh desktop should start with."""
    for path in [path for pattern in TRACES for path in HOME.glob(pattern)]:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def check() -> None:
    """Demand every profile as wanted; a ProfileError that names all that is not."""
    faults = [
        *(f"missing: {name}" for name in EXPECTED if not any(HOME.glob(name))),
        *(f"left over: {name}" for name in TRACES if any(HOME.glob(name))),
        *(f"LibreOffice item {name}" for name in libreoffice.missing_items(libreoffice.REGISTRY)),
        *(f"VLC option {name}" for name in vlc.missing_options(vlc.SETTINGS)),
        *browser.faults(browser.PREFERENCES),
        *(f"not the user's: {path}" for path in HOME.rglob("*") if path.lstat().st_uid != HOME.stat().st_uid),
    ]
    if faults:
        raise ProfileError("the home folder is not as wanted: " + "; ".join(faults))
