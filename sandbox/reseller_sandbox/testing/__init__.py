"""Help for the tests of those who build on the reseller API: fixtures, HTTP clients, clocks, containers.

What it offers is loaded when it is asked for: pytest loads this package for every test run, and httpx,
requests, freezegun and testcontainers need not be there.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reseller_sandbox.clients.fake_connection import EndlessWait
    from reseller_sandbox.clients.interception import NetworkRefused
    from reseller_sandbox.clients.with_httpx import SandboxTransport
    from reseller_sandbox.clients.with_requests import SandboxAdapter
    from reseller_sandbox.testing.clocks import freeze_time
    from reseller_sandbox.testing.containers import SandboxContainer
    from reseller_sandbox.testing.explaining import expect_explained

__all__ = [
    "EndlessWait",
    "NetworkRefused",
    "SandboxAdapter",
    "SandboxContainer",
    "SandboxTransport",
    "expect_explained",
    "freeze_time",
]


def __getattr__(name: str) -> Any:
    """Return what this package offers under ``name``, from the module that has it."""
    homes = {
        "EndlessWait": "clients.fake_connection",
        "NetworkRefused": "clients.interception",
        "SandboxAdapter": "clients.with_requests",
        "SandboxContainer": "testing.containers",
        "SandboxTransport": "clients.with_httpx",
        "expect_explained": "testing.explaining",
        "freeze_time": "testing.clocks",
    }
    if name in homes:
        return getattr(import_module(f"reseller_sandbox.{homes[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
