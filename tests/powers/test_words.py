"""How the words of a command are read: as texts, JSON, or objects written as NAME=VALUE."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from reseller_sandbox import Sandbox
from tests.command import run

#: Words of a command, and the parameters that the server gets.
CASES: tuple[tuple[str | list[str], dict[str, Any]], ...] = (
    ("journal find --path /v3/x?a=b", {"path": "/v3/x?a=b"}),
    ("journal find --path a=b,c=d --path *", {"path": ["a=b,c=d", "*"]}),
    (["journal", "find", "--domain", '["*.com", "*.net"]'], {"domain": ["*.com", "*.net"]}),
    ("journal find --operation 7", {"operation": "7"}),
    ("journal find --query page=1", {"query": {"page": "1"}}),
    ("journal find --query page=1 --query q=a=b", {"query": {"page": "1", "q": "a=b"}}),
    ("journal find --headers Accept=text/html,image/*", {"headers": {"Accept": "text/html,image/*"}}),
    ("journal find --headers X-Other=null", {"headers": {"X-Other": None}}),
    (["journal", "find", "--headers", '{"X-Other": null}'], {"headers": {"X-Other": None}}),
    ("journal find --body years=2,name=x.com", {"body": {"years": 2, "name": "x.com"}}),
    ("journal find --body paid=1.5", {"body": {"paid": 1.5}}),
    ("journal find --no-changed --limit 5", {"changed": False, "limit": 5}),
    (
        "journal verify --in-order operation=v3.* --in-order path=/v3/*,changed=true",
        {"in_order": [{"operation": "v3.*"}, {"path": "/v3/*", "changed": True}]},
    ),
    (["journal", "verify", "--in-order", '[{"operation": "v3.*"}]'], {"in_order": [{"operation": "v3.*"}]}),
    ("clock advance --until domain=x.com,stage=overdue", {"until": {"domain": "x.com", "stage": "overdue"}}),
    ("clock advance --until next", {"until": "next"}),
    ("clock advance 3600.0", {"by": "PT1H"}),
    ("outside hold x.com --at 3600.0", {"domain": "x.com", "at": "3600"}),
    ("outside hold x.com --after v3.a*", {"domain": "x.com", "after": "v3.a*"}),
    (
        "outside hold x.com --after operation=v3.a*,domain=*.com",
        {"domain": "x.com", "after": {"operation": "v3.a*", "domain": "*.com"}},
    ),
    (
        ["assumptions", "set", '{"v3.ids": "integer"}', "--profile", "observed"],
        {"assume": {"v3.ids": "integer"}, "profile": "observed"},
    ),
    (
        "assumptions set v3.ids=integer v3.list.last_page=always",
        {"assume": {"v3.ids": "integer", "v3.list.last_page": "always"}},
    ),
    ("worlds fork --assume v3.ids=integer", {"assume": {"v3.ids": "integer"}}),
    ("worlds fork --state 0", {"state": "0"}),
    (["worlds", "fork", "--state", '{"zones": {}}'], {"state": {"zones": {}}}),
    ("faults add error --body a=b", {"kind": "error", "body": "a=b"}),
    (
        "faults add latency --seconds 0.5 --match operation=v3.* --when times=2",
        {"kind": "latency", "seconds": 0.5, "match": {"operation": "v3.*"}, "when": {"times": 2}},
    ),
)


class Recorder(BaseHTTPRequestHandler):
    """Keeps the parameters of each request in the list of its server."""

    def do_GET(self) -> None:
        """Answer with an empty object."""
        query = dict(parse_qsl(urlsplit(self.path).query))
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.told.append((json.loads(body), False) if body else (query, True))  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


def test_words_are_read_as_the_parameter_needs(subtests: pytest.Subtests) -> None:
    """A word is a text where a text is taken, whatever signs it has; else JSON, or pairs."""
    with HTTPServer(("127.0.0.1", 0), Recorder) as server:
        told: list[tuple[Any, bool]] = []
        server.told = told  # type: ignore[attr-defined]
        Thread(target=server.serve_forever, daemon=True).start()
        for words, given in CASES:
            with subtests.test(str(words)):
                listed = words.split() if isinstance(words, str) else words
                url = ["--url", f"http://127.0.0.1:{server.server_port}", "--json"]
                done = run(*listed, *url)
                assert done.status == 0, done.err
                sent, in_query = told.pop()
                if in_query:
                    sent, given = _in_query(sent), _in_query(given)
                assert sent == given
        server.shutdown()


def _in_query(given: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a query string, those that are JSON read as such."""
    read = dict(given)
    for name, value in given.items():
        with suppress(TypeError, ValueError):
            read[name] = json.loads(value)
    return read


@pytest.fixture(scope="module")
def server_url() -> Iterator[str]:
    """The address of a server."""
    with Sandbox().serve() as server:
        yield server.url


def test_words_that_cannot_be_used_are_refused_with_the_nearest(
    server_url: str, subtests: pytest.Subtests
) -> None:
    """The command ends with 2, as with an option that is not known."""
    for words, message in (
        (
            "faults add hang --match operaton=v3.*",
            "match.operaton is not known here; the nearest is operation",
        ),
        ("faults add hang --when times=2,evry=3", "when.evry is not known here; the nearest is every"),
        ("clock advance --until domian=x.com", "until.domian is not known here; the nearest is domain"),
        ("faults add latncy", "the nearest is latency"),
        ("faults add --preset flakey", "the nearest is flaky"),
        ("journal find --limit x", "limit must be a whole number"),
        ("clock advance -- -P1D", "not '-P1D'"),
        ("clock advance P30", "by must be a length of time such as P30D"),
        ("clock advance", "takes exactly one of by, to and until"),
        ("ledger --account main find", "--account stands after find, whose option it is"),
    ):
        with subtests.test(words):
            done = run(*words.split(), env={"RESELLER_SANDBOX_URL": server_url})
            assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
            assert message in done.err


def test_help_shows_which_options_take_pairs() -> None:
    for words, shown in (
        ("clock advance", "--until next|NAME=VALUE"),
        ("journal find", "--path TEXT "),
        ("journal find", "--headers NAME=VALUE"),
        ("journal verify", "--in-order NAME=VALUE"),
        ("worlds fork", "--state TEXT "),
    ):
        assert shown in run(*words.split(), "--help").out


def test_a_group_of_one_command_runs_it(server_url: str) -> None:
    """With all its options; its help says so."""
    for group, only in (("ledger", "find"), ("advice", "list"), ("health", "show")):
        words = ["--json", "--url", server_url]
        alone, named = run(group, *words), run(group, only, *words)
        assert (alone.status, alone.out) == (0, named.out)
        assert "By itself: Return" in run(group, "--help").out
