"""What the code says of itself, alike under every Python: documents and help texts are made of it."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Mapping
from textwrap import dedent
from typing import Any

_ARGUMENTS = re.compile(r"^Args:\n((?:[ \t]+.*\n?|\n)+)", re.MULTILINE)
_ARGUMENT = re.compile(r"^    (\w+): (.*(?:\n     +.*)*)", re.MULTILINE)


def docstring(of: Any) -> str:
    """Return the docstring of a function, a class or a module without its indentation, or an empty text.

    Python 3.13 takes the indentation away by itself, and ``python -OO`` the docstrings; then it is read
    from the source.
    """
    of = inspect.unwrap(of)
    text: str | None = of.__doc__
    if sys.flags.optimize > 1 and (text is None or inspect.isclass(of)):  # dataclasses make one up
        text = _in_source(of)
    return inspect.cleandoc(text or "")


def without_arguments(of: Any) -> str:
    """Return the docstring of a function or a class without the part about what it is told."""
    return _ARGUMENTS.sub("", docstring(of)).strip()


def told_of(of: Any) -> Mapping[str, str]:
    """Return what the docstring of a function or a class says of each thing that it is told."""
    found = _ARGUMENTS.search(docstring(of) + "\n")
    pairs = _ARGUMENT.findall(found[1]) if found else []
    return {name.removesuffix("_"): " ".join(words.split()) for name, words in pairs}


def _in_source(of: Any) -> str | None:
    import ast

    try:
        tree = ast.parse(dedent(inspect.getsource(of)))
        found = tree if inspect.ismodule(of) else tree.body[0]
    except (OSError, TypeError, SyntaxError):
        return None
    assert isinstance(found, ast.FunctionDef | ast.ClassDef | ast.Module)
    return ast.get_docstring(found)


def unmarked(words: str) -> str:
    """Return a docstring without its markup."""
    return words.replace("``", "")
