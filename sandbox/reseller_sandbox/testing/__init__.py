"""Test support for clients of the reseller API: fixtures, HTTP clients, clocks, containers.

Names are imported lazily, because pytest loads this package for every test run, and because httpx, requests,
urllib3, aiohttp, freezegun and testcontainers are optional.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reseller_sandbox.values.extras import needs

if TYPE_CHECKING:
    from reseller_sandbox.clients.fake_connection import EndlessWait
    from reseller_sandbox.clients.fence import NetworkRefused
    from reseller_sandbox.clients.with_aiohttp import SandboxConnector
    from reseller_sandbox.clients.with_httpx import SandboxTransport
    from reseller_sandbox.clients.with_requests import SandboxAdapter
    from reseller_sandbox.clients.with_urllib3 import SandboxPoolManager
    from reseller_sandbox.testing.clocks import freeze_time
    from reseller_sandbox.testing.containers import SandboxContainer
    from reseller_sandbox.testing.explaining import expect_explained

__all__ = [
    "EndlessWait",
    "NetworkRefused",
    "SandboxAdapter",
    "SandboxConnector",
    "SandboxContainer",
    "SandboxPoolManager",
    "SandboxTransport",
    "expect_explained",
    "freeze_time",
]


#: The module of each public name, and the package that must be installed for it.
_MODULES = {
    "EndlessWait": ("clients.fake_connection", ""),
    "NetworkRefused": ("clients.fence", ""),
    "SandboxAdapter": ("clients.with_requests", "requests"),
    "SandboxConnector": ("clients.with_aiohttp", "aiohttp"),
    "SandboxContainer": ("testing.containers", "testcontainers"),
    "SandboxPoolManager": ("clients.with_urllib3", "urllib3"),
    "SandboxTransport": ("clients.with_httpx", "httpx"),
    "expect_explained": ("testing.explaining", ""),
    "freeze_time": ("testing.clocks", "freezegun"),
}


def __getattr__(name: str) -> Any:
    """Import the public name ``name`` from its module on first use."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, package = _MODULES[name]
    try:
        return getattr(import_module(f"reseller_sandbox.{module}"), name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(needs(name, package), name=error.name) from None
