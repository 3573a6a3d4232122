"""Reading of JSON text from outside, with a limit on its nesting."""

from __future__ import annotations

import json
from itertools import chain
from typing import Any

#: The maximum number of arrays and objects inside each other. Values of the API have 4 levels. Deeper values
#: would end recursive functions with RecursionError.
MAX_NESTING = 64


class NestedTooDeeply(ValueError):
    """Error for a JSON value with too many levels. Its text completes "the JSON …"."""

    def __init__(self) -> None:
        super().__init__(f"has more than {MAX_NESTING} levels of nesting")


def load_json(raw: str | bytes, **hooks: Any) -> object:
    """Return the value of the JSON text ``raw``. ``hooks`` are the arguments of ``json.loads``.

    Raise ``NestedTooDeeply``, or another ValueError if ``raw`` is not JSON.
    """
    try:
        value = json.loads(raw, **hooks)
    except RecursionError:
        raise NestedTooDeeply from None
    level: list[Any] = [[value]]
    for _ in range(MAX_NESTING + 1):
        items = chain.from_iterable(outer.values() if isinstance(outer, dict) else outer for outer in level)
        level = [item for item in items if isinstance(item, dict | list)]
        if not level:
            return value
    raise NestedTooDeeply
