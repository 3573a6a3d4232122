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
    takes_body: bool


@cache
def operations() -> dict[str, Operation]:
    """Return every operation of v3 by its id."""
    found: dict[str, Operation] = {}
    for path, methods in document("v3").content["paths"].items():
        for method, told in methods.items():
            errors = {
                code: int(status)
                for status, answer in told["responses"].items()
                if status != "200"
                for code in answer["content"]["application/json"].get("examples", {})
            }
            paths = found[told[ID]].paths if told[ID] in found else ()
            takes_body = "requestBody" in told
            found[told[ID]] = Operation(told[ID], method.upper(), (*paths, path), errors, takes_body)
    return found
