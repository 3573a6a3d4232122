"""The reference page of the assumptions: open points of the contract, with their values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from manual_reference.markdown import code, prose, table
from reseller_sandbox.registry.assumptions import Assumptions, catalogue, profile, spelt


def page() -> Iterator[str]:
    """Yield the parts of the page."""
    yield "# Assumptions"
    yield "An assumption is the sandbox's choice where the contract of the reseller API leaves a point open."
    yield (
        "The page [Assumptions explained](../explanation/why-assumptions.md) describes how to set "
        "assumptions, and why they exist. If the profile `observed` has a value that is not the default, the "
        "value is in the column *observed*."
    )
    headings = ("assumption", "default", "observed", "takes", "description")
    yield table(headings, map(_row, catalogue(Assumptions())))


def _row(entry: dict[str, object]) -> Sequence[str]:
    default, observed = spelt(entry["default"]), spelt(profile("observed").values()[str(entry["name"])])
    return (
        code(entry["name"]),
        code(default),
        code("" if observed == default else observed),
        prose(entry["takes"]),
        prose(entry["about"]),
    )
