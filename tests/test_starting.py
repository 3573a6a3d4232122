"""A program loads little before it has what it asked for."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import pytest

#: Libraries that only some programs need, and those only later.
LATER = (
    *(
        "apispec",
        "asyncio",
        "concurrent.futures",
        "cryptography",
        "h11",
        "http.cookies",
        "httptools",
        "httpx",
    ),
    *("jsonschema", "markdown_it", "requests", "rich", "statistics", "trustme", "uvicorn", "wsgiref"),
)

_MODULES = "import sys; print(*sys.modules, flush=True)"

#: What runs until a moment, and prints what is loaded by then.
SNAPSHOTS = {
    "the import": f"from reseller_sandbox import Sandbox; Sandbox; {_MODULES}",
    "the first sandbox": f"from reseller_sandbox import Sandbox; Sandbox().fork(); {_MODULES}",
    "the first request": f"""
from reseller_sandbox import Sandbox
Sandbox().client().get("/v3/balance")
{_MODULES}""",
    "the help of a tool": f"""
from importlib.metadata import entry_points
[entry] = entry_points(group="console_scripts", name="reseller-sandbox")
try:
    entry.load()(["sweep", "--help"])
except SystemExit:
    {_MODULES}""",
}


def printed(code: str) -> str:
    """Return the last line that a new process prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


@cache
def needed() -> frozenset[str]:
    """Return the modules of libraries that every sandbox needs, which differ from Python to Python."""
    return frozenset(printed(f"import click, flask, yaml; {_MODULES}").split())


def test_libraries_are_loaded_late(subtests: pytest.Subtests) -> None:
    for moment, code in SNAPSHOTS.items():
        with subtests.test(moment):
            loaded = {*printed(code).split()}
            assert any(name.startswith("reseller_sandbox.") for name in loaded)
            assert not [
                one for one in loaded - needed() if f"{one}.".startswith(tuple(f"{x}." for x in LATER))
            ]
            assert moment == "the first request" or "marshmallow" not in loaded
            assert moment != "the help of a tool" or not {"flask", "yaml"} & loaded
