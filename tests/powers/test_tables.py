"""What commands print for people: facts in lines, lists in tables that fit."""

from __future__ import annotations

import json

from click.testing import CliRunner

from reseller_sandbox import Sandbox
from reseller_sandbox.cli import main
from tests.registry import REGISTRY


def printed(*words: str) -> tuple[int, str, str]:
    """The status, the output and the complaint of a command to a server of the tests' registry."""
    with Sandbox(REGISTRY).serve() as server:
        done = CliRunner().invoke(main, [*words, "--url", server.url])
    return done.exit_code, done.stdout, done.stderr


def test_a_list_is_a_table_that_fits_and_names_what_it_leaves_out() -> None:
    """No line is wider than a wide screen."""
    status, out, _ = printed("names", "list", "--limit", "5")
    assert status == 0
    assert max(map(len, out.splitlines())) <= 160
    assert "active.com" in out
    assert "also: " in out
    assert "--json shows them" in out


def test_facts_stand_in_lines_and_what_is_not_there_is_left_out() -> None:
    """One fact a line."""
    status, out, _ = printed("names", "get", "active.com")
    assert status == 0
    assert ["stage", "active"] in [line.split() for line in out.splitlines()]
    assert "customer" not in out


def test_records_within_a_row_stand_on_lines_of_their_own() -> None:
    """So it is seen where one ends: the parameters of a kind of fault, the rules of a preset."""
    for words, begin in ((("faults", "kinds"), "name="), (("faults", "presets"), '{"name": "flaky')):
        status, out, _ = printed(*words)
        assert status == 0
        assert max(map(len, out.splitlines())) <= 160
        lines = [line for line in out.splitlines() if begin in line]
        assert len(lines) >= 5
        assert all(line.count(begin) == 1 for line in lines)


def test_programs_get_json() -> None:
    """The same as over HTTP."""
    status, out, _ = printed("clock", "show", "--json")
    assert (status, json.loads(out)) == (0, {"now": "2026-03-01T12:00:00Z", "frozen": True})


def test_how_a_command_ends() -> None:
    """With 1 when it is refused, with 2 for words it does not take, with 3 when nobody answers."""
    status, out, complaint = printed("clock", "set", "2020-01-01")
    assert (status, out) == (1, "")
    assert "does not go back" in complaint
    assert printed("clock", "set", "2027-01-01", "--fast")[0] == 2
    alone = CliRunner().invoke(main, ["clock", "show", "--url", "http://127.0.0.1:1"])
    assert alone.exit_code == 3
    assert "start one with: reseller-sandbox serve" in alone.stderr
