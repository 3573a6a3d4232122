"""How results read: records in Python, tables and facts in a terminal, names in order."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from reseller_sandbox import Sandbox
from tests.command import Done, run
from tests.registry import REGISTRY


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The address of a server of the tests' registry."""
    with Sandbox(REGISTRY).serve() as server:
        yield server.url


def test_a_record_shows_its_fields_as_json_has_them(sandbox: Sandbox) -> None:
    """Without those that are empty. A list ends after twenty items."""
    shown = repr(sandbox.names["second.com"])
    for part in ("name='second.com'", "stage=active", "expires=2026-08-13T12:00:00Z", "renewal=12.00"):
        assert part in shown
    assert not [word for word in ("datetime", "Decimal", "None", "''", "[]", "False") if word in shown]
    assert "more])" in repr(sandbox.names.list())
    assert "zones" not in repr(sandbox.history.export())


def test_resources_show_the_name_of_their_world(sandbox: Sandbox) -> None:
    assert repr(sandbox) == "<Sandbox: world default>"
    assert repr(sandbox.ledger).endswith(": world default>")
    with sandbox.fork(name="mine") as fork:
        assert repr(fork.clock).endswith(": world mine>")


def test_names_are_sorted_over_all_pages(sandbox: Sandbox) -> None:
    """Names without a date come last."""
    everything = {one.order for one in sandbox.names.list(limit=1000).names}
    for sort in ("name", "expires", "due"):
        whole = sandbox.names.list(sort=sort, limit=1000).names
        keys = [getattr(one, sort) for one in whole]
        moved = [key for key in keys if key is not None]
        assert keys == sorted(moved) + [None] * (len(keys) - len(moved))
        assert {one.order for one in whole} == everything
        pages = [sandbox.names.list(sort=sort, limit=7, start=at).names for at in range(0, len(whole), 7)]
        assert tuple(one for page in pages for one in page) == whole


def printed(url: str, *words: str) -> Done:
    """Run a command; no line of its output is wider than a wide screen."""
    done = run(*words, "--url", url)
    assert max(map(len, done.out.splitlines()), default=0) <= 160
    return done


def test_a_list_is_a_table_that_names_the_columns_it_leaves_out(url: str) -> None:
    done = printed(url, "names", "list", "--limit", "5")
    assert done.status == 0
    for part in ("active.com", "also: ", "--json shows them"):
        assert part in done.out


def test_a_record_is_a_fact_a_line_without_empty_ones(url: str) -> None:
    done = printed(url, "names", "get", "active.com")
    assert ["stage", "active"] in [line.split() for line in done.out.splitlines()]
    assert "customer" not in done.out


def test_records_within_a_row_stand_on_separate_lines(url: str) -> None:
    for words, begin in ((("faults", "kinds"), "name="), (("faults", "presets"), '{"name": "flaky')):
        lines = [line for line in printed(url, *words).out.splitlines() if begin in line]
        assert len(lines) >= 5
        assert all(line.count(begin) == 1 for line in lines)


def test_json_is_the_same_as_over_http(url: str) -> None:
    assert json.loads(printed(url, "clock", "show", "--json").out) == {
        "now": "2026-03-01T12:00:00Z",
        "frozen": True,
    }


def test_a_command_ends_with_1_when_refused_2_for_unknown_words_3_without_a_server(url: str) -> None:
    done = printed(url, "clock", "set", "2020-01-01")
    assert (done.status, done.out) == (1, "")
    assert "does not go back" in done.err
    assert printed(url, "clock", "set", "2027-01-01", "--fast").status == 2
    alone = printed("http://127.0.0.1:1", "clock", "show")
    assert alone.status == 3
    assert "reseller-sandbox serve" in alone.err
