"""What a rule says ends up in headers, in bodies and in matching: none of it can do harm there."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from reseller_sandbox.core.clock import stopwatch
from reseller_sandbox.core.refusals import Refused
from tests.faults.conftest import Dialler
from tests.registry import REGISTRY

BALANCE = "/v3/balance"


def test_headers_of_an_error(dial: Dialler, served: Sandbox) -> None:
    """Of a documented one and of a raw one, in either phase; no others are lost for it."""
    for error in ({"error": "service_unavailable"}, {"status": 503, "body": {}}):
        for phase in ("before", "after"):
            headers = {"X-RateLimit-Reset": "30", "Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}
            with served.faults.add("error", **error, headers=headers, when={"phase": phase}):
                answer = dial.get(BALANCE)
            assert answer.status == 503
            assert answer.headers["x-ratelimit-reset"] == "30"
            assert answer.headers["retry-after"] == headers["Retry-After"].lower()
            assert answer.headers["x-sandbox-fault"] == "error"


@pytest.mark.parametrize(
    "headers",
    [
        {"X-A": "a\r\nX-Evil: 1"},
        {"X-A": "a\nb"},
        {"X-A": "\x00"},
        {"X-A": "é"},
        {"X-A": " a"},
        {"X-A": 5},
        {"X-A": None},
        {"X-A": "a" * 5000},
        {"X A": "a"},
        {"X-A:": "a"},
        {"": "a"},
        {"Content-Length": "5"},
        {"transfer-encoding": "chunked"},
        {"Connection": "close"},
        {"Content-Type": "text/plain"},
        {"X-Sandbox-World": "other"},
        {f"X-{number}": "a" for number in range(60)},
        {},
        [],
    ],
)
def test_headers_that_no_answer_could_carry(sandbox: Sandbox, headers: Any) -> None:
    """They are refused, each with its place."""
    with pytest.raises(Refused, match="headers"):
        sandbox.faults.add("error", status=500, headers=headers)


@pytest.mark.parametrize(
    "value", ["", "text", "a/b\r\nX: 1", "a/b;c", "é/b", "text/html; charset=\x00", "a/b/c", 7]
)
def test_a_content_type_is_a_media_type(sandbox: Sandbox, value: Any) -> None:
    """And nothing else is taken for one."""
    with pytest.raises(Refused, match="content_type"):
        sandbox.faults.add("error", status=500, content_type=value)


@pytest.fixture(scope="module")
def struck() -> Sandbox:
    return Sandbox(REGISTRY)


@given(
    st.fixed_dictionaries(
        {"kind": st.just("error"), "status": st.sampled_from([200, 500])},
        optional={
            "content_type": st.text(max_size=30) | st.just("text/plain; charset=utf-8"),
            "body": st.text(max_size=30) | st.dictionaries(st.text(max_size=5), st.text(max_size=5)),
            "headers": st.dictionaries(st.text(max_size=8), st.text(max_size=8), min_size=1, max_size=2),
        },
    )
)
def test_whatever_a_rule_takes_it_can_answer(struck: Sandbox, rule: dict[str, Any]) -> None:
    """Either it is refused, or the answer has the status that it asks for."""
    struck.faults.clear()
    try:
        struck.faults.replace([rule])
    except Refused:
        return
    assert struck.client().get(BALANCE).status_code == rule["status"]


@pytest.mark.parametrize("window", [0, "0s", 0.0, "PT0S", -1])
def test_a_window_has_a_length(sandbox: Sandbox, window: Any) -> None:
    """A limit in no time at all limits nothing, or everything."""
    with pytest.raises(Refused, match="window must"):
        sandbox.faults.add("rate_limit", limit=1, window=window)


#: Where a user's glob is matched against what a client sends.
WORST = "*a" * 499 + "b"


@pytest.mark.parametrize(
    "match",
    [
        {"path": WORST},
        {"headers": {"User-Agent": WORST}},
        {"query": {"q": WORST}},
        {"body": {"text": WORST}},
        {"domain": [WORST] * 20},
    ],
)
def test_no_glob_holds_up_a_world(sandbox: Sandbox, match: dict[str, Any]) -> None:
    """The worst that is taken, against the longest that comes; the journal's are as quick."""
    sandbox.faults.add("close", match=match)
    client, long = sandbox.client(), "a" * 60_000
    began = stopwatch()
    client.post(f"/v3/{long}", query_string={"q": long}, headers={"User-Agent": long}, json={"text": long})
    sandbox.journal.count(**match)
    assert stopwatch() - began < 30  # another matcher would take years


@pytest.mark.parametrize("part", ["operation", "domain", "account", "method", "path", "fault"])
def test_a_glob_has_a_length_wherever_one_is_taken(sandbox: Sandbox, part: str) -> None:
    """40 KB of stars are refused by faults, journal, verification, ledger and plans."""
    client, stars = sandbox.client(), "*a" * 20_000
    when = {"phase": "after"}
    rule = {"kind": "close", "match": {part: stars}, "when": when}
    assert client.post("/_sandbox/faults", json=rule).status_code == 400
    assert client.get("/_sandbox/journal", query_string={part: stars}).status_code == 400
    assert client.post("/_sandbox/journal/verify", json={"match": {part: stars}}).status_code == 400
    assert client.get("/_sandbox/ledger", query_string={"operation": stars}).status_code == 400
    plan = {"domain": "new.com", "after": {"operation": stars}}
    assert client.post("/_sandbox/outside/register", json=plan).status_code == 400
