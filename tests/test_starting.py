"""What is loaded, and what is done, before a program has what it asked for: little that it may not need."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Collection
from functools import cache

import pytest

#: Modules that only some need, and those only later; with a module all that is below it.
LIBRARIES = (
    "apispec",
    "asyncio",
    "concurrent.futures",
    "cryptography",
    "h11",
    "http.cookies",
    "httptools",
    "httpx",
    "jsonschema",
    "markdown_it",
    "requests",
    "rich",
    "statistics",
    "trustme",
    "uvicorn",
    "wsgiref",
)
PARTS = (
    "advice.rules",
    "capsule.document",
    "capsule.writing",
    "control.documents",
    "control.events",
    "control.rows",
    "deploy",
    "keeping",
    "manual.pages",
    "manual.rows",
    "page.declarations",
    "page.rows",
    "remote",
    "reports",
    "testing",
    "tools",
    "web.nearest",
    "web.openapi",
    "web.records",
)
LATER = (*LIBRARIES, *(f"reseller_sandbox.{part}" for part in PARTS))

_IMPORT = "from reseller_sandbox import Sandbox; Sandbox"
_TELL = "import sys; print(*sys.modules, flush=True)"

#: What runs until a moment, and tells what is loaded by then.
MOMENTS = {
    "the import": f"{_IMPORT}; {_TELL}",
    "the first sandbox": f"{_IMPORT}().fork(); {_TELL}",
    "the first request": f"{_IMPORT}().app.test_client().get('/v3/balance'); {_TELL}",
    "the first line of serve": f"""
import os
import reseller_sandbox.cli, reseller_sandbox.serving as serving

def first_line(*_):
    {_TELL}
    os._exit(0)

serving.say = first_line
reseller_sandbox.cli.main(["serve", "--port", "0"])
""",
}


def printed(code: str) -> str:
    """What a new process prints."""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@cache
def theirs() -> frozenset[str]:
    """What comes with libraries that every sandbox needs, which may differ from Python to Python."""
    return frozenset(printed(f"import click, flask, yaml; {_TELL}").split())


@pytest.mark.parametrize("moment", MOMENTS)
def test_what_may_not_be_needed_is_not_loaded(moment: str) -> None:
    """Neither a library that one door needs, nor a part that nobody has asked for."""
    loaded = printed(MOMENTS[moment]).split()
    assert "reseller_sandbox.assembly" in loaded
    loaded = [one for one in loaded if one not in theirs()]
    assert [one for one in loaded if any(f"{one}.".startswith(f"{late}.") for late in LATER)] == []


#: A path of each interface.
PATHS = {"v3": "/v3/balance", "v2": "/V2.0/domain/active.com", "control": "/_sandbox/health"}


def interfaces_in(loaded: Collection[str]) -> set[str]:
    """The interfaces whose modules are loaded."""
    return {name for name in PATHS if f"reseller_sandbox.{name}.interface" in loaded}


@pytest.mark.parametrize("moment", [moment for moment in MOMENTS if moment != "the first request"])
def test_no_interface_is_loaded_before_somebody_calls_it(moment: str) -> None:
    """Nor what its rows are made of, of which loading is much of what a start takes."""
    loaded = printed(MOMENTS[moment]).split()
    assert interfaces_in(loaded) == set()
    assert "marshmallow" not in loaded


@pytest.mark.parametrize("name", PATHS)
def test_a_request_loads_its_own_interface_alone(name: str) -> None:
    """Whoever calls one pays for no other."""
    loaded = printed(f"{_IMPORT}().app.test_client().get('{PATHS[name]}'); {_TELL}").split()
    assert interfaces_in(loaded) == {name}


def test_nothing_is_collected_while_modules_are_loaded() -> None:
    """Full collections would go over all of them, again and again, and free nothing."""
    counted = (
        "import gc; full = []; gc.callbacks.append(lambda _, about: full.append(about['generation'] == 2))"
    )
    assert printed(f"{counted}\n{_IMPORT}\nprint(sum(full), gc.isenabled())") == "0 True\n"


def test_only_the_format_of_fixtures_is_read_as_it_is_loaded() -> None:
    """What else annotations declare is read when it is needed: each takes a good part of a millisecond."""
    noted = (
        "import typing; real, read = typing.get_type_hints, []\n"
        "def note(of, **told): read.append(of.__module__); return real(of, **told)\n"
        "typing.get_type_hints = note"
    )
    parts = printed(f"{noted}\n{_IMPORT}\nprint(*read)").split()
    assert {one.removeprefix("reseller_sandbox.").split(".")[0] for one in parts} == {"fixture", "powers"}
    assert [one for one in parts if ".powers." in one] == ["reseller_sandbox.powers.catalogue"]


def test_a_sandbox_reads_the_signature_of_no_power_that_only_acts() -> None:
    """Those are read when somebody calls one, or wants it described."""
    told = printed(
        f"{_IMPORT}().fork()\n"
        "from reseller_sandbox.powers.catalogue import POWERS\n"
        "print(*(one.id for power in POWERS.values() for one in power.operations()"
        " if one.sort == 'act' and 'parameters' in vars(one)), 'read')"
    )
    assert told.split() == ["read"]
