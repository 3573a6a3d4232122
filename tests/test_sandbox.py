"""Sandboxes are cheap to make, so that each test can have one of its own."""

from __future__ import annotations

import sys

from marshmallow.schema import SchemaMeta

from reseller_sandbox import Sandbox
from tests.registry import REGISTRY


def test_only_the_first_of_a_process_makes_schemas_and_compiles() -> None:
    """What follows from the code alone is made once; a further sandbox reads its fixture and adds routes."""
    Sandbox(REGISTRY)
    made: list[str] = []

    def watch(frame: object, event: str, about: object) -> None:
        if event == "c_call" and about is compile:
            made.append("code")
        if event == "call" and getattr(frame, "f_code", None) is SchemaMeta.__new__.__code__:
            made.append("schema")

    sys.setprofile(watch)
    try:
        Sandbox(REGISTRY)
    finally:
        sys.setprofile(None)
    assert made == []
