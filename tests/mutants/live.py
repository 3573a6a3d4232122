"""Changing the functions of modules that are loaded already, so that trying a mutant loads nothing anew."""

from __future__ import annotations

import functools
import gc
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

Key = tuple[str, str, int]

#: A function, and the code that it is to have.
Change = tuple[FunctionType, CodeType]


class Live:
    """Every function of a package that is alive, and the caches around some, by where they are written."""

    def __init__(self, package: Path) -> None:
        self.functions: dict[Key, list[FunctionType]] = {}
        self.caches: dict[str, list[Any]] = {}
        for one in gc.get_objects():
            if isinstance(one, FunctionType) and one.__code__.co_filename.startswith(str(package)):
                self.functions.setdefault(_key(one.__code__), []).append(one)
            elif isinstance(one, functools._lru_cache_wrapper):
                file = getattr(getattr(one.__wrapped__, "__code__", None), "co_filename", "")
                self.caches.setdefault(file, []).append(one)

    def changes(self, file: Path, before: str, after: str) -> list[Change] | None:
        """Return what makes ``after`` of a loaded ``before``; None where what runs at import differs."""
        old, new = (compile(source, str(file), "exec", dont_inherit=True) for source in (before, after))
        pairs = list(_changed(old, new))
        if not pairs or any(_key(one) not in self.functions for one, _ in pairs):
            return None
        return [(function, other) for one, other in pairs for function in self.functions[_key(one)]]

    def make(self, file: Path, changes: list[Change]) -> None:
        """Make the changes, and forget what the functions of the file have been remembered to return."""
        for function, code in changes:
            function.__code__ = code
        for cache in self.caches.get(str(file), ()):
            cache.cache_clear()


def _key(code: CodeType) -> Key:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _changed(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Yield the functions that differ; a module or the body of a class that does is yielded as well."""
    inner = list(zip(_codes(old), _codes(new), strict=False))
    if _is_function(old):
        if old != new:
            yield old, new
            # What is made within it once more has its own code there; what is alive already is changed too.
            yield from (pair for pair in _within(inner) if "<" not in pair[0].co_name)
    elif _plain(old) != _plain(new) or len(_codes(old)) != len(_codes(new)):
        yield old, new
    else:
        for pair in inner:
            yield from _changed(*pair)


def _within(pairs: list[tuple[CodeType, CodeType]]) -> Iterator[tuple[CodeType, CodeType]]:
    return (found for pair in pairs if pair[0] != pair[1] for found in _changed(*pair))


def _codes(code: CodeType) -> list[CodeType]:
    return [one for one in code.co_consts if isinstance(one, CodeType)]


def _plain(code: CodeType) -> tuple[object, ...]:
    consts = tuple((type(one), one) for one in code.co_consts if not isinstance(one, CodeType))
    return code.co_code, code.co_names, repr(consts)


def _is_function(code: CodeType) -> bool:
    return bool(code.co_flags & inspect.CO_OPTIMIZED)
