"""A stateful sandbox for a domain-registration reseller API."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reseller_sandbox.control.results import MissingRecord
    from reseller_sandbox.refusals import Refused
    from reseller_sandbox.sandbox import Sandbox, connect, intercept, replay
    from reseller_sandbox.settings import BadSetting

__all__ = ["BadSetting", "MissingRecord", "Refused", "Sandbox", "connect", "intercept", "replay"]

_WHERE = {
    "BadSetting": "reseller_sandbox.settings",
    "MissingRecord": "reseller_sandbox.control.results",
    "Refused": "reseller_sandbox.refusals",
    "Sandbox": "reseller_sandbox.sandbox",
    "connect": "reseller_sandbox.sandbox",
    "intercept": "reseller_sandbox.sandbox",
    "replay": "reseller_sandbox.sandbox",
}


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__


def __getattr__(name: str) -> Any:
    """Import a public name on first use, because a sandbox loads Flask."""
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
