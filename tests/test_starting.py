"""A program loads little before it has what it asked for, and its bytes are the same in any process."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import pytest
from freezegun import freeze_time

from reseller_sandbox import Sandbox
from tests.registry import REGISTRY, connect

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


def test_libraries_are_not_imported_before_their_first_use(subtests: pytest.Subtests) -> None:
    for moment, code in SNAPSHOTS.items():
        with subtests.test(moment):
            loaded = {*printed(code).split()}
            assert any(name.startswith("reseller_sandbox.") for name in loaded)
            assert not [
                module
                for module in loaded - needed()
                if f"{module}.".startswith(tuple(f"{x}." for x in LATER))
            ]
            assert moment == "the first request" or "marshmallow" not in loaded
            assert moment != "the help of a tool" or not {"flask", "yaml"} & loaded


def test_responses_after_a_reset_are_the_same_byte_for_byte() -> None:
    """Counters, codes and request names begin anew."""
    sandbox = Sandbox(REGISTRY)
    api = connect(sandbox)

    def bytes_of() -> list[tuple[object, bytes]]:
        made = api.post("/v3/domains/createDomain", {"domain": {"domainName": "n.com"}})
        code = api.get("/v3/domains/getAuthcode/n.com")
        return [(answer.headers, answer.raw) for answer in (made, code)]

    first = bytes_of()
    sandbox.clock.advance("300d")
    sandbox.reset()
    assert bytes_of() == first


def test_a_running_world_clock_follows_the_clock_of_the_machine() -> None:
    with freeze_time("2030-06-01") as machine:
        sandbox = Sandbox(REGISTRY, frozen=False)
        api = connect(sandbox)
        assert api.get("/v3/balance").json[0]["serverTime"] == "2026-03-01 12:00:00"
        machine.tick(3 * 24 * 3600)
        answer = api.get("/v3/balance")
        assert answer.json[0]["serverTime"] == "2026-03-04 12:00:00"
        assert answer.headers["date"] == "Wed, 04 Mar 2026 12:00:00 GMT"
        arrived = api.get("/v3/domains/getDomain/arriving.com").json
        assert arrived["status"] == "active", "its transfer was due at that very second"
        assert api.get("/v3/domains/getDomain/pending.com").error == "domain_not_found"
        machine.tick(170 * 24 * 3600)
        overdue = sandbox.names["second.com"]
        assert overdue.since == overdue.expires
