"""The decorator ``intercept`` on each kind of target: the target's body runs inside the interception."""

from __future__ import annotations

import asyncio
import functools
import unittest
from collections.abc import Callable
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import pytest

from reseller_sandbox import Sandbox, intercept
from tests.testing.callers import get_by_httpx
from tests.testing.conftest import Printed

pytest_plugins = "pytester"

API = "https://api.example.test"
ZONES = f"{API}/V2.0/domain/zones"


def get() -> bool:
    """Whether a request reaches a sandbox."""
    return "x-sandbox-request" in get_by_httpx(ZONES).headers


def function() -> bool:
    return get()


async def coroutine() -> bool:
    await asyncio.sleep(0)
    return get()


def generator() -> Any:
    received = yield get()
    yield received and get()
    return get()


async def async_generator() -> Any:
    received = yield get()
    try:
        yield received and get()
    except KeyError:
        yield get()


def passed_on(inner: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator that hides the kind of its function from ``inspect``."""
    return functools.wraps(inner)(lambda *args: inner(*args))


async def drive_async(target: Callable[..., Any]) -> list[bool]:
    values = target()
    return [await anext(values), await values.asend(True), await values.athrow(KeyError())]


def drive(target: Callable[..., Any]) -> list[bool]:
    values = target()
    seen = [next(values), values.send(True)]
    with pytest.raises(StopIteration) as end:
        next(values)
    return [*seen, end.value.value]


def enter(target: Callable[..., Any]) -> list[bool]:
    with target() as value:
        return [value, get()]


async def enter_async(target: Callable[..., Any]) -> list[bool]:
    async with target() as value:
        return [value, get()]


def yields_once() -> Any:
    try:
        yield get()
    finally:
        assert get()


manager = contextmanager(yields_once)


@asynccontextmanager
async def async_manager() -> Any:
    try:
        yield get()
    finally:
        assert get()


class Request:
    def __call__(self) -> bool:
        return get()


#: Each kind of target, and a function that runs the decorated target and returns the results of its requests.
TARGETS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "function": (function, lambda target: [target()]),
    "partial": (functools.partial(function), lambda target: [target()]),
    "callable": (Request(), lambda target: [target()]),
    "coroutine": (coroutine, lambda target: [asyncio.run(target())]),
    "hidden coroutine": (passed_on(coroutine), lambda target: [asyncio.run(target())]),
    "generator": (generator, drive),
    "hidden generator": (passed_on(generator), drive),
    "async generator": (async_generator, lambda target: asyncio.run(drive_async(target))),
    "hidden async generator": (passed_on(async_generator), lambda target: asyncio.run(drive_async(target))),
    "context manager": (manager, enter),
    "async context manager": (async_manager, lambda target: asyncio.run(enter_async(target))),
    "static method": (staticmethod(function), lambda target: [target.__func__()]),
}


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("own", [False, True], ids=["of the module", "of a sandbox"])
def test_the_body_of_a_decorated_target_runs_inside_the_interception(
    name: str, own: bool, sandbox: Sandbox
) -> None:
    target, run = TARGETS[name]
    decorate: Callable[[Any], Any] = (
        sandbox.intercept(API, others="refuse") if own else intercept(API, others="refuse")
    )
    for _ in range(2):
        assert set(run(decorate(target))) == {True}
    assert bool(sandbox.journal.list(limit=0).matching) == own


def test_a_context_manager_below_the_decorator_keeps_its_kind(sandbox: Sandbox) -> None:
    decorated = contextmanager(sandbox.intercept(API)(yields_once))
    with decorated() as value:
        assert value
        assert get()


class Plain:
    def test_one(self) -> None:
        assert get()

    @staticmethod
    def test_static() -> None:
        assert get()

    @classmethod
    def test_of_class(cls) -> None:
        assert get()

    async def test_async(self) -> None:
        assert get()

    def helper(self) -> None:
        raise AssertionError("the decorator leaves it as it is")

    test_data = (1, 2)


def test_each_test_of_a_decorated_class_is_intercepted(sandbox: Sandbox) -> None:
    helper = Plain.helper
    decorated: Any = sandbox.intercept(API)(type("Child", (Plain,), {}))
    assert decorated.__name__ == "Child"
    child = decorated()
    child.test_one()
    child.test_static()
    child.test_of_class()
    asyncio.run(child.test_async())
    assert sandbox.journal.list(limit=0).matching == 4
    assert (decorated.helper, decorated.test_data) == (helper, (1, 2))


def test_a_unittest_case_is_intercepted_with_its_setup(sandbox: Sandbox) -> None:
    class Case(unittest.TestCase):
        def setUp(self) -> None:
            assert get()

        def test_one(self) -> None:
            assert get()

    class AsyncCase(unittest.IsolatedAsyncioTestCase):
        async def asyncSetUp(self) -> None:
            assert get()

        async def test_one(self) -> None:
            assert get()

    for case in (Case, AsyncCase):
        result = unittest.TestResult()
        sandbox.intercept(API)(case)("test_one").run(result)
        assert (result.testsRun, result.errors, result.failures) == (1, [], [])
    assert sandbox.journal.list(limit=0).matching == 4


class NoTests:
    def check(self) -> None:
        """Not a test."""


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (NoTests, "has no method whose name begins with test"),
        (pytest.fixture(function), "below @pytest.fixture"),
        (property(lambda _: 1), "only a function or a test class"),
        ("name", "only a function or a test class"),
    ],
)
def test_a_target_that_cannot_be_decorated_is_refused(target: Any, words: str, sandbox: Sandbox) -> None:
    for decorate in (intercept(API), sandbox.intercept(API)):
        with pytest.raises(TypeError, match=words):
            decorate(target)
    with pytest.raises(TypeError, match="needs a URL"):
        intercept(function)


SUITE = """
import unittest

import httpx
import pytest

from reseller_sandbox import intercept

API = "https://api.example.test"


def get():
    assert httpx.get(f"{API}/V2.0/domain/zones").status_code == 403


@intercept(API, others="refuse")
class TestPlain:
    def test_one(self):
        get()

    @pytest.mark.parametrize("number", [1, 2])
    def test_with_world(self, reseller_sandbox, number):
        get()
        assert reseller_sandbox.journal.list(limit=0).matching == 1


@intercept(API, others="refuse")
class TestUnit(unittest.TestCase):
    def setUp(self):
        get()

    def test_one(self):
        get()


@pytest.fixture
@intercept(API, others="refuse")
def client(reseller_sandbox):
    get()
    with httpx.Client(base_url=API) as client:
        yield client
    get()


def test_with_fixture(client, reseller_sandbox):
    assert client.get("/V2.0/domain/zones").status_code == 403
    assert reseller_sandbox.journal.list(limit=0).matching == 2
"""


def test_pytest_collects_decorated_classes_and_fixtures(printed: Printed) -> None:
    assert "5 passed" in printed(SUITE)
