"""The routes about the screen, its windows, the wallpaper, the recording and the accessibility tree."""

from __future__ import annotations

import ast
import platform
from pathlib import Path
from urllib.parse import unquote, urlsplit

from osworld_guest import windows
from osworld_guest.accessibility.service import AccessibilityReader
from osworld_guest.display import Screen
from osworld_guest.errors import GuestError
from osworld_guest.fields import flag_field, text_field, user_path
from osworld_guest.file_routes import file_answer
from osworld_guest.messages import Answer, Request, json_answer, text_answer
from osworld_guest.processes import LimitReached, Run, run
from osworld_guest.recording import Recorder

_SETTINGS_SECONDS = 10.0
_BACKGROUND = "org.gnome.desktop.background"


class DesktopRoutes:
    """The routes that share the X connection, the recorder and the accessibility reader."""

    def __init__(self, screen: Screen, recorder: Recorder, accessibility: AccessibilityReader) -> None:
        self._screen = screen
        self._recorder = recorder
        self._accessibility = accessibility

    def screenshot(self, _request: Request) -> Answer:
        """The screen as PNG."""
        # Imported late: the picture library costs start time.
        from osworld_guest.screenshot import encode_png  # noqa: PLC0415

        return Answer(200, "image/png", encode_png(self._screen.frame()))

    def screen_size(self, _request: Request) -> Answer:
        """`width` and `height` in pixels."""
        width, height = self._screen.size()
        return json_answer({"width": width, "height": height})

    def cursor_position(self, _request: Request) -> Answer:
        """A pair of x and y."""
        return json_answer(self._screen.cursor_position())

    def window_size(self, request: Request) -> Answer:
        """`width` and `height` of a window of the form's `app_class_name`; 404 when there is none."""
        name = request.form_field("app_class_name")
        size = self._screen.window_size(name)
        if size is None:
            raise GuestError(404, f"No window has the class {name!r}.")
        return json_answer({"width": size[0], "height": size[1]})

    def accessibility(self, _request: Request) -> Answer:
        """The tree as XML text in `AT`."""
        return json_answer({"AT": self._accessibility.read("tree")})

    def terminal(self, _request: Request) -> Answer:
        """The text of the focused terminal in `output`, null when none has the focus."""
        return json_answer({"output": self._accessibility.read("terminal"), "status": "success"})

    def start_recording(self, _request: Request) -> Answer:
        """Starts a recording; 400 when one runs."""
        self._recorder.start(self._screen.display_name, self._screen.size)
        return json_answer({"status": "success", "message": "Recording started"})

    def end_recording(self, _request: Request) -> Answer:
        """Ends the recording and sends it; 400 when none runs."""
        return file_answer(self._recorder.end(), "video/mp4")


def platform_name(_request: Request) -> Answer:
    """The operating system's name."""
    return text_answer(platform.system())


def desktop_path(_request: Request) -> Answer:
    """The folder of the desktop's icons."""
    folder = Path.home() / "Desktop"
    if not folder.is_dir():
        raise GuestError(404, f"The desktop folder {str(folder)!r} does not exist.")
    return json_answer({"desktop_path": str(folder)})


def wallpaper(_request: Request) -> Answer:
    """The picture file of the desktop's background."""
    shown = _settings(["get", _BACKGROUND, "picture-uri"]).strip()
    address = urlsplit(str(ast.literal_eval(shown)) if shown.startswith(("'", '"')) else shown)
    if not address.path:
        raise GuestError(404, "The desktop has no wallpaper.")
    return file_answer(Path(unquote(address.path)), "application/octet-stream")


def change_wallpaper(request: Request) -> Answer:
    """Makes the picture at `path` the wallpaper, in the light and in the dark style."""
    path = user_path(text_field(request.json_object(), "path"))
    if not path.is_file():
        raise GuestError(404, f"The file {str(path)!r} does not exist.")
    for key in ("picture-uri-dark", "picture-uri"):
        _settings(["set", _BACKGROUND, key, path.as_uri()])
    return text_answer("Wallpaper changed successfully")


def open_file(request: Request) -> Answer:
    """Opens `path` with its application and waits for the window."""
    path = user_path(text_field(request.json_object(), "path"))
    if not path.exists():
        raise GuestError(404, f"The file {str(path)!r} does not exist.")
    window = windows.open_file(path)
    return text_answer(f"File opened in the window {window.title!r}")


def activate_window(request: Request) -> Answer:
    """Brings the window `window_name` to the front."""
    fields = request.json_object()
    name = text_field(fields, "window_name")
    windows.activate_window(name, strict=flag_field(fields, "strict"), by_class=flag_field(fields, "by_class"))
    return text_answer("Window activated successfully")


def close_window(request: Request) -> Answer:
    """Asks the window `window_name` to close."""
    fields = request.json_object()
    name = text_field(fields, "window_name")
    windows.close_window(name, strict=flag_field(fields, "strict"), by_class=flag_field(fields, "by_class"))
    return text_answer("Window closed successfully")


def _settings(arguments: list[str]) -> str:
    try:
        finished = run(["gsettings", *arguments], Run(_SETTINGS_SECONDS))
    except LimitReached as reached:
        raise GuestError(500, "The desktop's settings do not answer.") from reached
    if finished.returncode != 0:
        raise GuestError(500, f"gsettings failed: {finished.error.strip()}")
    return finished.output
