"""Temporary replacements of library functions. Several interceptions or fences can share one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

_LOCK = threading.Lock()

#: A function that builds the replacement of a library function. Its first argument is the original. Its
#: second argument returns the current entries (fences or interceptions), the oldest first.
Replacing: TypeAlias = Callable[[Callable[..., Any], Callable[[], tuple[Any, ...]]], Callable[..., Any]]


@contextmanager
def detoured(owner: Any, name: str, entry: object, replacing: Replacing) -> Iterator[None]:
    """Register ``entry`` (a fence or interception) for a function. The first entry replaces the function.

    ``owner`` is the module or the class of the function. After the last entry ends, the original is restored,
    unless other code has replaced the function again.
    """
    with _LOCK:
        method: Any = getattr(owner, name)
        if not hasattr(method, "detours"):
            original, is_inherited = method, name not in vars(owner)
            method = replacing(original, lambda: tuple(method.detours))
            method.detours = ()
            method.restore = lambda: delattr(owner, name) if is_inherited else setattr(owner, name, original)
            setattr(owner, name, method)
        method.detours = (*method.detours, entry)
    try:
        yield
    finally:
        with _LOCK:
            method.detours = tuple(each for each in method.detours if each is not entry)
            if not method.detours and vars(owner).get(name) is method:
                method.restore()
