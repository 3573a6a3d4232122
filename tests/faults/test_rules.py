"""Which requests a rule matches, when it strikes, and what it counts."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.faults.kinds.drip import Drip
from reseller_sandbox.faults.reading import BadFaults
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


@pytest.mark.parametrize(
    ("match", "matched"),
    [
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
    ],
)
def test_match(sandbox: Sandbox, client: Any, match: Any, matched: str) -> None:
    placed = sandbox.faults.add(kind="error", status=599, match=match)
    found = [name for name, ask in REQUESTS.items() if ask(client).status_code == 599]
    assert " ".join(found) == matched
    assert (placed.matched, placed.struck) == (len(found), len(found))


def test_a_rule_may_match_only_what_changed_something(sandbox: Sandbox, client: Any) -> None:
    placed = sandbox.faults.add(kind="error", status=599, when={"phase": "after"}, match={"changed": True})
    assert client.get(BALANCE).status_code == 200
    assert create(client, "active.com").status_code == 409
    assert create(client).status_code == 599
    placed.remove()
    sandbox.faults.add(kind="error", status=598, when={"phase": "after"}, match={"changed": False})
    assert create(client, "second.com").status_code == 598
    assert create(client, "newer.com").status_code == 200


@pytest.mark.parametrize(
    ("match", "matched"),
    [
        ({"outcome": "ok"}, "balance create"),
        ({"outcome": ["name_taken", "404"]}, "taken missing"),
        ({"outcome": "refused"}, "taken missing"),
        ({"carried_out": False}, "taken missing"),
        ({"carried_out": True, "changed": False}, "balance"),
        ({"fault": "slow*"}, "balance create taken missing"),
        ({"fault": "other"}, ""),
    ],
)
def test_what_came_of_a_request_can_be_matched_after_it(
    sandbox: Sandbox, client: Any, match: Any, matched: str
) -> None:
    sandbox.faults.add("latency", name="slowly", seconds=0)
    sandbox.faults.add("error", status=599, match=match, when={"phase": "after"})
    asked: dict[str, Callable[[], Any]] = {
        "balance": lambda: client.get(BALANCE),
        "create": lambda: create(client, "new.com"),
        "taken": lambda: create(client, "active.com"),
        "missing": lambda: client.get("/v3/domains/getDomain/nobody-has-it.com"),
    }
    assert " ".join(name for name, ask in asked.items() if ask().status_code == 599) == matched


def test_journal_and_faults_match_alike(sandbox: Sandbox, client: Any) -> None:
    """One language: what a rule would have struck is what the journal finds by the same words."""
    for ask in REQUESTS.values():
        ask(client)
    for match in (
        {"operation": ["v2.*", "v3.balance"]},
        {"headers": {"x-auth-token": None}},
        {"headers": {"Content-Type": "*json"}},
        {"query": {"verbose": "1"}},
        {"body": {"domain.domainName": "*.com"}},
        {"domain": "españa.com"},
        {"path": "/v3/*", "method": "POST"},
    ):
        found = sandbox.journal.count(**match)
        with sandbox.faults.add("error", status=599, match=match) as placed:
            for ask in REQUESTS.values():
                ask(client)
            assert placed.matched == found > 0 or match == {"headers": {"x-auth-token": None}}, match
        sandbox.reset()
        for ask in REQUESTS.values():
            ask(client)


def test_control_is_never_struck(sandbox: Sandbox, client: Any) -> None:
    placed = sandbox.faults.add(kind="reset")
    assert client.get("/_sandbox/health").status_code == 200
    assert client.post("/_sandbox/history/reset").status_code == 200
    assert placed.matched == 0


def test_a_malformed_request_is_struck_like_any(sandbox: Sandbox, client: Any) -> None:
    sandbox.faults.add(kind="error", status=599, when={"phase": "after"})
    assert client.post(CREATE, data=b"{", content_type="application/json").status_code == 599


# When.


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ({}, "xxxxxxxx"),
        ({"nth": 3}, "--x-----"),
        ({"nth": [1, 4]}, "x--x----"),
        ({"every": 3}, "--x--x--"),
        ({"times": 2}, "xx------"),
        ({"every": 2, "times": 2}, "-x-x----"),
        ({"chance": 0}, "--------"),
        ({"chance": 1}, "xxxxxxxx"),
        ({"chance": 1, "nth": [2, 3], "times": 1}, "-x------"),
    ],
)
def test_counts(sandbox: Sandbox, client: Any, when: Any, expected: Any) -> None:
    placed = sandbox.faults.add(kind="error", error="internal_error", when=when)
    assert "".join("x" if struck(client.get(BALANCE)) else "-" for _ in range(8)) == expected
    assert placed.struck == expected.count("x")


def test_a_rule_that_is_spent_matches_no_more(sandbox: Sandbox, client: Any) -> None:
    placed = sandbox.faults.add(kind="error", status=500, when={"times": 1})
    assert not placed.rules[0].spent
    client.get(BALANCE)
    client.get(BALANCE)
    (rule,) = placed.rules
    assert (rule["matched"], rule["struck"], rule["spent"]) == (1, 1, True)


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


def test_the_first_that_decides_is_the_last_that_strikes(sandbox: Sandbox, client: Any) -> None:
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


def test_a_drip_without_words_is_a_byte_every_tenth_of_a_second() -> None:
    """Slow enough to be seen, and not so slow that a short answer never ends."""
    assert Drip() == Drip(size=1, pause=0.1)


@pytest.mark.parametrize("kind", ["duplicate", "stale", "close", "error"])
def test_after_what_decides_no_rule_is_tried(sandbox: Sandbox, client: Any, kind: str) -> None:
    """It could change nothing more, and so it counts nothing."""
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


def test_the_same_seed_strikes_the_same_requests(make: Make) -> None:
    rule: dict[str, Any] = {"name": "now and then", "kind": "error", "status": 500, "when": {"chance": 0.3}}
    rule["name"] = "sometimes"
    runs = {}
    for number, seed in enumerate(["one", "one", "two"]):
        sandbox = make(seed=seed)
        sandbox.faults.add(**rule)
        runs[number] = strikes(sandbox)
    assert runs[0] == runs[1] != runs[2]
    assert 6 <= runs[0].count("x") <= 30


def test_another_name_is_other_luck(make: Make) -> None:
    runs = []
    for name in ("heads", "tails"):
        sandbox = make()
        sandbox.faults.add(name=name, kind="error", status=500, when={"chance": 0.5})
        runs.append(strikes(sandbox))
    assert runs[0] != runs[1]


def test_a_rule_that_matches_nothing_changes_nobodys_luck(make: Make) -> None:
    runs = []
    for more in ([], [{"kind": "error", "status": 500, "name": "idle", "match": {"account": "nobody"}}]):
        sandbox = make()
        sandbox.faults.replace(
            [*more, {"name": "rule", "kind": "error", "status": 500, "when": {"chance": 0.5}}]
        )
        runs.append(strikes(sandbox))
    assert runs[0] == runs[1]


def test_rewinding_brings_counts_and_chance_back(sandbox: Sandbox) -> None:
    placed = sandbox.faults.add(kind="error", status=500, when={"chance": 0.4, "times": 5})
    strikes(sandbox, 3)
    before = placed.rules
    first = strikes(sandbox, 20)
    assert placed.rules != before
    sandbox.rewind("r4")
    assert placed.rules == before
    assert strikes(sandbox, 20) == first


def test_a_snapshot_keeps_rules_and_counts_and_a_reset_takes_them_away(sandbox: Sandbox, client: Any) -> None:
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


def test_a_limits_memory_is_rewound_too(sandbox: Sandbox) -> None:
    sandbox.faults.add(kind="rate_limit", limit=2)
    assert strikes(sandbox, 3) == "--x"
    sandbox.rewind("r1", side="after")
    assert strikes(sandbox, 2) == "-x"


def test_latency_is_drawn_from_the_seed(make: Make) -> None:
    waited: list[float] = []
    for _ in range(2):
        sandbox = make()
        sandbox.faults.replace(
            [
                {"kind": "latency", "name": "even", "min": 1, "max": 2, "when": {"nth": list(range(1, 101))}},
                {
                    "kind": "latency",
                    "name": "log",
                    "median": 10,
                    "sigma": 1,
                    "max": 300,
                    "when": {"every": 101},
                },
            ]
        )
        strikes(sandbox, 100)
        waited += (entry.held_up for entry in sandbox.world.journal)
    even, again = waited[:100], waited[100:]
    assert even == again
    assert all(1 <= one < 2 for one in even)
    assert len(set(even)) == 100
    assert 1.4 < sum(even) / 100 < 1.6


def test_lognormal_latency(make: Make) -> None:
    sandbox = make()
    sandbox.faults.add(kind="latency", median=10, sigma=1, max=30)
    strikes(sandbox, 200)
    waited = [entry.held_up for entry in sandbox.world.journal]
    assert 60 < sum(one < 10 for one in waited) < 140
    assert max(waited) == 30
    assert min(waited) < 3


# Keeping rules.


def test_counts_stay_when_other_rules_come_and_go(sandbox: Sandbox, client: Any) -> None:
    sandbox.faults.add(kind="latency", seconds=0, name="kept")
    client.get(BALANCE)
    with sandbox.faults.add(kind="latency", seconds=0):
        client.get(BALANCE)
    assert [(rule.name, rule.matched) for rule in sandbox.faults.list()] == [("kept", 2)]


def test_replaced_rules_count_anew(sandbox: Sandbox, client: Any) -> None:
    rule = {"kind": "error", "status": 500, "when": {"times": 1}}
    sandbox.faults.replace([rule])
    assert [client.get(BALANCE).status_code for _ in range(2)] == [500, 200]
    sandbox.faults.replace([rule])
    assert [client.get(BALANCE).status_code for _ in range(2)] == [500, 200]


def test_names_are_made_from_kinds(sandbox: Sandbox) -> None:
    placed = sandbox.faults.replace([{"kind": "reset"}, {"kind": "reset"}, {"kind": "close"}])
    assert placed.names == ("reset", "reset-2", "close")
    assert sandbox.faults.add(kind="reset").names == ("reset-3",)


def test_what_is_listed_can_be_given_again(sandbox: Sandbox) -> None:
    rules: list[Any] = [
        {
            "kind": "reset",
            "match": {"operation": ["v3.*", "v2.*"], "domain": "*.com"},
            "when": {"nth": [1, 2]},
        },
        {"kind": "mutate", "path": "results[*].status", "type": "null", "match": {"body": {"a.b": 1}}},
        {"kind": "rate_limit", "limit": 3, "window": "2m", "time": "real"},
        {"kind": "error", "error": "System Error", "facts": {"info": "x"}, "when": {"until": "2027-01-01"}},
    ]
    sandbox.faults.replace(rules)
    listed = sandbox.faults.list()
    counts = ("matched", "struck", "spent")
    sandbox.faults.replace([{key: rule[key] for key in rule if key not in counts} for rule in listed])
    assert sandbox.faults.list() == listed
    assert listed.faults[2]["window"] == 120


def test_a_world_has_faults_of_its_own(sandbox: Sandbox) -> None:
    sandbox.faults.add(kind="error", status=500)
    forked = sandbox.fork()
    assert [rule.name for rule in forked.faults.list()] == ["error"]
    forked.faults.clear()
    assert forked.client().get(BALANCE).status_code == 200
    assert sandbox.client().get(BALANCE).status_code == 500


# Mistakes.


@pytest.mark.parametrize(
    ("rule", "problem"),
    [
        ({}, "kind is missing; it must be one of error, latency, drip,"),
        ({"kind": "restart"}, "kind must be one of error,"),
        ({"kind": "reset", "bytes": 1}, "bytes is not known here"),
        ({"kind": "reset", "when": {"chance": 1.5}}, "when.chance must be a number from 0 to 1"),
        ({"kind": "reset", "when": {"chance": "1"}}, "when.chance must be a number"),
        ({"kind": "reset", "when": {"chance": True}}, "when.chance must be a number"),
        ({"kind": "reset", "when": {"nth": 0}}, "when.nth must be a whole number from 1 to"),
        ({"kind": "reset", "when": {"nth": [1, 2.5]}}, "when.nth must be a whole number"),
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
        ({"kind": "latency", "seconds": 1, "median": 1}, "the rule takes seconds, or min and max, or median"),
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
    ],
)
def test_a_mistake_is_told_with_its_place(sandbox: Sandbox, rule: Any, problem: str) -> None:
    with pytest.raises(Refused) as caught:
        sandbox.faults.add(**rule)
    assert caught.value.rule.code == "invalid_parameter"
    assert caught.value.message.startswith(problem)
    assert sandbox.faults.list().faults == ()


def test_one_bad_rule_changes_nothing_and_every_mistake_is_told(sandbox: Sandbox) -> None:
    sandbox.faults.add(kind="reset")
    before = sandbox.faults.list()
    rules: list[Any] = [
        {"kind": "close", "name": "one"},
        {"kind": "close", "name": "one"},
        {"kind": "close", "when": {"chance": 7, "every": 0}},
        "reset",
    ]
    with pytest.raises(BadFaults) as caught:
        sandbox.faults.replace(rules)
    assert caught.value.problems == (
        "faults[1].name is the name of faults[0]",
        "faults[2].when.chance must be a number from 0 to 1, not 7",
        "faults[2].when.every must be a whole number from 1 to 100000000000, not 0",
        "faults[3] must be an object",
    )
    assert sandbox.faults.list() == before
