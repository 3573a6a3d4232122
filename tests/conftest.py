"""What the tests share: the registry they act in, in this process and on a real port."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from time import monotonic

import pytest

from reseller_sandbox import Sandbox
from tests import thorough
from tests.clients import Api, InProcess, Socket
from tests.documented import documented
from tests.registry import REGISTRY, Make, connect, start_over
from tests.worlds.control import Player

thorough.load()

#: The folders in whose tests every journal entry is validated.
RENDERED = ("journal", "security")

#: Projects of their own: they are tried with the wheel.
collect_ignore = ["examples"]


@pytest.hookimpl(optionalhook=True)  # pytest may run without xdist
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return one worker more than processors for quick tests: they wait for a quarter of their time."""
    is_quick = config.option.markexpr == "not slow"
    return (os.cpu_count() or 1) + int(is_quick)


def pytest_collection_finish() -> None:
    """Let the collector of garbage pass over what stays to the end: ten thousand tests, and the package."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _every_entry_is_valid(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fetch what a test has left in the journals of ``sandbox`` and ``served``.

    That takes a fifth of a test's time, so it is done in some folders, and everywhere by ``make test-all``.
    """
    checked = thorough.THOROUGH or request.path.parent.name in RENDERED
    names = {"sandbox", "served"} & {*request.fixturenames} if checked else set()
    sandboxes = [request.getfixturevalue(name) for name in sorted(names)]
    apps = [app for sandbox in sandboxes if (app := getattr(sandbox, "app", None))]
    yield
    for get in (documented(InProcess(app)) for app in apps):
        for world in get("GET", "/_sandbox/worlds", [], b"").json["worlds"]:
            get("GET", f"/_worlds/{world['name']}/_sandbox/journal?limit=1000", [], b"")


@pytest.fixture(scope="session", autouse=True)
def _suites_print_the_same_everywhere() -> Iterator[None]:
    """Hide from the suites that tests run what makes pytest print more where a build runs."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("CI", "BUILD_NUMBER", "PYTEST_ADDOPTS"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="session")
def registry() -> Path:
    """The fixture of the tests of a folder."""
    return REGISTRY


@pytest.fixture(scope="session")
def _in_process() -> Callable[[Path], Sandbox]:
    return cache(Sandbox)


@pytest.fixture
def sandbox(registry: Path, _in_process: Callable[[Path], Sandbox]) -> Sandbox:
    """A sandbox of the tests' registry as it began, its clock standing still."""
    sandbox = _in_process(registry)
    start_over(sandbox)
    return sandbox


@pytest.fixture
def at_once() -> Callable[[], AbstractContextManager[None]]:
    """A context in which servers stop and wait for no answer: a server that waits does so for a second."""

    @contextmanager
    def stopping() -> Iterator[None]:
        began = monotonic()
        yield
        assert monotonic() - began < 1

    return stopping


@pytest.fixture
def make(registry: Path) -> Make:
    """Makes sandboxes of the tests' registry with settings of their own."""
    return lambda **settings: Sandbox(registry, **settings)


@pytest.fixture
def api(sandbox: Sandbox) -> Api:
    return connect(sandbox)


@pytest.fixture
def other(sandbox: Sandbox) -> Api:
    """The account ``other``, another registrar."""
    return connect(sandbox, "other")


@pytest.fixture
def poor(sandbox: Sandbox) -> Api:
    """The account ``poor``, which has a balance of 1.00."""
    return connect(sandbox, "poor")


@pytest.fixture(scope="session")
def _served() -> Iterator[tuple[Sandbox, str]]:
    sandbox = Sandbox(REGISTRY)
    with sandbox.serve() as server:
        yield sandbox, server.url


@pytest.fixture(scope="session")
def _default() -> Iterator[tuple[Sandbox, str]]:
    sandbox = Sandbox()
    with sandbox.serve() as server:
        yield sandbox, server.url


@pytest.fixture
def served(_served: tuple[Sandbox, str]) -> Sandbox:
    """The sandbox behind ``wire``, as it began."""
    sandbox, _ = _served
    start_over(sandbox)
    return sandbox


@pytest.fixture
def url(_served: tuple[Sandbox, str], served: Sandbox) -> str:
    return _served[1]


@pytest.fixture
def wire(served: Sandbox, url: str) -> Iterator[Api]:
    """The account ``main`` over a real socket."""
    yield from _over_socket(served, url, "main")


@pytest.fixture
def other_wire(served: Sandbox, url: str) -> Iterator[Api]:
    """The account ``other`` over a real socket."""
    yield from _over_socket(served, url, "other")


@pytest.fixture
def player(url: str) -> Iterator[Player]:
    """The control interface of ``served`` over a real socket."""
    socket = Socket(url)
    yield Player(socket)
    socket.close()


@pytest.fixture
def default_wire(_default: tuple[Sandbox, str]) -> Iterator[Api]:
    """The first account of the packaged default fixture, over a real socket."""
    sandbox, url = _default
    sandbox.reset(original=True)
    yield from _over_socket(sandbox, url, "main")


def _over_socket(sandbox: Sandbox, url: str, account: str) -> Iterator[Api]:
    socket = Socket(url)
    held = sandbox.accounts[account]
    yield Api(documented(socket), url, held.key, held.secret)
    socket.close()
