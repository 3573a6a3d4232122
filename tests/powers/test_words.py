"""What the words of a command come to: texts, JSON, and objects as NAME=VALUE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

import pytest
from click.testing import CliRunner

from reseller_sandbox import Sandbox
from reseller_sandbox.cli import main
from reseller_sandbox.powers.listing import powers_told
from reseller_sandbox.powers.power import Operation
from reseller_sandbox.remote import There

CASES: tuple[tuple[list[str], dict[str, Any]], ...] = (
    (["journal", "find", "--path", "/v3/x?a=b"], {"path": "/v3/x?a=b"}),
    (["journal", "find", "--path", "a=b,c=d", "--path", "*"], {"path": ["a=b,c=d", "*"]}),
    (["journal", "find", "--domain", '["*.com", "*.net"]'], {"domain": ["*.com", "*.net"]}),
    (["journal", "find", "--operation", "7"], {"operation": "7"}),
    (["journal", "find", "--query", "page=1"], {"query": {"page": "1"}}),
    (["journal", "find", "--query", "page=1,size=2"], {"query": {"page": "1", "size": "2"}}),
    (["journal", "find", "--query", "page=1", "--query", "q=a=b"], {"query": {"page": "1", "q": "a=b"}}),
    (
        ["journal", "find", "--headers", "Accept=text/html,image/*"],
        {"headers": {"Accept": "text/html,image/*"}},
    ),
    (["journal", "find", "--headers", "X-Other=null"], {"headers": {"X-Other": None}}),
    (["journal", "find", "--headers", '{"X-Other": null}'], {"headers": {"X-Other": None}}),
    (["journal", "find", "--body", "years=2,name=x.com"], {"body": {"years": 2, "name": "x.com"}}),
    (["journal", "find", "--no-changed", "--limit", "5"], {"changed": False, "limit": 5}),
    (
        ["journal", "verify", "--in-order", "operation=v3.*", "--in-order", "path=/v3/*,changed=true"],
        {"in_order": [{"operation": "v3.*"}, {"path": "/v3/*", "changed": True}]},
    ),
    (["journal", "verify", "--in-order", '[{"operation": "v3.*"}]'], {"in_order": [{"operation": "v3.*"}]}),
    (
        ["clock", "advance", "--until", "domain=x.com,stage=overdue"],
        {"until": {"domain": "x.com", "stage": "overdue"}},
    ),
    (["clock", "advance", "--until", "event=expiry"], {"until": {"event": "expiry"}}),
    (["clock", "advance", "--until", "next"], {"until": "next"}),
    (["clock", "advance", "--", "-P1D"], {"by": "-P1D"}),
    (["clock", "advance", "3600.0"], {"by": Decimal("3600.0")}),
    (["outside", "hold", "x.com", "--at", "3600.0"], {"domain": "x.com", "at": Decimal("3600.0")}),
    (["journal", "find", "--body", "paid=1.5"], {"body": {"paid": Decimal("1.5")}}),
    (["outside", "hold", "x.com", "--after", "v3.a*"], {"domain": "x.com", "after": "v3.a*"}),
    (
        ["outside", "hold", "x.com", "--after", "operation=v3.a*,domain=*.com"],
        {"domain": "x.com", "after": {"operation": "v3.a*", "domain": "*.com"}},
    ),
    (
        ["assumptions", "set", '{"v3.ids": "integer"}', "--profile", "observed"],
        {"assume": {"v3.ids": "integer"}, "profile": "observed"},
    ),
    (["assumptions", "set", "v3.ids=integer"], {"assume": {"v3.ids": "integer"}}),
    (
        ["assumptions", "set", "v3.ids=integer", "v3.list.last_page=always"],
        {"assume": {"v3.ids": "integer", "v3.list.last_page": "always"}},
    ),
    (["worlds", "fork", "--assume", "v3.ids=integer"], {"assume": {"v3.ids": "integer"}}),
    (["worlds", "fork", "--state", "0"], {"state": "0"}),
    (["worlds", "fork", "--state", '{"zones": {}}'], {"state": {"zones": {}}}),
    (["faults", "add", "error", "--body", "a=b"], {"kind": "error", "body": "a=b"}),
    (
        ["faults", "add", "latency", "--seconds", "0.5", "--match", "operation=v3.*", "--when", "times=2"],
        {"kind": "latency", "seconds": Decimal("0.5"), "match": {"operation": "v3.*"}, "when": {"times": 2}},
    ),
)


@pytest.mark.parametrize(
    ("words", "given"), CASES, ids=lambda one: " ".join(one) if isinstance(one, list) else ""
)
def test_what_words_come_to(monkeypatch: pytest.MonkeyPatch, words: list[str], given: Any) -> None:
    """A word is a text where a text is wanted, whatever signs it has; else it is JSON, or pairs."""
    told: list[Mapping[str, Any]] = []

    def answer(_: There, operation: Operation, given: Mapping[str, Any]) -> dict[str, Any]:
        told.append(given)
        return {"operation": operation.id}

    monkeypatch.setattr(There, "answer", answer)
    done = CliRunner().invoke(main, words)
    assert (done.exit_code, told) == (0, [given]), done.output


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ["faults", "add", "hang", "--match", "operaton=v3.*"],
            "match.operaton is not known here; the nearest is operation",
        ),
        (
            ["faults", "add", "hang", "--when", "times=2,evry=3"],
            "when.evry is not known here; the nearest is every",
        ),
        (
            ["clock", "advance", "--until", "domian=x.com"],
            "until.domian is not known here; the nearest is domain",
        ),
        (["faults", "add", "latncy"], "the nearest is latency"),
        (["faults", "add", "--preset", "flakey"], "the nearest is flaky"),
        (["journal", "find", "--limit", "x"], "limit must be a whole number"),
        (["clock", "advance", "P30"], "by must be a length of time such as P30D"),
        (["clock", "advance"], "takes exactly one of by, to and until"),
    ],
    ids=str,
)
def test_words_that_cannot_be_used_are_told(server_url: str, words: list[str], told: str) -> None:
    """With the nearest that can; the command ends with 2, as where an option is not known."""
    done = CliRunner().invoke(main, [*words, "--url", server_url])
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert told in done.stderr


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    """The address of a server."""
    with Sandbox().serve() as server:
        yield server.url


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["clock", "advance"], "--until next|NAME=VALUE"),
        (["journal", "find"], "--path TEXT "),
        (["journal", "find"], "--headers NAME=VALUE"),
        (["journal", "verify"], "--in-order NAME=VALUE"),
        (["worlds", "fork"], "--state TEXT "),
    ],
    ids=str,
)
def test_help_says_where_pairs_are_taken(words: list[str], shown: str) -> None:
    """And nowhere else."""
    assert shown in CliRunner().invoke(main, [*words, "--help"]).output


#: Groups of one command; ``capsule`` has one of its own.
SINGLE = [
    (name, *told.operations)
    for name, told in powers_told().items()
    if len(told.operations) == 1 and name != "capsule"
]


@pytest.mark.parametrize(("group", "only"), SINGLE)
def test_a_group_of_one_command_runs_it(server_url: str, group: str, only: str) -> None:
    """With all its options; its help says so."""
    words = [group, "--json", "--url", server_url]
    alone, named = CliRunner().invoke(main, words), CliRunner().invoke(main, [group, only, *words[1:]])
    assert (alone.exit_code, alone.stdout) == (0, named.stdout)
    assert "By itself: Return" in CliRunner().invoke(main, [group, "--help"]).stdout


def test_an_option_before_the_command_that_it_is_of_is_refused(server_url: str) -> None:
    """It would be left out without a word: what is narrowed down would be told as a whole."""
    done = CliRunner().invoke(main, ["ledger", "--account", "main", "find", "--url", server_url])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "--account stands after find, whose option it is" in done.stderr
