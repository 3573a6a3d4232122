"""Words of a command become parameters: texts, JSON, or objects written as NAME=VALUE."""

from __future__ import annotations

import json
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.command import printed

#: Words of a command, and the parameters that the server gets.
CASES: tuple[tuple[str | list[str], dict[str, Any]], ...] = (
    ("journal find --path a=b,c=d --path *", {"path": ["a=b,c=d", "*"]}),
    (["journal", "find", "--domain", '["*.com", "*.net"]'], {"domain": ["*.com", "*.net"]}),
    ("journal find --operation 7", {"operation": "7"}),
    ("journal find --query page=1 --query q=a=b", {"query": {"page": "1", "q": "a=b"}}),
    ("journal find --headers Accept=text/html,image/*", {"headers": {"Accept": "text/html,image/*"}}),
    ("journal find --headers X-Other=null", {"headers": {"X-Other": None}}),
    (["journal", "find", "--headers", '{"X-Other": null}'], {"headers": {"X-Other": None}}),
    ("journal find --body years=2,name=x.com,paid=1.5", {"body": {"years": 2, "name": "x.com", "paid": 1.5}}),
    ("journal find --no-changed --limit 5", {"changed": False, "limit": 5}),
    (
        "journal verify --in-order operation=v3.* --in-order path=/v3/*,changed=true",
        {"in_order": [{"operation": "v3.*"}, {"path": "/v3/*", "changed": True}]},
    ),
    (["journal", "verify", "--in-order", '[{"operation": "v3.*"}]'], {"in_order": [{"operation": "v3.*"}]}),
    ("clock advance 3600.0", {"by": "PT1H"}),
    ("outside hold x.com --at 3600.0", {"domain": "x.com", "at": "3600"}),
    ("outside hold x.com --after v3.a*", {"domain": "x.com", "after": "v3.a*"}),
    (
        "outside hold x.com --after operation=v3.a*,domain=*.com",
        {"domain": "x.com", "after": {"operation": "v3.a*", "domain": "*.com"}},
    ),
    (
        "assumptions set v3.ids=integer v3.list.last_page=always --profile observed",
        {"assume": {"v3.ids": "integer", "v3.list.last_page": "always"}, "profile": "observed"},
    ),
    ("worlds fork --state 0", {"state": "0"}),
    (["worlds", "fork", "--state", '{"zones": {}}'], {"state": {"zones": {}}}),
    ("faults add error --body a=b", {"kind": "error", "body": "a=b"}),
    (
        "faults add latency --seconds 0.5 --match operation=v3.* --when times=2",
        {"kind": "latency", "seconds": 0.5, "match": {"operation": "v3.*"}, "when": {"times": 2}},
    ),
)


class Recorder(BaseHTTPRequestHandler):
    """Keeps the parameters of each request in a list of its server."""

    def do_GET(self) -> None:
        query = dict(parse_qsl(urlsplit(self.path).query))
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        sent = (json.loads(body), False) if body else (query, True)
        self.server.requests.append(sent)  # type: ignore[attr-defined]
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_: Any) -> None:
        pass


def test_words_are_read_as_the_parameter_needs(subtests: pytest.Subtests) -> None:
    """A word is a text where a text is accepted; else JSON, or pairs."""
    with HTTPServer(("127.0.0.1", 0), Recorder) as server:
        requests: list[tuple[Any, bool]] = []
        server.requests = requests  # type: ignore[attr-defined]
        Thread(target=server.serve_forever, daemon=True).start()
        for words, expected in CASES:
            with subtests.test(str(words)):
                listed = words.split() if isinstance(words, str) else words
                printed(*listed, "--url", f"http://127.0.0.1:{server.server_port}", "--json")
                sent, in_query = requests.pop()
                if in_query:
                    sent, expected = read(sent), read(expected)
                assert sent == expected
        server.shutdown()


def read(query: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a query string, JSON read as JSON."""
    values = dict(query)
    for name, value in query.items():
        with suppress(TypeError, ValueError):
            values[name] = json.loads(value)
    return values
