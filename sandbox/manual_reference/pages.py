"""The list of the reference pages, each with the function that yields its content."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from manual_reference import (
    assumptions,
    commands,
    control,
    errors,
    faults,
    fixture,
    headers,
    lifecycle,
    operations,
    python,
    settings,
)
from reseller_sandbox.control.catalogue import RESOURCES
from reseller_sandbox.v2.interface import V2
from reseller_sandbox.v3.interface import V3

#: The function of each page, by the page's name below ``reference/``.
REFERENCE: Mapping[str, Callable[[], Iterator[str]]] = {
    "operations-v3": partial(operations.page, V3, "v3"),
    "operations-v2": partial(operations.page, V2, "v2.0"),
    "errors": errors.page,
    "headers": headers.page,
    "lifecycle": lifecycle.page,
    "assumptions": assumptions.page,
    "settings": settings.page,
    "python-api": python.page,
    "commands": commands.page,
    "fault-kinds": faults.page,
    "fixture-format": fixture.page,
    "control-operations": control.overview,
    **{f"control-{name}": partial(control.page, resource) for name, resource in RESOURCES.items()},
}


def text_of(name: str) -> str:
    """Return the Markdown text of a reference page."""
    return "\n\n".join(filter(None, REFERENCE[name]())) + "\n"
