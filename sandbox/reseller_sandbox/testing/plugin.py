"""The pytest plugin: a sandbox for every test, as it was at the start, at the cost of a reset.

It is there once reseller-sandbox is installed. ``@pytest.mark.sandbox(...)``
gives a test, a class or a module a sandbox of other settings: whatever
``Sandbox`` takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from reseller_sandbox import Sandbox


class _Kept:
    """The sandboxes and servers of a test session, one for each set of settings."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._sandboxes: dict[str, Sandbox] = {}
        self._urls: dict[str, str] = {}

    def sandbox(self, settings: dict[str, Any]) -> Sandbox:
        from reseller_sandbox import Sandbox  # Flask is loaded for the tests that want it

        name = _name(settings)
        if name not in self._sandboxes:
            self._sandboxes[name] = Sandbox(**settings)
        return self._sandboxes[name]

    def url(self, settings: dict[str, Any]) -> str:
        name = _name(settings)
        if name not in self._urls:
            self._urls[name] = self._stack.enter_context(self.sandbox(settings).serve()).url
        return self._urls[name]


def _name(settings: dict[str, Any]) -> str:
    return repr(sorted(settings.items()))


def _settings(request: pytest.FixtureRequest) -> dict[str, Any]:
    marker = request.node.get_closest_marker("sandbox")
    return dict(marker.kwargs) if marker is not None else {}


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", "sandbox(**settings): the settings of this test's sandbox")


@pytest.fixture(scope="session")
def _kept_sandboxes() -> Iterator[_Kept]:
    with ExitStack() as stack:
        yield _Kept(stack)


@pytest.fixture
def sandbox(request: pytest.FixtureRequest, _kept_sandboxes: _Kept) -> Sandbox:
    """A sandbox in this process, as it was at the start."""
    made = _kept_sandboxes.sandbox(_settings(request))
    made.engine.start_over()
    return made


@pytest.fixture
def sandbox_url(request: pytest.FixtureRequest, sandbox: Sandbox, _kept_sandboxes: _Kept) -> str:  # noqa: ARG001
    """Where the test's sandbox answers on a real port, for a client that wants an address."""
    return _kept_sandboxes.url(_settings(request))


@pytest.fixture
def sandbox_client(sandbox: Sandbox) -> Callable[..., Any]:
    """Makes Flask test clients that carry an account's credentials: ``sandbox_client("other")``."""
    return sandbox.client
