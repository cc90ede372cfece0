"""Actions of the HTTP agent protocol as what DesktopEnv's `step` takes: text for pyautogui."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from osworld_adapter.action_text import unsendable
from osworld_adapter.agent_config import Action, WaitSeconds
from osworld_adapter.fields import FieldError, Fields

MAX_ACTIONS = 100
MAX_TEXT = 100_000
MAX_CLICKS = 100
MAX_KEYS = 5
MAX_WAIT_SECONDS = 600.0
BUTTONS = ("left", "middle", "right")
Screen = tuple[int, int]


def parse_actions(value: object, screen: Screen) -> tuple[Action, ...]:
    """The actions of one answer; FieldError says which is wrong and what it must be."""
    if not isinstance(value, list):
        raise FieldError(f"actions must be a list, not {value!r:.80}")
    if len(value) > MAX_ACTIONS:
        raise FieldError(f"actions must be {MAX_ACTIONS} at most, not {len(value)}")
    return tuple(_action(item, f"actions[{number}]", screen) for number, item in enumerate(value))


def _action(value: object, path: str, screen: Screen) -> Action:
    action = _made(value, path, screen)
    if isinstance(action, str) and (fault := unsendable(action)):
        raise FieldError(f"{path} {fault}")
    return action


def _made(value: object, path: str, screen: Screen) -> Action:
    if isinstance(value, str):
        if not value.strip() or len(value) > MAX_TEXT:
            raise FieldError(f"{path} must be text of 1 to {MAX_TEXT} characters")
        return value.strip()
    fields = Fields(value, path)
    action = _MAKERS[fields.choice("type", tuple(_MAKERS))](fields, screen)
    fields.finish()
    return action


def _click(fields: Fields, screen: Screen) -> str:
    x, y = _point(fields, screen)
    count = _within(fields, "count", 1, 3, 1)
    return f"pyautogui.click({x}, {y}, clicks={count}, interval=0.1, button={_button(fields)!r})"


def _move(fields: Fields, screen: Screen) -> str:
    x, y = _point(fields, screen)
    return f"pyautogui.moveTo({x}, {y})"


def _drag(fields: Fields, screen: Screen) -> str:
    x, y = _point(fields, screen)
    to_x, to_y = _point(fields, screen, "to_x", "to_y")
    return f"pyautogui.moveTo({x}, {y}); pyautogui.dragTo({to_x}, {to_y}, duration=0.5, button={_button(fields)!r})"


def _type(fields: Fields, screen: Screen) -> str:
    del screen
    text = fields.take("text", str)
    if not text or len(text) > MAX_TEXT:
        raise FieldError(f"{fields.path('text')} must have 1 to {MAX_TEXT} characters")
    # pyautogui types `>` for `<` on the desktop's keyboard, so that key is pressed by its place.
    statements: list[str] = []
    for number, part in enumerate(text.split("<")):
        statements += ["pyautogui.hotkey('shift', ',')"] if number else []
        statements += [f"pyautogui.typewrite({part!r}, interval=0.01)"] if part else []
    return "; ".join(statements)


def _key(fields: Fields, screen: Screen) -> str:
    del screen
    keys = fields.take("keys", list)
    if not keys or len(keys) > MAX_KEYS or not all(isinstance(key, str) and key for key in keys):
        raise FieldError(f"{fields.path('keys')} must be a list of 1 to {MAX_KEYS} names of keys")
    return f"pyautogui.hotkey({', '.join(repr(key) for key in keys)})"


def _scroll(fields: Fields, screen: Screen) -> str:
    x, y = _point(fields, screen)
    clicks = _within(fields, "clicks", 1, MAX_CLICKS)
    direction = fields.choice("direction", ("up", "down", "left", "right"))
    function = "scroll" if direction in ("up", "down") else "hscroll"
    return f"pyautogui.{function}({clicks if direction in ('up', 'right') else -clicks}, {x}, {y})"


def _wait(fields: Fields, screen: Screen) -> WaitSeconds:
    del screen
    seconds = fields.take("seconds", float)
    if not 0 < seconds <= MAX_WAIT_SECONDS:
        raise FieldError(f"{fields.path('seconds')} must be more than 0 and at most {MAX_WAIT_SECONDS:.0f}")
    return WaitSeconds(seconds)


_MAKERS: dict[str, Callable[[Fields, Screen], Action]] = {
    "click": _click,
    "move": _move,
    "drag": _drag,
    "type": _type,
    "key": _key,
    "scroll": _scroll,
    "wait": _wait,
}


def _point(fields: Fields, screen: Screen, x: str = "x", y: str = "y") -> tuple[int, int]:
    return _within(fields, x, 0, screen[0] - 1), _within(fields, y, 0, screen[1] - 1)


def _button(fields: Fields) -> str:
    button: Any = fields.take("button", str, "left")
    if button not in BUTTONS:
        raise FieldError(f"{fields.path('button')} must be one of {', '.join(BUTTONS)}, not {button!r:.80}")
    return str(button)


def _within(fields: Fields, key: str, low: int, high: int, default: int | None = None) -> int:
    value = fields.take(key, int) if default is None else fields.take(key, int, default)
    if not low <= value <= high:
        raise FieldError(f"{fields.path(key)} must be {low} to {high}, not {value}")
    return value
