"""The structure of the source: the order of imports, the use of the clock, and modules without state."""

from __future__ import annotations

import ast
import copy
import importlib
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from inspect import get_annotations
from pathlib import Path

import pytest

import reseller_sandbox
from reseller_sandbox import Sandbox
from tests.documented import operations
from tests.registry import connect
from tests.v2.client import REGISTRY as V2_REGISTRY
from tests.v2.client import connect as connect_v2
from tests.v2.works import WORKS
from tests.v3.test_bad_input import GOOD, target_of

ROOT = Path(reseller_sandbox.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

#: The parts from the bottom up, as the manual lists them. A part imports only parts of lower layers.
(ORDER,) = re.findall(
    "^refusals ← .*", (ROOT / "manual/contribute/architecture.md").read_text("utf-8"), re.MULTILINE
)
LAYERS = [parts.split(", ") for parts in ORDER.split(" ← ")]

#: The packages from outside that refusals, values and registry may import.
REGISTRY_MAY = {"rpds", "msgspec", "dateutil", "idna", "phonenumbers", "re2"}


def part_of(file: Path) -> str:
    return file.relative_to(ROOT).parts[0].removesuffix(".py")


@cache
def nodes(file: Path) -> list[ast.AST]:
    """Return every node of a file's syntax tree."""
    return list(ast.walk(ast.parse(file.read_text("utf-8"))))


def imports(file: Path) -> Iterator[str]:
    """Yield the dotted names that a file imports anywhere."""
    for node in nodes(file):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports relatively"
            assert node.module is not None
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def height(part: str) -> int:
    """Return the number of a part's layer. A part without a layer is above all layers."""
    return next((at for at, parts in enumerate(LAYERS) if part in parts), len(LAYERS))


def of_each_file(rule: Callable[[Path], None]) -> Callable[[], None]:
    """Return a test that applies a rule to each file. It lists every file that breaks the rule."""

    def test() -> None:
        broken = []
        for file in FILES:
            try:
                rule(file)
            except AssertionError as problem:
                broken.append(f"{file.relative_to(ROOT)}: {problem}")
        assert not broken, "\n".join(broken)

    test.__name__, test.__doc__ = rule.__name__, rule.__doc__
    return test


@of_each_file
def test_packages_import_only_lower_layers(file: Path) -> None:
    part = part_of(file)
    for name in imports(file):
        pieces = name.split(".")
        if pieces[0] != "reseller_sandbox" or len(pieces) < 2 or part.startswith("__"):
            continue
        other = pieces[1].lower()  # the class Sandbox counts as its module
        if other != part:
            assert height(other) < height(part), f"{part} imports {name}"


@of_each_file
def test_the_registry_imports_neither_http_nor_flask(file: Path) -> None:
    """It imports only the standard library and a few small packages."""
    if part_of(file) not in ("refusals", "values", "registry"):
        return
    simulate = (
        {name.split(".")[0] for name in imports(file)} - {"reseller_sandbox"} - set(sys.stdlib_module_names)
    )
    assert simulate <= REGISTRY_MAY
    assert not {"http", "urllib", "socket", "json", "flask", "asyncio"} & {
        n.split(".")[0] for n in imports(file)
    }


#: A sentence of a docstring that begins with a name.
_DESCRIBED = re.compile(r"(?:\A|\.\s+|\n\s*\n\s*)``([a-z_]\w*)``")

#: A row of the section ``Args`` of a docstring.
_ROW = re.compile(r"^    (\w+): ", re.MULTILINE)


@of_each_file
def test_a_docstring_of_a_class_describes_only_its_own_fields(file: Path) -> None:
    """A sentence that begins with a name in backticks describes a field or a parameter of the class."""
    module = ".".join(file.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
    for node in ast.parse(file.read_text()).body:
        docstring = ast.get_docstring(node) if isinstance(node, ast.ClassDef) else None
        text, _, rows = (docstring or "").partition("\nArgs:\n")
        described = [*_DESCRIBED.findall(text), *_ROW.findall(rows)]
        if isinstance(node, ast.ClassDef) and described:
            kind = getattr(importlib.import_module(module), node.name)
            known = {name for each in kind.__mro__ for name in (*vars(each), *get_annotations(each))}
            known.update(getattr(kind, "_declared_fields", ()))  # of a schema
            known.update(each.attr for each in ast.walk(node) if isinstance(each, ast.Attribute))
            known.update(each.arg for each in ast.walk(node) if isinstance(each, ast.arg))
            gone = [name for name in described if name not in known]
            assert not gone, f"{node.name} has no {', '.join(gone)}, which its docstring describes"


#: The classes whose fields are switches and limits. Who sets one expects that something follows.
_RULES = re.compile("Policy|Prices|Zone|Limits|Assumptions|.*Settings")


def test_each_rule_and_setting_is_read_somewhere() -> None:
    read = {node.attr for file in FILES for node in nodes(file) if isinstance(node, ast.Attribute)}
    declared = {
        (node.name, field.target.id)
        for file in FILES
        for node in nodes(file)
        if isinstance(node, ast.ClassDef)
        if _RULES.fullmatch(node.name) or file.parent.name == "kinds"
        for field in node.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
    }
    assert len(declared) > 100
    assert {(kind, name) for kind, name in declared if name not in read} == set()


#: The beginnings of the paths where an interface may be named, each with a reason.
MENTIONS = {
    "v3/": "the interface",
    "v2/": "the interface",
    "web/interfaces.py": "the list of interfaces",
    "registry/assumptions.py": "the names of assumptions, which are public",
    "refusals/rules.py": "a sentence on the wire, with a remedy in the other interface",
    "coverage/situations.py": "the calls that make a situation, as the manual shows them",
    "cli/main.py": "an example of a command, in a help text that loads no interface",
}

#: The name of an interface, such as v3, V2.0 or v2_http_status, but not ipv4.
_INTERFACE = re.compile(r"(?<![A-Za-z])v[23](?![0-9A-Za-z])", re.IGNORECASE)


def test_v3_and_v2_are_named_only_in_their_packages_and_listed_files() -> None:
    """Other modules use the declaration of an interface. Docstrings and comments are not checked."""
    texts = {
        file: _words(file) for file in FILES if file.name != "diagram.py"
    }  # a kind of diagram is named so
    others = (file for kind in ("js", "html", "yaml") for file in ROOT.rglob(f"*.{kind}"))
    texts |= {file: [file.read_text("utf-8")] for file in others if part_of(file) != "manual"}
    naming = {
        file.relative_to(ROOT).as_posix()
        for file, words in texts.items()
        if any(_INTERFACE.search(word.replace("_", " ")) for word in words)
    }
    assert {name for name in naming if not name.startswith(tuple(MENTIONS))} == set()
    assert {begin for begin in MENTIONS if not any(name.startswith(begin) for name in naming)} == set()


DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


def _words(file: Path) -> list[str]:
    """Return every name and every string of a module, without docstrings."""
    every = nodes(file)
    firsts = [node.body[0] for node in every if isinstance(node, DOCUMENTED) and node.body]
    docstrings = {id(first.value) for first in firsts if isinstance(first, ast.Expr)}
    strings = [node.value for node in every if isinstance(node, ast.Constant) and id(node) not in docstrings]
    names = [node.id for node in every if isinstance(node, ast.Name)]
    names += [node.attr for node in every if isinstance(node, ast.Attribute)]
    names += [node.name for node in every if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.alias)]
    return [word for word in (*strings, *names, *imports(file)) if isinstance(word, str)]


@pytest.fixture(scope="module")
def _all_modules() -> None:
    """Load every module."""
    for module in pkgutil.walk_packages(reseller_sandbox.__path__, "reseller_sandbox."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)


@pytest.mark.usefixtures("_all_modules")
def test_a_busy_sandbox_changes_no_module_state() -> None:
    """After two busy sandboxes, every list, dict and set of every module is unchanged."""
    _work()
    before = _containers()
    _work()
    assert len(before) > 10
    assert _containers() == before


def _work() -> None:
    sandbox = Sandbox(V2_REGISTRY)
    api, client = connect(sandbox), connect_v2(sandbox)
    for operation, row in operations().items():
        api.call(row.method, target_of(row), GOOD.get(operation))
    for ask in WORKS.values():
        ask.send(client)
    sandbox.clock.advance("500d")


def _containers() -> dict[str, object]:
    kinds = (list, dict, set, bytearray)
    return {name: copy.copy(value) for name, value in _values().items() if isinstance(value, kinds)}


def _values() -> dict[str, object]:
    """Return the values of the loaded modules by their names."""
    return {
        f"{name}.{key}": value
        for name, module in sorted(sys.modules.items())
        if name == "reseller_sandbox" or name.startswith("reseller_sandbox.")
        for key, value in vars(module).items()
        if not key.startswith("__")
    }


def test_there_is_no_import_cycle() -> None:
    """The imports at the top of modules have no circle."""
    modules = {_module(file): file for file in FILES}
    imported = {name: _loaded_with(file, modules) for name, file in modules.items()}
    while free := [name for name, others in imported.items() if not others & imported.keys()]:
        for name in free:
            del imported[name]
    assert {name: sorted(others & imported.keys()) for name, others in imported.items()} == {}


def _module(file: Path) -> str:
    parts = ("reseller_sandbox", *file.relative_to(ROOT).with_suffix("").parts)
    return ".".join(part for part in parts if part != "__init__")


def _loaded_with(file: Path, modules: Mapping[str, Path]) -> set[str]:
    """Return the modules of this package that ``file`` imports at its top, without imports for types."""
    imported: set[str] = set()
    for statement in ast.parse(file.read_text("utf-8")).body:
        if isinstance(statement, ast.ImportFrom) and statement.module is not None:
            for alias in statement.names:
                whole = f"{statement.module}.{alias.name}"
                imported.add(whole if whole in modules else statement.module)
    return imported & modules.keys() - {_module(file)}
