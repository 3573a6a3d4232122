"""The operations of v3, as the OpenAPI document of a sandbox lists them."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from tests.documented import ID, document


class Operation(NamedTuple):
    """An operation: its method, its paths, and the documented status of each of its error codes."""

    id: str
    method: str
    paths: tuple[str, ...]
    errors: dict[str, int]


@cache
def operations() -> dict[str, Operation]:
    """Return every operation of v3 by its id."""
    known: dict[str, Operation] = {}
    for path, methods in document("v3").content["paths"].items():
        for method, row in methods.items():
            errors = {
                code: int(status)
                for status, answer in row["responses"].items()
                if status != "200"
                for code in answer["content"]["application/json"].get("examples", {})
            }
            paths = known[row[ID]].paths if row[ID] in known else ()
            known[row[ID]] = Operation(row[ID], method.upper(), (*paths, path), errors)
    return known
