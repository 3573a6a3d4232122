"""The reference page of the Python API: signatures and docstrings of all public objects."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from textwrap import dedent
from typing import Any

import reseller_sandbox
from manual_reference.markdown import block, code, prose, table
from reseller_sandbox import Sandbox, testing
from reseller_sandbox.clients.with_flask import SignedClient
from reseller_sandbox.control.catalogue import RESOURCES
from reseller_sandbox.control.results import Keyed
from reseller_sandbox.replaying import Replay
from reseller_sandbox.testing import plugin
from reseller_sandbox.testing.clocks import BothClocks
from reseller_sandbox.testing.run import LEFT_OVER, Sandboxes
from reseller_sandbox.tools.cli_options import OPTIONS, flag, variable
from reseller_sandbox.values.parameters import docstring

#: Public classes that users do not construct: other calls return their objects.
_RETURNED = (SignedClient, Keyed, Sandboxes, BothClocks, Replay)

#: The special methods that a user calls with an operator or a built-in function.
_OPERATORS = {"__getitem__": "[key]", "__iter__": "iter()", "__contains__": "in"}


def page() -> Iterator[str]:
    """Yield the parts of the page."""
    yield "# Python API"
    yield "Every class, function, fixture and mark for your Python code, with its signature."
    yield (
        "Import each class and function from the package that is the title of its section: "
        "`reseller_sandbox` or `reseller_sandbox.testing`. To use the adapter of a library, such as httpx, "
        "install this library."
    )
    yield "## reseller_sandbox"
    for name in reseller_sandbox.__all__:
        yield from _entry(name, getattr(reseller_sandbox, name))
        if name == "Sandbox":
            yield from _resources()
    yield "## reseller_sandbox.testing"
    for name in testing.__all__:
        yield from _entry(name, getattr(testing, name))
    yield from _pytest()
    yield "## Returned objects"
    yield "Functions, properties and fixtures return these objects. You do not construct them."
    for returned in _RETURNED:
        yield from _entry(returned.__name__, returned)


def _resources() -> Iterator[str]:
    links = (f"[{code(name)}](control-{name}.md)" for name in RESOURCES)
    yield f"The constructor takes the [settings](settings.md) by name. Resources: {', '.join(links)}."


def _pytest() -> Iterator[str]:
    yield "## pytest"
    yield "### Fixtures"
    for name in ("reseller_sandbox", "reseller_sandboxes"):
        yield f"`{name}`: {prose(docstring(getattr(plugin, name).__wrapped__))}"
    yield "### Marks"
    leftovers = ", ".join(f"`{kind}`" for kind in LEFT_OVER)
    yield (
        "`@pytest.mark.reseller_sandbox(**settings)` sets the [settings](settings.md) of a test's world. It "
        f"also has two more parameters. `strict` is a list of some of {leftovers}, or True for all of them. "
        "With `clock='follow'`, the world follows the time of the test. "
        "`@pytest.mark.reseller_sandbox_explore(actors, max_runs, schedule, invariants)` explores a test."
    )
    yield "### Options"
    yield "Each option is also an environment variable and a key of pytest's configuration file."
    rows = ((code(flag(name)), code(variable(name)), prose(about)) for name, (about, _) in OPTIONS.items())
    yield table(("option", "variable", "description"), rows)


def _entry(name: str, value: Any) -> Iterator[str]:
    """Yield the parts of the entry for a class or a function."""
    yield f"### {name}"
    is_class = inspect.isclass(value)
    constructor = vars(value).get("__init__") if is_class else value
    if constructor is not None and not (is_class and issubclass(value, Exception)):
        yield block("py", _signature(name, constructor))
    yield from _text(value)
    yield from _members(value) if is_class else ()


def _text(value: Any) -> Iterator[str]:
    """Yield the paragraphs of a docstring, with examples as code blocks."""
    for paragraph in docstring(value).split("\n\n"):
        yield block("pycon", paragraph) if paragraph.startswith(">>>") else prose(" ".join(paragraph.split()))


def _members(owner: type) -> Iterator[str]:
    """Yield entries for the public members of ``owner`` that are not in its base classes."""
    for name, member in vars(owner).items():
        is_value = isinstance(member, property | cached_property)
        is_own = not any(hasattr(base, name) for base in owner.__bases__) or name in _OPERATORS
        is_public = name in _OPERATORS or not (name.startswith("_") or isinstance(member, classmethod))
        if not (is_own and is_public and (is_value or inspect.isroutine(member))):
            continue
        if is_value:
            yield f"#### {name}"
            yield from _text(getattr(member, "func", None) or getattr(member, "fget", None))
        elif not issubclass(owner, Exception):
            yield f"#### {_OPERATORS.get(name, name)}"
            yield block("py", _signature(name, member))
            yield from _text(member)


def _signature(name: str, function: Any) -> str:
    """Return the signature as the source code has it, without ``self``."""
    function = inspect.unwrap(function)
    node = ast.parse(dedent(inspect.getsource(function))).body[0]
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    arguments = re.sub(r"^(self|cls)(, /)?(, )?", "", ast.unparse(node.args))
    if name == Sandbox.__name__:
        arguments = "fixture='default', **settings"
    prefix = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    returns = f" -> {ast.unparse(node.returns)}" if node.returns and node.name != "__init__" else ""
    return f"{prefix}{name}({arguments}){returns}"
