"""The requests that a rule matches, the requests that it applies to, its counts, and mistakes in rules."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from itertools import permutations
from typing import Any

import pytest

from reseller_sandbox import Refused, Sandbox
from tests.faults.conftest import create
from tests.registry import Make

BALANCE = "/v3/balance"


def strikes(sandbox: Sandbox, requests: int = 60) -> str:
    """Return a letter for each request: x if a fault applies."""
    client = sandbox.client()
    answers = [client.get(BALANCE) for _ in range(requests)]
    return "".join("x" if "X-Sandbox-Fault" in answer.headers else "-" for answer in answers)


REQUESTS: dict[str, Callable[[Any], Any]] = {
    "balance": lambda client: client.get(BALANCE),
    "active": lambda client: client.get("/v3/domains/getDomain/active.com?verbose=1"),
    "v2": lambda client: client.get("/V2.0/domain/active.com"),
    "create": lambda client: create(client, "new.com", years=2),
    "spanish": lambda client: create(client, "españa.com"),
    "many": lambda client: client.post(
        "/v3/domains/checkAvailability", json={"domainNames": ["One.net", "active.com"]}
    ),
}


def test_a_match_finds_the_same_requests_in_a_fault_rule_and_in_the_journal(
    sandbox: Sandbox, client: Any, subtests
) -> None:
    table: list[tuple[dict[str, Any], str]] = [
        ({}, "balance active v2 create spanish many"),
        ({"operation": "v3.*"}, "balance active create spanish many"),
        ({"operation": ["v2.*", "v3.balance"]}, "balance v2"),
        ({"domain": "ACTIVE.*"}, "active v2 many"),
        ({"domain": "?ctive.c?m"}, "active v2 many"),
        ({"domain": "españa.com"}, "spanish"),
        ({"domain": "xn--*"}, "spanish"),
        ({"domain": ["new.com", "one.net"]}, "create many"),
        ({"account": "m*"}, "balance active v2 create spanish many"),
        ({"account": "other"}, ""),
        ({"method": "get"}, "balance active v2"),
        ({"method": ["PUT", "DELETE"]}, ""),
        ({"path": "*active.com"}, "active v2"),
        ({"path": "/v3/*", "method": "POST"}, "create spanish many"),
        ({"body": {"years": 2}}, "create"),
        ({"body": {"years": True}}, ""),
        ({"body": {"domain.domainName": "*.com"}}, "create spanish"),
        ({"body": {"domain": {"domainName": "n*"}}}, "create"),
        ({"body": {"domainNames[1]": "active.com"}}, "many"),
        ({"body": {"domainNames[*]": "One.net"}}, "many"),
        ({"body": {"years": 2, "domain.domainName": "other.com"}}, ""),
        ({"headers": {"x-auth-token": "main-*"}}, "balance active v2 create spanish many"),
        ({"headers": {"Content-Type": "application/json"}}, "create spanish many"),
        ({"headers": {"content-type": None}}, "balance active v2"),
        ({"headers": {"Content-Type": "*", "X-None": "*"}}, ""),
        ({"query": {"VERBOSE": "?"}}, "active"),
        ({"query": {"verbose": None}}, "balance v2 create spanish many"),
    ]
    sandbox.faults.replace([{"kind": "latency", "seconds": 0, "match": match} for match, _ in table])
    for ask in REQUESTS.values():
        ask(client)
    headers = [ask(client).headers["X-Sandbox-Fault"].split(", ") for ask in REQUESTS.values()]
    for (match, matched), rule in zip(table, list(sandbox.faults), strict=True):
        with subtests.test(match=match):
            found = [name for name, applied in zip(REQUESTS, headers, strict=True) if rule.name in applied]
            assert " ".join(found) == matched
            assert (rule.matched, rule.applied) == (2 * len(found), 2 * len(found))
            if "x-auth-token" not in match.get("headers", {}):  # secrets are masked in the journal
                assert sandbox.journal.count(**match) == 2 * len(found)


def test_a_fault_rule_can_match_the_outcome_of_a_request_in_the_phase_after(
    sandbox: Sandbox, client: Any, subtests
) -> None:
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


def test_a_fault_rule_applies_to_the_matches_that_its_conditions_select(sandbox: Sandbox, subtests) -> None:
    """A rule that can apply no more is spent."""
    for when, expected, exhausted in (
        ({}, "xxxxxxxx", False),
        ({"nth": 3}, "--x-----", True),
        ({"nth": [4, 1]}, "x--x----", True),
        ({"every": 3}, "--x--x--", False),
        ({"times": 2}, "xx------", True),
        ({"every": 2, "times": 2}, "-x-x----", True),
        ({"chance": 0}, "--------", False),
        ({"chance": 1, "nth": [2, 3], "times": 1}, "-x------", True),
    ):
        with subtests.test(when=when):
            with sandbox.faults.add("error", error="internal_error", when=when) as placed:
                before = expected.rindex("x") if exhausted else 8
                assert strikes(sandbox, before) == expected[:before]
                assert not placed.rules[0].exhausted
                assert strikes(sandbox, 8 - before) == expected[before:]
                assert placed.rules[0].exhausted is exhausted
                assert placed.applied == expected.count("x")
                assert placed.matched == (before + 1 if exhausted else 8)


def test_the_keys_from_and_until_of_a_fault_rule_use_the_clock_of_the_world(
    sandbox: Sandbox, client: Any
) -> None:
    """Given as instants, or as lengths of time that are added to the world's time."""
    when = {"from": "2026-03-02T00:00:00Z", "until": "2026-03-03T00:00:00Z"}
    placed = sandbox.faults.add(kind="error", status=599, when={**when, "until": "PT36H"})
    seen = []
    for instant in ("2026-03-01T23:59:59Z", "2026-03-02", "2026-03-02T23:59:59Z", "2026-03-03"):
        sandbox.clock.set(instant)
        seen.append(client.get(BALANCE).status_code)
    assert seen == [200, 599, 599, 200]
    (rule,) = placed.rules
    assert (rule["matched"], rule["exhausted"], rule["when"]) == (2, True, {**when, "phase": "before"})


