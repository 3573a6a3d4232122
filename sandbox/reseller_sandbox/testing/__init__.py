"""Help for the tests of those who build on the reseller API: pytest fixtures, HTTP adapters, clocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reseller_sandbox.testing.clocks import freeze_time

__all__ = ["freeze_time"]


def __getattr__(name: str) -> Any:
    """Load what is asked for only then: pytest loads this package for every test run."""
    if name == "freeze_time":
        from reseller_sandbox.testing import clocks

        return clocks.freeze_time
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
