"""Modules that OSWorld's agents import and its package does not bring, or brings only with heavy packages."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from types import ModuleType

QWEN_GEOMETRY = "mm_agents.utils.qwen_vl_utils"
GOOGLE_ERRORS = "google.api_core.exceptions"
# The four that the agents name in their lists of errors to retry; nobody raises them on the paths that are used here.
_GOOGLE_ERROR_NAMES = ("InvalidArgument", "ResourceExhausted", "InternalServerError", "BadRequest")
_WORST_RATIO = 200


def smart_resize(
    height: int,
    width: int,
    factor: int = 28,
    min_pixels: int = 56 * 56,
    max_pixels: int = 14 * 14 * 4 * 1280,
) -> tuple[int, int]:
    """Height and width for a Qwen-VL model: multiples of `factor` near the same shape, with a bounded area.

    Source of rule and defaults: the public description of Qwen's image processor.
    """
    short, long = sorted((height, width))
    if short < 2 or long > _WORST_RATIO * short:
        raise ValueError(f"a picture of {width}x{height} is too thin for the model")
    sides = round(height / factor) * factor, round(width / factor) * factor
    area = sides[0] * sides[1]
    if min_pixels <= area <= max_pixels:
        return sides
    bound, to_whole = (max_pixels, math.floor) if area > max_pixels else (min_pixels, math.ceil)
    scale = math.sqrt(bound / (height * width))
    return to_whole(height * scale / factor) * factor, to_whole(width * scale / factor) * factor


def _geometry() -> ModuleType:
    module = ModuleType(QWEN_GEOMETRY)
    vars(module)["smart_resize"] = smart_resize
    return module


def _google_errors() -> ModuleType:
    module = ModuleType(GOOGLE_ERRORS)
    vars(module).update({name: type(name, (Exception,), {}) for name in _GOOGLE_ERROR_NAMES})
    return module


SUPPLIED: dict[str, Callable[[], ModuleType]] = {QWEN_GEOMETRY: _geometry, GOOGLE_ERRORS: _google_errors}


def supply(names: Iterable[str]) -> dict[str, ModuleType]:
    """The modules of these names; KeyError for one that is not here."""
    return {name: SUPPLIED[name]() for name in names}