def test_no_fault_rule_is_tried_after_a_rule_that_decides_the_response(
    sandbox: Sandbox, client: Any, subtests
) -> None:
    """A later rule could change nothing, and counts nothing."""
    sandbox.faults.replace(
        [{"kind": "error", "status": 501, "when": {"nth": 2}}, *({"kind": "error", "status": 502},) * 2]
    )
    assert [client.get(BALANCE).status_code for _ in range(3)] == [502, 501, 502]
    counts = [(rule.matched, rule.applied) for rule in sandbox.faults.list()]
    assert counts == [(2, 1), (2, 2), (0, 0)], "the first is spent, and matches no more"
    for kind in ("duplicate", "stale", "close"):
        with subtests.test(kind):
            later = {"kind": "latency", "seconds": 0.001}
            sandbox.faults.replace([{"kind": kind, "when": {"phase": "before"}}, later])
            with suppress(ConnectionError):
                client.get(BALANCE)
            assert [(rule.matched, rule.applied) for rule in sandbox.faults.list()] == [(1, 1), (0, 0)]


def test_the_chance_of_a_fault_rule_depends_only_on_the_seed_and_its_name(make: Make) -> None:
    """A rule that matches no request changes nothing for the rules after it."""

    def drawn(seed: str = "one", name: str = "now-and-then", more: Any = ()) -> str:
        sandbox = make(seed=seed)
        rule = {"name": name, "kind": "error", "status": 500, "when": {"chance": 0.3}}
        sandbox.faults.replace([*more, rule])
        return strikes(sandbox)

    idle = {"kind": "error", "status": 500, "name": "idle", "match": {"account": "nobody"}}
    assert drawn() == drawn() == drawn(more=[idle])
    assert len({drawn(), drawn(seed="two"), drawn(name="tails")}) == 3
    assert 6 <= drawn().count("x") <= 30


def test_random_latency_depends_only_on_the_seed(make: Make) -> None:
    """Evenly between two bounds, or lognormally around a median up to a maximum."""
    runs = []
    for rule in ({"min": 1, "max": 2}, {"min": 1, "max": 2}, {"median": 10, "sigma": 1, "max": 30}):
        sandbox = make()
        sandbox.faults.add("latency", name="slow", **rule)
        strikes(sandbox, 100)
        runs.append([entry.held_up_seconds for entry in sandbox.journal.list(limit=1000).requests])
    even, again, lognormal = runs
    assert even == again
    assert all(1 <= seconds < 2 for seconds in even)
    assert len(set(even)) > 90
    assert 1.4 < sum(even) / 100 < 1.6
    assert 30 < sum(seconds < 10 for seconds in lognormal) < 70
    assert (max(lognormal), min(lognormal) < 3) == (30, True)


def test_a_snapshot_keeps_fault_rules_and_counts_and_a_reset_removes_both(
    sandbox: Sandbox, client: Any
) -> None:
    sandbox.faults.add(kind="error", status=500)
    client.get(BALANCE)
    sandbox.snapshot("broken")
    forked = sandbox.fork()
    sandbox.faults.clear()
    assert client.get(BALANCE).status_code == 200
    assert forked.client().get(BALANCE).status_code == 500
    sandbox.restore("broken")
    assert sandbox.faults.get("error").applied == 1
    assert client.get(BALANCE).status_code == 500
    sandbox.reset()
    assert sandbox.faults.list().faults == ()
    assert client.get(BALANCE).status_code == 200


