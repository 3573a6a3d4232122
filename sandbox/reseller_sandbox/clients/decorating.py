"""Contexts as decorators: of functions, coroutine functions, generators, context managers and test classes.

``ContextDecorator`` of the standard library is only correct for ordinary functions. The body of a generator
or a coroutine runs after the call returns, so it would run outside the context.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator, Mapping
from contextlib import (
    AbstractContextManager,
    AsyncContextDecorator,
    ContextDecorator,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from functools import wraps
from typing import Any, Generic, TypeAlias, TypeVar, cast

T = TypeVar("T")
Decorated = TypeVar("Decorated", bound=Callable[..., Any])

#: A function that makes a new context. It gets the keyword arguments of the decorated function's call.
MakeContext: TypeAlias = Callable[[Mapping[str, Any]], AbstractContextManager[Any]]


class DecoratingContext(AbstractContextManager[T], Generic[T]):
    """A context that ``make`` creates, for a ``with`` block and as a decorator."""

    def __init__(self, make: Callable[[], AbstractContextManager[T]]) -> None:
        self._make = make
        self._entered: list[AbstractContextManager[T]] = []

    def __enter__(self) -> T:
        context = self._make()
        value = context.__enter__()
        self._entered.append(context)
        return value

    def __exit__(self, *error: Any) -> bool | None:
        return self._entered.pop().__exit__(*error)

    def __call__(self, target: Decorated) -> Decorated:
        """Return ``target`` so that it runs inside the context. See ``decorated``."""
        return decorated(target, lambda _: self._make())


def decorated(target: Decorated, make: MakeContext) -> Decorated:
    """Return a function or a test class whose code runs inside a context that ``make`` creates.

    A generator is inside the context from its first value to its end, also while it is suspended. In a class,
    each method whose name begins with ``test`` is decorated. Of a ``unittest.TestCase``, the whole run of
    each test is decorated, with ``setUp`` and ``tearDown``. Raise TypeError for a target for which this is
    impossible.
    """
    if isinstance(target, type):
        _decorate_class(target, make)
        return cast(Decorated, target)
    if isinstance(target, staticmethod | classmethod):
        return cast(Decorated, type(target)(decorated(target.__func__, make)))
    if type(target).__module__.partition(".")[0] == "_pytest":
        raise TypeError("put the decorator below @pytest.fixture, so that it decorates the function")
    if not callable(target):
        raise TypeError(f"only a function or a test class can be decorated, not {target!r}")
    return cast(Decorated, _decorated_function(target, make))


def _decorate_class(cls: type, make: MakeContext) -> None:
    from unittest import TestCase  # Import late, because few users decorate a class.

    if issubclass(cls, TestCase):
        setattr(cls, "run", decorated(cls.run, make))  # noqa: B010  mypy forbids the assignment
        return
    names = [name for name in dir(cls) if name.startswith("test")]
    tests = {name: inspect.getattr_static(cls, name) for name in names}
    methods = {
        name: method
        for name, method in tests.items()
        if inspect.isfunction(method) or isinstance(method, staticmethod | classmethod)
    }
    if not methods:
        raise TypeError(
            f"the class {cls.__name__} has no method whose name begins with test; decorate methods instead"
        )
    for name, method in methods.items():
        setattr(cls, name, decorated(cast(Callable[..., Any], method), make))


def _decorated_function(function: Callable[..., object], make: MakeContext) -> Callable[..., object]:
    """Return a function of the same kind as ``function``, because pytest and asyncio examine the kind."""
    for is_kind, _, within in _LAZY:
        if is_kind(function):
            return within(function, make)

    @wraps(function)
    def called(*args: object, **options: object) -> object:
        with make(options):
            result = function(*args, **options)
        for _, is_result, within in _LAZY:
            if is_result(result):
                return within(lambda: result, lambda _: make(options))()
        return result

    return called


def _awaited(function: Callable[..., Any], make: MakeContext) -> Callable[..., object]:
    @wraps(function)
    async def awaited(*args: object, **options: object) -> object:
        with make(options):
            return await function(*args, **options)

    return awaited


def _generated(function: Callable[..., Any], make: MakeContext) -> Callable[..., object]:
    @wraps(function)
    def generated(*args: object, **options: object) -> Generator[object, object, object]:
        with make(options):
            return (yield from function(*args, **options))

    return generated


def _generated_async(function: Callable[..., Any], make: MakeContext) -> Callable[..., object]:
    @wraps(function)
    async def generated(*args: Any, **options: object) -> AsyncGenerator[object, object]:
        with make(options):
            inner = function(*args, **options)
            resume = inner.__anext__()
            with suppress(StopAsyncIteration):
                while True:
                    value = await resume
                    try:
                        resume = inner.asend((yield value))
                    except GeneratorExit:
                        await inner.aclose()
                        raise
                    except BaseException as error:
                        resume = inner.athrow(error)

    return generated


def _managed(function: Callable[..., Any], make: MakeContext) -> Callable[..., object]:
    @contextmanager
    def managed() -> Iterator[object]:
        with make({}), function() as value:
            yield value

    return managed


def _managed_async(function: Callable[..., Any], make: MakeContext) -> Callable[..., object]:
    @asynccontextmanager
    async def managed() -> AsyncIterator[object]:
        with make({}):
            async with function() as value:
                yield value

    return managed


#: Each kind of function whose body runs after the call: how to recognise the function, and its result, and
#: the function that decorates it. The function of a context manager is recognised only by its result.
_LAZY: tuple[
    tuple[Callable[[object], bool], Callable[[object], bool], Callable[..., Callable[..., object]]], ...
] = (
    (inspect.iscoroutinefunction, inspect.iscoroutine, _awaited),
    (inspect.isgeneratorfunction, inspect.isgenerator, _generated),
    (inspect.isasyncgenfunction, inspect.isasyncgen, _generated_async),
    (lambda _: False, lambda result: isinstance(result, ContextDecorator), _managed),
    (lambda _: False, lambda result: isinstance(result, AsyncContextDecorator), _managed_async),
)
