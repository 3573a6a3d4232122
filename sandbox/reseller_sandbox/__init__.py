"""A stateful sandbox for a domain-registration reseller API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reseller_sandbox.inprocess import Sandbox

__all__ = ["Sandbox"]


def __getattr__(name: str) -> Any:
    """Load ``Sandbox``, and Flask with it, for those who ask for it."""
    if name == "Sandbox":
        from reseller_sandbox.inprocess import Sandbox

        return Sandbox
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
