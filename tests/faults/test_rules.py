"""The requests that a rule matches, the requests that it applies to, and its counts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from reseller_sandbox import Refused, Sandbox
from tests.registry import Make

BALANCE = "/v3/balance"
ACTIVE = "/v3/domains/getDomain/active.com"
CREATE = "/v3/domains/createDomain"


@pytest.fixture
def client(sandbox: Sandbox) -> Any:
    return sandbox.client()


def struck(answer: Any) -> bool:
    return "X-Sandbox-Fault" in answer.headers


def create(client: Any, name: str = "new.com", **more: Any) -> Any:
    return client.post(CREATE, json={"domain": {"domainName": name}, **more})


# Matching.

REQUESTS: dict[str, Callable[[Any], Any]] = {
    "balance": lambda client: client.get(BALANCE),
    "active": lambda client: client.get(f"{ACTIVE}?verbose=1"),
    "v2": lambda client: client.get("/V2.0/domain/active.com"),
    "create": lambda client: create(client, "new.com", years=2),
    "spanish": lambda client: create(client, "españa.com"),
    "many": lambda client: client.post(
        "/v3/domains/checkAvailability", json={"domainNames": ["One.net", "active.com"]}
    ),
}


def test_the_requests_that_rules_match(sandbox: Sandbox, client: Any, subtests) -> None:
    """Each rule alone, all rules together, and the same words in a search of the journal."""
    table: list[tuple[dict[str, Any], str]] = [
        ({}, "balance active v2 create spanish many"),
        ({"operation": "v3.balance"}, "balance"),
        ({"operation": "v3.*"}, "balance active create spanish many"),
        ({"operation": ["v2.*", "v3.balance"]}, "balance v2"),
        ({"domain": "active.com"}, "active v2 many"),
        ({"domain": "ACTIVE.*"}, "active v2 many"),
        ({"domain": "*.net"}, "many"),
        ({"domain": "españa.com"}, "spanish"),
        ({"domain": "xn--*"}, "spanish"),
        ({"domain": ["new.com", "one.net"]}, "create many"),
        ({"account": "main"}, "balance active v2 create spanish many"),
        ({"account": "other"}, ""),
        ({"method": "get"}, "balance active v2"),
        ({"path": "/V2.0/*"}, "v2"),
        ({"path": "/v3/*", "method": "POST"}, "create spanish many"),
        ({"body": {"years": 2}}, "create"),
        ({"body": {"domain.domainName": "*.com"}}, "create spanish"),
        ({"body": {"domain": {"domainName": "n*"}}}, "create"),
        ({"body": {"domainNames[1]": "active.com"}}, "many"),
        ({"body": {"domainNames[*]": "One.net"}}, "many"),
        ({"body": {"years": True}}, ""),
        ({"body": {"years": 2, "domain.domainName": "other.com"}}, ""),
        ({"operation": "v3.*", "domain": "active.com"}, "active many"),
        ({"headers": {"x-auth-token": "main-*"}}, "balance active v2 create spanish many"),
        ({"headers": {"Content-Type": "application/json"}}, "create spanish many"),
        ({"headers": {"content-type": None}}, "balance active v2"),
        ({"headers": {"Content-Type": "*", "X-None": "*"}}, ""),
        ({"query": {"verbose": "1"}}, "active"),
        ({"query": {"VERBOSE": "?"}}, "active"),
        ({"query": {"verbose": None}}, "balance v2 create spanish many"),
        ({"method": ["PUT", "DELETE"]}, ""),
        ({"account": "m*"}, "balance active v2 create spanish many"),
        ({"path": "*active.com"}, "active v2"),
        ({"domain": "*ñ*"}, "spanish"),
        ({"domain": "?ctive.c?m"}, "active v2 many"),
        ({"operation": "v3.createDomain", "domain": "new*.com", "account": "main"}, "create"),
    ]
    found: dict[int, list[str]] = {number: [] for number in range(len(table))}
    for number, (match, _) in enumerate(table):
        with sandbox.faults.add("error", status=599, match=match) as placed:
            for name, ask in REQUESTS.items():
                if ask(client).status_code == 599:
                    found[number].append(name)
            assert (placed.matched, placed.struck) == (len(found[number]), len(found[number]))
        sandbox.reset()
    rules = [
        {"kind": "latency", "seconds": 0, "name": f"rule-{number}", "match": match}
        for number, (match, _) in enumerate(table)
    ]
    sandbox.faults.replace(rules)
    for ask in REQUESTS.values():
        ask(client)
    for number, (match, matched) in enumerate(table):
        with subtests.test(match=match):
            assert " ".join(found[number]) == matched
            assert sandbox.faults[f"rule-{number}"].matched == len(found[number])
            if "x-auth-token" not in match.get("headers", {}):  # secrets are masked in the journal
                assert sandbox.journal.count(**match) == len(found[number])


def test_the_outcome_of_a_request_can_be_matched_after_it(sandbox: Sandbox, client: Any, subtests) -> None:
    requests: dict[str, Callable[[], Any]] = {
        "balance": lambda: client.get(BALANCE),
        "create": lambda: create(client, "new.com"),
        "taken": lambda: create(client, "active.com"),
        "missing": lambda: client.get("/v3/domains/getDomain/nobody-has-it.com"),
    }
    for match, matched in (
        ({"outcome": "ok"}, "balance create"),
        ({"outcome": ["name_taken", "404"]}, "taken missing"),
        ({"outcome": "refused"}, "taken missing"),
        ({"carried_out": False}, "taken missing"),
        ({"carried_out": True, "changed": False}, "balance"),
        ({"changed": True}, "create"),
        ({"fault": "slow*"}, "balance create taken missing"),
        ({"fault": "other"}, ""),
    ):
        with subtests.test(match=match):
            sandbox.reset()
            sandbox.faults.add("latency", name="slowly", seconds=0)
            sandbox.faults.add("error", status=599, match=match, when={"phase": "after"})
            assert " ".join(name for name, ask in requests.items() if ask().status_code == 599) == matched


def test_faults_apply_to_malformed_requests_and_not_to_control(sandbox: Sandbox, client: Any) -> None:
    sandbox.faults.add("error", status=599, when={"phase": "after"})
    assert client.post(CREATE, data=b"{", content_type="application/json").status_code == 599
    placed = sandbox.faults.add("reset", name="all")
    assert client.get("/_sandbox/health").status_code == 200
    assert client.post("/_sandbox/history/reset").status_code == 200
    assert placed.matched == 0


# When.


def test_the_requests_that_a_rule_applies_to(sandbox: Sandbox, client: Any, subtests) -> None:
    """A rule that can apply no more is spent."""
    for when, expected, spent in (
        ({}, "xxxxxxxx", False),
        ({"nth": 3}, "--x-----", True),
        ({"nth": [4, 1]}, "x--x----", True),
        ({"every": 3}, "--x--x--", False),
        ({"times": 2}, "xx------", True),
        ({"every": 2, "times": 2}, "-x-x----", True),
        ({"chance": 0}, "--------", False),
        ({"chance": 1}, "xxxxxxxx", False),
        ({"chance": 1, "nth": [2, 3], "times": 1}, "-x------", True),
    ):
        with subtests.test(when=when):
            with sandbox.faults.add("error", error="internal_error", when=when) as placed:
                assert not placed.rules[0].spent
                seen = ""
                for _ in range(8):
                    seen += "x" if struck(client.get(BALANCE)) else "-"
                    last = spent and len(seen) >= expected.rindex("x") + 1
                    assert placed.rules[0].spent is last
                assert seen == expected
                assert placed.struck == expected.count("x")
                assert placed.matched == (expected.rindex("x") + 1 if spent else 8)


def test_from_and_until_are_instants_of_the_world(sandbox: Sandbox, client: Any) -> None:
    when = {"from": "2026-03-02T00:00:00Z", "until": "2026-03-03T00:00:00Z"}
    placed = sandbox.faults.add(kind="error", status=599, when=when)
    seen = []
    for instant in ("2026-03-01T23:59:59Z", "2026-03-02", "2026-03-02T23:59:59Z", "2026-03-03"):
        sandbox.clock.set(instant)
        seen.append(client.get(BALANCE).status_code)
    assert seen == [200, 599, 599, 200]
    (rule,) = placed.rules
    assert (rule["matched"], rule["spent"], rule["when"]) == (2, True, {**when, "phase": "before"})


def test_the_first_decisive_rule_applies(sandbox: Sandbox, client: Any) -> None:
    sandbox.faults.replace(
        [
            {"kind": "error", "status": 501, "when": {"nth": 2}},
            {"kind": "error", "status": 502, "name": "second"},
            {"kind": "error", "status": 503, "name": "third"},
        ]
    )
    assert [client.get(BALANCE).status_code for _ in range(3)] == [502, 501, 502]
    counts = [(rule.matched, rule.struck) for rule in sandbox.faults.list()]
    assert counts == [(2, 1), (2, 2), (0, 0)], "the first is spent, and matches no more"


def test_no_rule_is_tried_after_a_decisive_rule(sandbox: Sandbox, client: Any, subtests) -> None:
    """A later rule could change nothing, and counts nothing."""
    for kind in ("duplicate", "stale", "close", "error"):
        with subtests.test(kind):
            first = {"kind": kind, "name": "first", "when": {"phase": "before"}}
            later = {"kind": "latency", "seconds": 0.001, "name": "later"}
            sandbox.faults.replace([{**first, "status": 599} if kind == "error" else first, later])
            with suppress(ConnectionError):
                client.get(BALANCE)
            assert [(rule.matched, rule.struck) for rule in sandbox.faults.list()] == [(1, 1), (0, 0)]


# Chance.


def strikes(sandbox: Sandbox, requests: int = 60) -> str:
    client = sandbox.client()
    return "".join("x" if struck(client.get(BALANCE)) else "-" for _ in range(requests))


def test_chance_depends_on_the_seed_and_the_name_alone(make: Make) -> None:
    """A rule that matches no request changes nothing for the rules after it."""

    def run(seed: str = "one", name: str = "now-and-then", more: Any = ()) -> str:
        sandbox = make(seed=seed)
        rule = {"name": name, "kind": "error", "status": 500, "when": {"chance": 0.3}}
        sandbox.faults.replace([*more, rule])
        return strikes(sandbox)

    idle = {"kind": "error", "status": 500, "name": "idle", "match": {"account": "nobody"}}
    assert run() == run() == run(more=[idle])
    assert len({run(), run(seed="two"), run(name="tails")}) == 3
    assert 6 <= run().count("x") <= 30


def test_a_rewind_restores_counts_and_chance(sandbox: Sandbox) -> None:
    placed = sandbox.faults.add(kind="error", status=500, when={"chance": 0.4, "times": 5})
    strikes(sandbox, 3)
    before = placed.rules
    first = strikes(sandbox, 20)
    assert placed.rules != before
    sandbox.rewind("r4")
    assert placed.rules == before
    assert strikes(sandbox, 20) == first


def test_a_snapshot_keeps_rules_and_counts_and_a_reset_removes_them(sandbox: Sandbox, client: Any) -> None:
    sandbox.faults.add(kind="error", status=500)
    client.get(BALANCE)
    sandbox.snapshot("broken")
    sandbox.faults.clear()
    assert client.get(BALANCE).status_code == 200
    sandbox.restore("broken")
    assert sandbox.faults.get("error").struck == 1
    assert client.get(BALANCE).status_code == 500
    sandbox.reset()
    assert sandbox.faults.list().faults == ()
    assert client.get(BALANCE).status_code == 200


def test_a_rewind_restores_a_rate_limit(sandbox: Sandbox) -> None:
    sandbox.faults.add(kind="rate_limit", limit=2)
    assert strikes(sandbox, 3) == "--x"
    sandbox.rewind("r1", side="after")
    assert strikes(sandbox, 2) == "-x"


def waited(sandbox: Sandbox) -> list[float]:
    return [entry.held_up_seconds for entry in sandbox.journal.find(limit=1000).requests]


def test_latency_is_drawn_from_the_seed(make: Make) -> None:
    """Evenly between two bounds, or lognormally around a median up to a maximum."""
    runs = []
    for rule in ({"min": 1, "max": 2}, {"min": 1, "max": 2}, {"median": 10, "sigma": 1, "max": 30}):
        sandbox = make()
        sandbox.faults.add("latency", name="slow", **rule)
        strikes(sandbox, 100)
        runs.append(waited(sandbox))
    even, again, lognormal = runs
    assert even == again
    assert all(1 <= seconds < 2 for seconds in even)
    assert len(set(even)) > 90
    assert 1.4 < sum(even) / 100 < 1.6
    assert 30 < sum(seconds < 10 for seconds in lognormal) < 70
    assert max(lognormal) == 30
    assert min(lognormal) < 3


# Keeping rules.


def test_counts_stay_when_other_rules_come_and_go(sandbox: Sandbox, client: Any) -> None:
    """Replaced rules count anew."""
    sandbox.faults.add(kind="latency", seconds=0, name="kept")
    client.get(BALANCE)
    with sandbox.faults.add(kind="latency", seconds=0):
        client.get(BALANCE)
    assert [(rule.name, rule.matched) for rule in sandbox.faults.list()] == [("kept", 2)]
    for _ in range(2):
        sandbox.faults.replace([{"kind": "error", "status": 500, "when": {"times": 1}}])
        assert [client.get(BALANCE).status_code for _ in range(2)] == [500, 200]


def test_names_are_made_from_kinds(sandbox: Sandbox) -> None:
    placed = sandbox.faults.replace([{"kind": "reset"}, {"kind": "reset"}, {"kind": "close"}])
    assert placed.names == ("reset", "reset-2", "close")
    assert sandbox.faults.add(kind="reset").names == ("reset-3",)


def test_lengths_of_time_may_be_text(sandbox: Sandbox) -> None:
    for rule, name, seconds in (
        ({"kind": "latency", "seconds": "1.5"}, "seconds", 1.5),
        ({"kind": "latency", "min": "0.5s", "max": 2}, "min", 0.5),
        ({"kind": "latency", "median": "0.25"}, "median", 0.25),
        ({"kind": "hang", "seconds": "PT1H"}, "seconds", 3600),
        ({"kind": "drip", "pause": "0.05"}, "pause", 0.05),
        ({"kind": "rate_limit", "limit": 1, "window": "2m"}, "window", 120),
    ):
        (found,) = sandbox.faults.replace([rule])
        assert found[name] == seconds
        sandbox.load({"faults": {"loaded": rule}})
        assert sandbox.faults["loaded"][name] == seconds


def test_a_fork_has_its_own_faults(sandbox: Sandbox) -> None:
    sandbox.faults.add(kind="error", status=500)
    forked = sandbox.fork()
    assert [rule.name for rule in forked.faults.list()] == ["error"]
    forked.faults.clear()
    assert forked.client().get(BALANCE).status_code == 200
    assert sandbox.client().get(BALANCE).status_code == 500


# Mistakes.


def test_a_mistake_is_reported_with_its_place(sandbox: Sandbox, subtests) -> None:
    rules: list[tuple[Any, str]] = [
        ({}, "kind is missing; it must be one of error, latency, drip,"),
        ({"kind": "restart"}, "kind must be one of error,"),
        ({"kind": "reset", "bytes": 1}, "bytes is not known here"),
        ({"kind": "reset", "when": {"chance": 1.5}}, "when.chance must be a number from 0 to 1"),
        ({"kind": "reset", "when": {"chance": "1"}}, "when.chance must be a number"),
        ({"kind": "reset", "when": {"nth": 0}}, "when.nth must be a whole number from 1 to"),
        ({"kind": "reset", "when": {"nth": []}}, "when.nth is an empty list"),
        ({"kind": "reset", "when": {"tmies": 1}}, "when.tmies is not known here; the nearest is times"),
        ({"kind": "reset", "when": []}, "when must be an object"),
        ({"kind": "reset", "when": {"from": "tomorrow"}}, "when.from must be an instant from"),
        (
            {"kind": "reset", "when": {"from": "2027-01-01", "until": "2026-01-01"}},
            "when.until must be later than from",
        ),
        ({"kind": "reset", "when": {"phase": "during"}}, "when.phase must be one of before, after"),
        ({"kind": "truncate", "when": {"phase": "before"}}, "when.phase must be after for the kind truncate"),
        ({"kind": "rate_limit", "limit": 1, "when": {"phase": "after"}}, "when.phase must be before"),
        ({"kind": "reset", "match": {"changed": True}}, "match.changed goes with the phase after"),
        (
            {"kind": "reset", "match": {"operation": "v3.createDoman"}},
            "match.operation matches no operation; the nearest is v3.createDomain",
        ),
        ({"kind": "reset", "match": {"domain": ["a.com", 7]}}, "match.domain must be text"),
        ({"kind": "reset", "match": {"body": {"a..b": 1}}}, "match.body must be a path"),
        ({"kind": "reset", "match": {"body": "a"}}, "match.body must be an object of paths"),
        ({"kind": "reset", "name": "a b"}, "name must be up to 64 letters"),
        ({"kind": "error"}, "the rule takes an error, or a status with a body"),
        (
            {"kind": "error", "error": "name_taken_"},
            "error is the name of no documented error; the nearest is name_taken",
        ),
        (
            {"kind": "error", "error": "Mail already registered", "match": {"operation": "v3.*"}},
            "error is no error of v3, whose operations the rule matches",
        ),
        ({"kind": "error", "error": "name_taken", "body": {}}, "body does not go with an error"),
        ({"kind": "error", "status": 500, "facts": {"a": 1}}, "facts does not go with a raw status"),
        ({"kind": "error", "status": 99}, "status must be a whole number from 200 to 599"),
        ({"kind": "error", "status": 500, "content_type": "a\r\nb: c"}, "content_type must be a media type"),
        ({"kind": "latency"}, "the rule takes seconds, or min and max, or median"),
        ({"kind": "latency", "min": 1}, "max is missing"),
        ({"kind": "latency", "min": 2, "max": 1}, "max must not be less than min"),
        ({"kind": "latency", "seconds": -1}, "seconds must be a number from 0 to 86400"),
        ({"kind": "latency", "seconds": "soon"}, "seconds must be a length of time"),
        ({"kind": "latency", "seconds": float("nan")}, "seconds must be a number from 0 to 86400"),
        ({"kind": "drip", "size": 0}, "size must be a whole number from 1 to"),
        ({"kind": "garbage", "hex": "xyz"}, "hex must be hexadecimal digits"),
        ({"kind": "garbage", "hex": "00", "text": "a"}, "hex does not go with text"),
        (
            {"kind": "mutate", "path": "a", "drop": True, "value": 1},
            "the rule takes one of value, drop and type",
        ),
        ({"kind": "mutate", "path": "a[b]", "drop": True}, "path must be a path such as"),
        ({"kind": "mutate", "drop": True}, "path is missing"),
        ({"kind": "stale", "commits": 0}, "commits must be a whole number from 1 to"),
        (
            {"kind": "reset", "match": {"since": "r1"}},
            "match.since is for requests of the past; use when.from",
        ),
        ({"preset": "flakey"}, "preset must be one of flaky, outage,"),
        ({"preset": "slow", "limit": 3}, "limit is no parameter of the preset slow"),
        ({"preset": "slow", "when": {"chance": 2}}, "when.chance must be a number from 0 to 1"),
        *(
            ({"kind": "latency", "seconds": text}, "seconds must be")
            for text in ("1.5.5", "nan", "1e3", ".", "86400.5")
        ),
        *(
            ({"kind": "rate_limit", "limit": 1, "window": window}, "window must")
            for window in (0, "0s", 0.0, "PT0S", -1)
        ),
    ]
    for rule, problem in rules:
        with subtests.test(rule=rule):
            with pytest.raises(Refused) as caught:
                sandbox.faults.add(**rule)
            assert caught.value.code == "invalid_parameter"
            assert caught.value.message.startswith(problem)
            assert sandbox.faults.list().faults == ()


def test_a_bad_rule_changes_nothing_and_every_mistake_is_reported(sandbox: Sandbox) -> None:
    sandbox.faults.add(kind="reset")
    before = sandbox.faults.list()
    rules: list[Any] = [
        {"kind": "close", "name": "one"},
        {"kind": "close", "name": "one"},
        {"kind": "close", "when": {"chance": 7, "every": 0}},
        "reset",
    ]
    with pytest.raises(Refused) as caught:
        sandbox.faults.replace(rules)
    for problem in (
        "faults[1].name is the name of faults[0]",
        "faults[2].when.chance must be a number from 0 to 1, not 7",
        "faults[2].when.every must be a whole number from 1 to 100000000000, not 0",
        "faults[3] must be an object",
    ):
        assert problem in caught.value.message
    assert sandbox.faults.list() == before
