"""Shapes of JSON values, for tests that say field by field what an answer is."""

from __future__ import annotations

import re
from typing import Any


def fits(value: Any, shape: Any, path: str = "answer") -> None:
    """Assert that ``value`` has ``shape``.

    A mapping has exactly the keys of its shape; the one item of a list shape is every item's; a type
    is the value's own type; a pattern matches the whole string; anything else is the value itself.
    """
    if isinstance(shape, dict):
        assert isinstance(value, dict), f"{path} is {value!r}"
        assert set(value) == set(shape), f"{path} has the keys {sorted(value)}, not {sorted(shape)}"
        for key, inner in shape.items():
            fits(value[key], inner, f"{path}.{key}")
    elif isinstance(shape, list):
        assert isinstance(value, list), f"{path} is {value!r}"
        for number, item in enumerate(value):
            fits(item, shape[0], f"{path}[{number}]")
    elif isinstance(shape, type):
        assert type(value) is shape, f"{path} is {value!r}"
    elif isinstance(shape, re.Pattern):
        assert isinstance(value, str), f"{path} is {value!r}"
        assert shape.fullmatch(value), f"{path} is {value!r}"
    else:
        assert value == shape, f"{path} is {value!r}, not {shape!r}"
        assert type(value) is type(shape), f"{path} is {value!r}, not {shape!r}"


ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
