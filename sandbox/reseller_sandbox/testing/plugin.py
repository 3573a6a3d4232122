"""The pytest plugin: a sandbox for every test, as it was at the start, at the cost of a reset.

It is there once reseller-sandbox is installed. ``@pytest.mark.sandbox(...)``
gives a test, a class or a module a sandbox of other settings: whatever
``Sandbox`` takes. What it leaves open, the environment and a ``pyproject.toml`` say, as for the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from reseller_sandbox import Sandbox


class _Kept:
    """The sandboxes and servers of a test session, one for each set of settings."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self._stack = stack
        self._folder = folder
        self._sandboxes: dict[str, Sandbox] = {}
        self._urls: dict[str, str] = {}

    @cached_property
    def _around(self) -> dict[str, Any]:
        """What the environment and a file say, for all tests."""
        from reseller_sandbox.settings import Settings, settings_of
        from reseller_sandbox.sources import around

        return around(settings_of(Settings), self._folder)

    def sandbox(self, node: Any) -> Sandbox:
        """Return the sandbox that a test wants; end the test where that cannot be."""
        from reseller_sandbox import BadSetting, Sandbox  # Flask is loaded for the tests that want it
        from reseller_sandbox.sources import over

        name = _name(node)
        if name not in self._sandboxes:
            marker = node.get_closest_marker("sandbox") or pytest.mark.sandbox.mark
            try:
                by_place = dict(zip(("fixture",), marker.args, strict=False))
                settings = over(self._around, {**by_place, **marker.kwargs})
                self._sandboxes[name] = Sandbox(*marker.args[1:], **settings)
            except BadSetting as problem:
                pytest.fail(f"the settings of the sandbox: {problem}", pytrace=False)
        return self._sandboxes[name]

    def url(self, node: Any) -> str:
        name = _name(node)
        if name not in self._urls:
            self._urls[name] = self._stack.enter_context(self.sandbox(node).serve()).url
        return self._urls[name]


def _name(node: Any) -> str:
    marker = node.get_closest_marker("sandbox")
    return "" if marker is None else repr((marker.args, sorted(marker.kwargs.items())))


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line("markers", "sandbox(fixture, **settings): the settings of this test's sandbox")


@pytest.fixture(scope="session")
def _kept_sandboxes(pytestconfig: pytest.Config) -> Iterator[_Kept]:
    with ExitStack() as stack:
        yield _Kept(stack, pytestconfig.invocation_params.dir)


@pytest.fixture
def sandbox(request: pytest.FixtureRequest, _kept_sandboxes: _Kept) -> Sandbox:
    """A sandbox in this process, as it was at the start."""
    made = _kept_sandboxes.sandbox(request.node)
    made.engine.start_over()
    return made


@pytest.fixture
def sandbox_url(request: pytest.FixtureRequest, sandbox: Sandbox, _kept_sandboxes: _Kept) -> str:  # noqa: ARG001
    """Where the test's sandbox answers on a real port, for a client that wants an address."""
    return _kept_sandboxes.url(request.node)


@pytest.fixture
def sandbox_client(sandbox: Sandbox) -> Callable[..., Any]:
    """Makes Flask test clients that carry an account's credentials: ``sandbox_client("other")``."""
    return sandbox.client
