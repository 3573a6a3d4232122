"""The reference pages. A module of the same name yields the content of each page."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from reseller_sandbox.control.resource import Resource

Resources = Mapping[str, type[Resource]]

#: The names of the pages, in their order.
REFERENCE = (
    *("operations", "errors", "headers", "lifecycle", "assumptions"),
    *("settings", "commands", "control", "faults", "fixture"),
)


def text_of(name: str, resources: Resources) -> str:
    """Return a page as Markdown."""
    parts = import_module(f"manual_reference.{name}").page(resources)
    return "\n\n".join(filter(None, parts)) + "\n"
