"""The same fixture and the same requests give the same bytes: in any process, zone, locale and hash order."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from freezegun import freeze_time

from reseller_sandbox import Sandbox
from tests.registry import REGISTRY, connect

SCRIPT = Path(__file__).parent / "script.py"


ENVIRONMENTS = (
    {"PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu"},
    {"PYTHONHASHSEED": "4242", "TZ": "America/St_Johns", "LC_ALL": "C", "PYTHONUTF8": "1"},
    {"PYTHONHASHSEED": "random", "TZ": "Pacific/Kiritimati", "PYTHONOPTIMIZE": "1"},
    {"PYTHONHASHSEED": "random", "TZ": "Etc/GMT+12", "PYTHONOPTIMIZE": "2"},
)


def run(*command: str, **environment: str) -> bytes:
    """What a command prints in a process with these variables, by default the script."""
    done = subprocess.run(
        command or (sys.executable, str(SCRIPT)),
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.mark.parametrize("some", [ENVIRONMENTS[:1], pytest.param(ENVIRONMENTS[1:], marks=pytest.mark.slow)])
def test_equal_scripts_give_equal_bytes(some: tuple[dict[str, str], ...], subtests: pytest.Subtests) -> None:
    """Every status, header and byte of every answer and document, every event, every entry of the ledger."""
    plain = run(PYTHONHASHSEED="0", TZ="UTC")
    assert plain.count(b"\n") > 400
    for environment in some:
        with subtests.test(environment["TZ"]):
            assert run(**environment) == plain


#: Prints the help of every command, and of those below it.
HELP = """
import click
from importlib.metadata import entry_points

[entry] = entry_points(group="console_scripts", name="reseller-sandbox")
main = entry.load()

def show(command, context):
    print(command.get_help(context))
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            show(inner, click.Context(inner, context, name))

show(main, click.Context(main, info_name="reseller-sandbox"))
"""


@pytest.mark.slow
def test_help_is_the_same_without_docstrings() -> None:
    """As they are missing under ``python -OO``."""
    plain = run(sys.executable, "-c", HELP)
    assert plain.count(b"Usage: ") > 10
    assert run(sys.executable, "-c", HELP, PYTHONOPTIMIZE="2") == plain


def _codes(sandbox: Sandbox) -> list[str]:
    api = connect(sandbox)
    for number in range(3):
        api.post("/v3/domains/createDomain", {"domain": {"domainName": f"n{number}.com"}})
    return [api.get(f"/v3/domains/getAuthcode/n{number}.com").json["authCode"] for number in range(3)]


def test_another_seed_gives_other_codes() -> None:
    """And the same seed the same; nothing else is left to chance."""
    assert _codes(Sandbox(REGISTRY)) == _codes(Sandbox(REGISTRY))
    assert set(_codes(Sandbox(REGISTRY, seed="one"))).isdisjoint(_codes(Sandbox(REGISTRY, seed="two")))


def test_a_reset_gives_the_same_bytes_again() -> None:
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


def test_a_frozen_world_is_not_moved_by_the_machines_clock() -> None:
    """However far that jumps, in either direction."""
    with freeze_time("2030-06-01") as machine:
        sandbox = Sandbox(REGISTRY)
        api = connect(sandbox)
        before = api.get("/v3/balance")
        for machine_time in ("2031-01-01", "2020-01-01", "2099-12-31"):
            machine.move_to(machine_time)
            answer = api.get("/v3/balance")
            assert (answer.raw, answer.headers["date"]) == (before.raw, before.headers["date"])
        assert not sandbox.history.diff().changes


def test_a_running_world_follows_the_machines_clock() -> None:
    """From where it begins; what has come due happens with the next request."""
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


def test_a_running_world_does_what_is_due_at_its_own_instant() -> None:
    """However late the request that finds out."""
    with freeze_time("2030-06-01") as machine:
        sandbox = Sandbox(REGISTRY, frozen=False)
        machine.tick(170 * 24 * 3600)
        connect(sandbox).get("/v3/balance")
        overdue = sandbox.names["second.com"]
        assert overdue.since == overdue.expires