CREATE = {"operation": "v3.createDoman"}
BACKWARDS = {"from": "2027-01-01", "until": "2026-01-01"}
OF_V2 = {"error": "Mail already registered", "match": {"operation": "v3.*"}}
#: For each kind, parameters with a mistake, and the beginning of the message.
MISTAKES: dict[str, list[tuple[dict[str, Any], str]]] = {
    "reset": [
        ({"name": "a b"}, "name must be up to 80 letters"),
        ({"when": {"chance": 1.5}}, "when.chance must be a number from 0 to 1"),
        ({"when": {"nth": 0}}, "when.nth must be an integer from 1 to"),
        ({"when": {"nth": []}}, "when.nth must have 1 to 1000 items, not 0"),
        ({"when": {"tmies": 1}}, "when.tmies is not known here; did you mean times"),
        ({"when": {"from": "tomorrow"}}, "when.from must be an instant, or a duration"),
        ({"when": BACKWARDS}, "when.until must be later than from"),
        ({"when": {"phase": "during"}}, "when.phase must be one of before, after"),
        ({"match": {"changed": True}}, "match.changed requires the phase after"),
        ({"match": CREATE}, "match.operation matches no operation; did you mean v3.createDomain"),
        ({"match": {"body": {"a..b": 1}}}, "match.body.a..b must be a path"),
        ({"match": {"path": "*" * 1001}}, "match.path must have 1 to 1000 characters"),
        ({"match": {"since": "r1"}}, "match.since is only for past requests; use when.from"),
    ],
    "error": [
        ({}, "the rule requires an error or a status"),
        (
            {"error": "name_taken_"},
            "error 'name_taken_' is not the name of a documented error; did you mean name_taken",
        ),
        (OF_V2, "error is not an error of v3, whose operations the rule matches"),
        ({"status": 500, "facts": {"a": 1}}, "facts is not allowed with a raw status"),
    ],
    "latency": [
        ({}, "the rule requires seconds, or min and max, or median"),
        ({"min": 2, "max": 1}, "max must not be less than min"),
        ({"seconds": float("nan")}, "seconds has a number that is not finite"),
        *(({"seconds": text}, "seconds must be") for text in ("1.5.5", "nan", "1e3", ".", "86400.5")),
    ],
    "mutate": [
        (
            {"path": "a", "drop": True, "value": 1},
            "the rule requires exactly one of value, drop, type and add",
        ),
        (
            {"path": "status", "value": None},
            "the rule requires exactly one of value, drop, type and add; for null",
        ),
        ({"path": "a[b]", "drop": True}, "path must be a path such as"),
        ({"path": "a.*", "add": 1}, "path must end with a key or an index, not with *, to add a value"),
    ],
    "truncate": [({"when": {"phase": "before"}}, "when.phase must be after for the kind truncate")],
    "garbage": [({"hex": "xyz"}, "hex must be hexadecimal digits")],
    "rate_limit": [
        ({"limit": 1, "when": {"phase": "after"}}, "when.phase must be before"),
        *(({"limit": 1, "window": window}, "window must") for window in (0, "0s", "PT0S", -1)),
    ],
    "restart": [({}, "kind must be one of error,")],
}


def test_a_mistake_in_a_fault_rule_is_reported_with_its_path(sandbox: Sandbox, subtests) -> None:
    rules = [({"kind": kind, **rule}, problem) for kind in MISTAKES for rule, problem in MISTAKES[kind]]
    rules += [
        ({}, "kind is missing; it must be one of error, mutate, rate_limit,"),
        ({"preset": "flakey"}, "preset must be one of flaky, outage,"),
        ({"preset": "slow", "limit": 3}, "limit is not a parameter of the preset slow"),
    ]
    for rule, problem in rules:
        with subtests.test(rule=rule):
            with pytest.raises(Refused) as caught:
                sandbox.faults.add(**rule)
            assert caught.value.code == "invalid_parameter"
            assert caught.value.message.startswith(problem)
            assert "not None" not in caught.value.message
            assert sandbox.faults.list().faults == ()


def test_mistakes_in_a_fault_rule_of_unknown_kind_are_listed_in_the_order_of_its_keys(
    sandbox: Sandbox,
) -> None:
    for wrong in permutations({"name": "!!", "match": 5, "when": 7}.items()):
        with pytest.raises(Refused) as caught:
            sandbox.faults.replace([{"kind": "x", **dict(wrong)}])
        listed = re.findall(r"; faults\[0\]\.(\w+) must be", caught.value.message)
        assert listed == [key for key, _ in wrong]


def test_an_invalid_fault_rule_changes_nothing_and_all_mistakes_are_reported(sandbox: Sandbox) -> None:
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
        "faults[2].when.every must be an integer from 1 to 100000000000, not 0",
        "faults[3] must be an object",
    ):
        assert problem in caught.value.message
    assert sandbox.faults.list() == before
