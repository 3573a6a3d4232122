"""A stateful sandbox for a domain-registration reseller API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reseller_sandbox.core.refusals import Refused
    from reseller_sandbox.sandbox import Sandbox, connect

__all__ = ["Refused", "Sandbox", "connect"]


def __getattr__(name: str) -> Any:
    """Load what is asked for, and Flask with a sandbox, for those who ask for it."""
    if name in ("Sandbox", "connect"):
        from reseller_sandbox import sandbox

        return getattr(sandbox, name)
    if name == "Refused":
        from reseller_sandbox.core.refusals import Refused

        return Refused
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
