from __future__ import annotations

import pytest

from osworld_adapter.supplied_modules import GOOGLE_ERRORS, smart_resize, supply


@pytest.mark.parametrize(
    ("size", "options", "resized"),
    [
        ((1080, 1920), {"factor": 32, "max_pixels": 16 * 16 * 4 * 12800}, (1088, 1920)),
        ((1080, 1920), {}, (728, 1316)),
        ((1080, 1920), {"factor": 28, "max_pixels": 16384 * 28 * 28}, (1092, 1932)),
        ((20, 30), {}, (56, 84)),
        ((4000, 20), {"max_pixels": 10**6}, (4004, 28)),
    ],
)
def test_a_picture_gets_sides_that_the_model_takes(
    size: tuple[int, int], options: dict[str, int], resized: tuple[int, int]
) -> None:
    height, width = smart_resize(*size, **options)
    factor = options.get("factor", 28)
    assert (height % factor, width % factor) == (0, 0)
    assert 56 * 56 <= height * width <= options.get("max_pixels", 14 * 14 * 4 * 1280)
    assert (height, width) == resized


@pytest.mark.parametrize("size", [(1, 300), (10, 2001)])
def test_a_picture_that_is_too_thin_is_refused(size: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="too thin for the model"):
        smart_resize(*size)


def test_supplied_errors_can_be_caught() -> None:
    errors = supply([GOOGLE_ERRORS])[GOOGLE_ERRORS]
    with pytest.raises(errors.BadRequest):
        raise errors.BadRequest("no")
