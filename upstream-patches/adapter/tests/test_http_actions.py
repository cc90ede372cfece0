from __future__ import annotations

from typing import Any

import pytest

from osworld_adapter.agent_config import WaitSeconds
from osworld_adapter.fields import FieldError
from osworld_adapter.http_actions import parse_actions

SCREEN = (1920, 1080)


@pytest.mark.parametrize(
    ("action", "text"),
    [
        ("DONE", "DONE"),
        (" pyautogui.press('a')\n", "pyautogui.press('a')"),
        ({"type": "click", "x": 3, "y": 4}, "pyautogui.click(3, 4, clicks=1, interval=0.1, button='left')"),
        (
            {"type": "click", "x": 0, "y": 1079, "button": "right", "count": 2},
            "pyautogui.click(0, 1079, clicks=2, interval=0.1, button='right')",
        ),
        ({"type": "move", "x": 3, "y": 4}, "pyautogui.moveTo(3, 4)"),
        (
            {"type": "drag", "x": 1, "y": 2, "to_x": 3, "to_y": 4},
            "pyautogui.moveTo(1, 2); pyautogui.dragTo(3, 4, duration=0.5, button='left')",
        ),
        ({"type": "type", "text": 'it\'s "so"\n'}, "pyautogui.typewrite('it\\'s \"so\"\\n', interval=0.01)"),
        (
            {"type": "type", "text": "a<b"},
            "pyautogui.typewrite('a', interval=0.01); pyautogui.hotkey('shift', ','); "
            "pyautogui.typewrite('b', interval=0.01)",
        ),
        ({"type": "type", "text": "<"}, "pyautogui.hotkey('shift', ',')"),
        ({"type": "key", "keys": ["ctrl", "s"]}, "pyautogui.hotkey('ctrl', 's')"),
        ({"type": "scroll", "x": 1, "y": 2, "direction": "down", "clicks": 3}, "pyautogui.scroll(-3, 1, 2)"),
        ({"type": "scroll", "x": 1, "y": 2, "direction": "right", "clicks": 3}, "pyautogui.hscroll(3, 1, 2)"),
        ({"type": "wait", "seconds": 0.5}, WaitSeconds(0.5)),
    ],
)
def test_an_action_is_text_for_pyautogui(action: Any, text: Any) -> None:
    assert parse_actions([action], SCREEN) == (text,)
    if isinstance(text, str):
        compile(text, "action", "exec")


@pytest.mark.parametrize(
    ("actions", "sentence"),
    [
        ("DONE", "actions must be a list, not 'DONE'"),
        (["WAIT"] * 101, "actions must be 100 at most, not 101"),
        ([""], "actions[0] must be text of 1 to 100000 characters"),
        ([7], "actions[0] must be an object, not 7"),
        (
            ["WAIT", {"type": "clik"}],
            "actions[1].type must be one of click, move, drag, type, key, scroll, wait, not 'clik'",
        ),
        ([{"type": "click", "x": 1}], "actions[0].y is missing; it must be a whole number"),
        ([{"type": "click", "x": 1920, "y": 1}], "actions[0].x must be 0 to 1919, not 1920"),
        ([{"type": "click", "x": 1.5, "y": 1}], "actions[0].x must be a whole number, not 1.5"),
        ([{"type": "click", "x": 1, "y": 1, "cnt": 2}], "actions[0].cnt is not known; did you mean count?"),
        (
            [{"type": "click", "x": 1, "y": 1, "button": "top"}],
            "actions[0].button must be one of left, middle, right, not 'top'",
        ),
        ([{"type": "key", "keys": []}], "actions[0].keys must be a list of 1 to 5 names of keys"),
        ([{"type": "type", "text": ""}], "actions[0].text must have 1 to 100000 characters"),
        (["print('\0')"], "actions[0] holds a NUL character, which no program can be given"),
        (["print('\ud800')"], "actions[0] holds half of a surrogate pair, which is no character"),
        (
            [{"type": "type", "text": "\u4e00" * 50_000}],
            "actions[0] needs 150038 bytes, and 120000 are the most that the guest takes",
        ),
        (["<" * 2_000], "actions[0] needs 162000 bytes, and 120000 are the most that the guest takes"),
        (
            [{"type": "wait", "seconds": 10**400}],
            "actions[0].seconds must be a number that a computer can hold",
        ),
        ([{"type": "wait", "seconds": 601}], "actions[0].seconds must be more than 0 and at most 600"),
    ],
)
def test_an_action_that_makes_no_sense_is_refused(actions: Any, sentence: str) -> None:
    with pytest.raises(FieldError) as refused:
        parse_actions(actions, SCREEN)
    assert str(refused.value) == sentence
