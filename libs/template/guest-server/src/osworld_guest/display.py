"""The one connection to the X server, made when first needed and again when the server has gone."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from osworld_guest.errors import GuestError

T = TypeVar("T")

_TURN_SECONDS = 10.0


@dataclass(frozen=True)
class Cursor:
    """The mouse cursor's picture: its place on the screen and its pixels, 32 bits each, alpha premultiplied."""

    left: int
    top: int
    width: int
    height: int
    pixels: Sequence[int]


@dataclass(frozen=True)
class Frame:
    """The screen's pixels (blue, green, red, unused; rows without padding) and the cursor, if X could give it."""

    width: int
    height: int
    pixels: bytes
    cursor: Cursor | None


class Screen:
    """What is asked of the X server. Failures are GuestErrors (500)."""

    def __init__(self, display_name: str | None = None) -> None:
        """`display_name` such as ":0"; by default DISPLAY of the environment, or ":0"."""
        self._display_name = display_name or os.environ.get("DISPLAY") or ":0"
        self._turn = threading.Lock()
        self._display: Any = None

    @property
    def display_name(self) -> str:
        return self._display_name

    def size(self) -> tuple[int, int]:
        """Width and height in pixels, as they are now."""
        return self._ask(_size)

    def cursor_position(self) -> tuple[int, int]:
        """The mouse pointer's place."""
        return self._ask(_pointer)

    def frame(self) -> Frame:
        """All pixels and the cursor."""
        return self._ask(_frame)

    def window_size(self, class_name: str) -> tuple[int, int] | None:
        """The size of the largest managed window with that class or instance name, in any case."""
        return self._ask(lambda display: _window_size(display, class_name))

    def close(self) -> None:
        """Ends the connection; the next question makes a new one."""
        display, self._display = self._display, None
        if display is not None:
            # A broken connection, which is the reason for most calls, refuses the farewell.
            with contextlib.suppress(*_x_errors()):
                display.close()

    def _ask(self, question: Callable[[Any], T]) -> T:
        if not self._turn.acquire(timeout=_TURN_SECONDS):
            raise GuestError(500, f"The X server {self._display_name!r} does not answer.")
        try:
            return self._ask_again_if_lost(question)
        finally:
            self._turn.release()

    def _ask_again_if_lost(self, question: Callable[[Any], T]) -> T:
        was_connected = self._display is not None
        try:
            return question(self._connected())
        except _x_errors() as problem:
            self.close()
            if not was_connected:
                raise GuestError(500, f"The X server {self._display_name!r} cannot be used: {problem}") from problem
        return self._ask_again_if_lost(question)

    def _connected(self) -> Any:
        if self._display is None:
            # Imported late: the server must start and answer without the X libraries' cost.
            from Xlib.display import Display  # noqa: PLC0415

            self._display = Display(self._display_name)
            if self._display.has_extension("XFIXES"):
                self._display.xfixes_query_version()
        # Keyboard changes are reported to every client, asked for or not; unread ones would pile up.
        while self._display.pending_events():
            self._display.next_event()
        return self._display


def _x_errors() -> tuple[type[Exception], ...]:
    from Xlib import error  # noqa: PLC0415

    own = (error.ConnectionClosedError, error.DisplayError, error.XError, error.XauthError, error.XNoAuthError)
    return (OSError, *own)


def _size(display: Any) -> tuple[int, int]:
    geometry = display.screen().root.get_geometry()
    return geometry.width, geometry.height


def _pointer(display: Any) -> tuple[int, int]:
    pointer = display.screen().root.query_pointer()
    return pointer.root_x, pointer.root_y


def _frame(display: Any) -> Frame:
    from Xlib import X  # noqa: PLC0415

    root = display.screen().root
    geometry = root.get_geometry()
    if geometry.depth not in (24, 32):
        raise GuestError(500, f"The screen has {geometry.depth} bits a pixel, which is not supported.")
    image = root.get_image(0, 0, geometry.width, geometry.height, X.ZPixmap, 0xFFFFFFFF)
    return Frame(geometry.width, geometry.height, image.data, _cursor(display, root))


def _cursor(display: Any, root: Any) -> Cursor | None:
    if not display.has_extension("XFIXES"):
        return None
    image = display.xfixes_get_cursor_image(root)
    return Cursor(image.x - image.xhot, image.y - image.yhot, image.width, image.height, image.cursor_image)


def _window_size(display: Any, class_name: str) -> tuple[int, int] | None:
    from Xlib import X, error  # noqa: PLC0415

    clients = display.screen().root.get_full_property(display.intern_atom("_NET_CLIENT_LIST"), X.AnyPropertyType)
    sizes = []
    for identifier in clients.value if clients else []:
        window = display.create_resource_object("window", identifier)
        try:
            names = window.get_wm_class() or ()
            geometry = window.get_geometry()
        except error.BadWindow:
            continue
        if class_name.lower() in (name.lower() for name in names):
            sizes.append((geometry.width, geometry.height))
    return max(sizes, key=lambda size: size[0] * size[1], default=None)
