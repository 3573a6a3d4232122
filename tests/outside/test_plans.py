"""What the rest of the world does later: at an instant, or between two requests of a client."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from http.client import HTTPException
from typing import Any

import pytest

from reseller_sandbox import Refused, Sandbox
from tests.clients import JSON, Api, Socket, encoded
from tests.documented import document
from tests.outside.player import Player
from tests.registry import connect
from tests.soundness import assert_consistent


def check(api: Api, name: str) -> str:
    """What checkAvailability says of a name."""
    answer = api.post("/v3/domains/checkAvailability", {"domainNames": [name]})
    return str(answer.json["results"][0]["status"])


def create(api: Api, name: str) -> str:
    """What createDomain says: ``ok``, or the error."""
    return api.post("/v3/domains/createDomain", {"domain": {"domainName": name}}).error or "ok"


# At an instant


def test_an_action_waits_for_its_instant(player: Player, wire: Api) -> None:
    """Nothing before; then it fires, in its place among what else is due."""
    plan = player.act("register", domain="wanted.com", at="P3D")
    assert plan["fired"] == []
    assert plan["plan"] == {
        "id": 1,
        "action": "register",
        "given": {"domain": "wanted.com"},
        "at": "2026-03-04T12:00:00Z",
        "after": None,
        "struck": None,
        "refused": "",
    }
    player.advance(to="2026-03-04T11:59:59Z")
    assert check(wire, "wanted.com") == "available"
    fired = player.advance(by=1)["fired"]
    assert [(one["at"], one["subject"]) for one in fired if one["event"] == "register"] == [
        ("2026-03-04T12:00:00Z", "wanted.com")
    ]
    assert check(wire, "wanted.com") == "registered"
    assert player.plans()[0]["struck"] == "2026-03-04T12:00:00Z"


def test_an_instant_is_a_length_of_time_ahead_or_a_time_in_any_zone(player: Player) -> None:
    for at in ("P3D", "2026-03-04T12:00:00Z", "72h", 259200, "2026-03-04T14:00:00+02:00"):
        plan = player.act("hold", domain="wanted.com", at=at)["plan"]
        assert plan["at"] == "2026-03-04T12:00:00Z", at


#: Each action, something to tell it, and the event that comes of it.
WAITING: list[tuple[str, dict[str, Any], str]] = [
    ("register", {"domain": "wanted.com"}, "register"),
    ("hold", {"domain": "second.com"}, "hold"),
    ("release_hold", {"domain": "second.com"}, "release_hold"),
    ("drop", {"domain": "second.com"}, "drop"),
    ("release", {"domain": "second.com"}, "release"),
    ("request_transfer", {"domain": "second.com"}, "request_transfer"),
    ("approve_transfer", {"domain": "arriving.com"}, "approve_transfer"),
    ("reject_transfer", {"domain": "arriving.com"}, "reject_transfer"),
    ("cancel_transfer", {"domain": "second.com"}, "cancel_transfer refused"),
    ("complete_transfer", {"domain": "arriving.com"}, "complete_transfer"),
    ("set_prices", {"zone": "com", "renewal": "1.5"}, "set_prices"),
    ("set_promotion", {"zone": "com", "of": "renewal", "price": 1, "until": "P1D"}, "set_promotion"),
    ("set_premium", {"domain": "wanted.com", "registration": 99}, "set_premium"),
    ("set_service", {"zone": "com", "in_service": False}, "set_service"),
    ("adjust_balance", {"account": "main", "by": "-1.5"}, "adjust_balance"),
    ("revoke_credentials", {"account": "other"}, "revoke_credentials"),
    ("restore_credentials", {"account": "other", "which": "key"}, "restore_credentials"),
]


def test_each_action_can_wait(player: Player, served: Sandbox, subtests: pytest.Subtests) -> None:
    """For an instant, and for a request; the plans survive an export."""
    paths = document("control").content["paths"]
    actions = {path.rpartition("/")[2] for path in paths if path.startswith("/_sandbox/outside/")}
    assert {action for action, _, _ in WAITING} == actions
    for action, parameters, event in WAITING:
        served.reset(original=True)
        player.act(action, **parameters, at=90)
        player.act(action, **parameters, after="v3.balance")
        with subtests.test(action=action):
            assert_consistent(served)
            assert [fired["event"] for fired in player.advance(by=90)["fired"]] == [event]
            assert connect(served).get("/v3/balance").status == 200
            assert all(plan["struck"] for plan in player.plans())
            assert_consistent(served)


def test_a_leap_over_plans_equals_many_steps(make: Any) -> None:
    """Plans in the calendar make no difference to that."""

    def world(steps: int) -> Sandbox:
        sandbox: Sandbox = make()
        sandbox.outside.when("P10D").request_transfer("second.com")
        sandbox.outside.when("P100D").set_prices("com", renewal=20)
        sandbox.outside.when("P200D").adjust_balance("main", to=19)
        sandbox.outside.when("P300D").register("requested.com")
        for _ in range(steps):
            sandbox.clock.advance(timedelta(days=800 // steps))
        return sandbox

    leap, steps = world(1), world(800)
    assert leap.clock.now == steps.clock.now
    assert leap.export() == steps.export()


def test_a_plan_that_is_refused_is_noted(player: Player, wire: Api) -> None:
    """No exception and no harm: the event and the plan say why, and time goes on."""
    player.act("register", domain="wanted.com", at="P1D")
    player.act("adjust_balance", account="main", by=5, at="P2D")
    assert create(wire, "wanted.com") == "ok"
    fired = player.advance(by="P2D")["fired"]
    [refused] = [one for one in fired if one["subject"] == "wanted.com"]
    assert refused["event"] == "register refused"
    assert refused["note"] == "name_taken: wanted.com is registered already."
    assert [one["event"] for one in fired][-1] == "adjust_balance"
    assert player.plans()[0]["refused"] == refused["note"]


# Between two requests


def test_a_name_is_taken_between_check_and_create(player: Player, wire: Api) -> None:
    """The race that nobody can stage against a real registry."""
    after = {"operation": "v3.checkAvailability", "domain": "wanted.com"}
    plan = player.act("register", domain="wanted.com", after=after)["plan"]
    assert plan["after"] == {**after, "carried_out": True}
    assert check(wire, "other-one.com") == "available"
    assert player.plans()[0]["struck"] is None
    assert check(wire, "wanted.com") == "available"
    assert create(wire, "wanted.com") == "name_taken"
    assert player.plans()[0]["struck"] == "2026-03-01T12:00:00Z"


def test_a_plan_strikes_once(player: Player, wire: Api) -> None:
    """After the next such request, not after each."""
    player.act("adjust_balance", account="main", by=-1, after="v3.balance")
    said = [wire.get("/v3/balance").json[0]["balance"] for _ in range(3)]
    assert said == ["10000.00", "9999.00", "9999.00"]


def test_any_client_sets_a_plan_off(player: Player, wire: Api, other_wire: Api) -> None:
    """It need not be the account that the plan is about."""
    player.act("adjust_balance", account="main", by=-1, after="v3.*")
    other_wire.get("/v3/balance")
    assert wire.get("/v3/balance").json[0]["balance"] == "9999.00"


def test_a_request_of_the_other_generation_sets_a_plan_off(
    player: Player, wire: Api, served: Sandbox
) -> None:
    """v2.0 has the same race."""
    after = {"operation": "v2.*", "domain": "wanted.com"}
    player.act("register", domain="wanted.com", after=after)
    token = [("X-Auth-Token", served.account("main").token)]
    assert wire.send("GET", "/V2.0/domain/wanted.com/check", token).json["avail"] == "true"
    assert wire.send("GET", "/V2.0/domain/wanted.com/check", token).json["avail"] == "false"


def test_the_outcome_of_a_transfer_can_be_scripted(player: Player, wire: Api) -> None:
    """Before it is even asked for: rejected as soon as it is, or approved two days later."""
    asked = {"domain": {"domainName": "elsewhere.com"}, "authCode": "let-me-in"}
    wait = {"operation": "v3.requestTransfer", "domain": "elsewhere.com"}
    player.act("reject_transfer", domain="elsewhere.com", after=wait)
    assert wire.post("/v3/domains/requestTransfer", asked).json["status"] == "pending"
    assert wire.get("/v3/domains/getDomain/elsewhere.com").error == "domain_not_found"
    player.act("approve_transfer", domain="elsewhere.com", at="P2D")
    assert wire.post("/v3/domains/requestTransfer", asked).json["status"] == "pending"
    player.advance(by="P2D")
    assert wire.get("/v3/domains/getDomain/elsewhere.com").json["status"] == "active"


def test_a_refused_request_leaves_a_plan_waiting(player: Player, wire: Api) -> None:
    """Unless the plan waits for a refusal, or for any answer."""
    refusing = {"operation": "v3.createDomain", "outcome": "refused"}
    player.act("register", domain="one.com", after="v3.createDomain")
    player.act("register", domain="two.com", after=refusing)
    player.act("register", domain="three.com", after={**refusing, "outcome": ["ok", "refused"]})
    assert create(wire, "active.com") == "name_taken"
    assert [plan["struck"] is not None for plan in player.plans()] == [False, True, True]
    assert create(wire, "four.com") == "ok"
    assert all(plan["struck"] for plan in player.plans())


def test_a_body_that_cannot_be_read_counts_as_a_refusal_for_plans(
    player: Player, served: Sandbox, url: str
) -> None:
    """No JSON, a key that is missing, a wrong type: in v3 and in v2.0."""
    bodies: tuple[Any, ...] = (b"{", b"[]", {}, {"domain": 7}, {"domain": {"domainName": 7}})
    waiting: tuple[dict[str, Any], ...] = (
        {"outcome": "refused"}, {"outcome": ["ok", "refused"]}, {"outcome": "ok"}, {},
    )  # fmt: skip
    for number, body in enumerate(bodies):
        waits = waiting[number % len(waiting)]
        served.reset(original=True)
        for operation, name in (("v3.createDomain", "one.com"), ("v2.domain.register", "two.com")):
            player.act("register", domain=name, after={"operation": operation, **waits})
        api = connect(served)
        assert api.post("/v3/domains/createDomain", body).status >= 400
        token = [("X-Auth-Token", served.account("main").token), JSON]
        assert api.send("POST", "/V2.0/domain/active.com", token, encoded(body)).status >= 400
        is_struck = [plan["struck"] is not None for plan in player.plans()]
        assert is_struck == ["refused" in waits.get("outcome", [])] * 2, (body, waits)


STRUCK_BY: list[tuple[dict[str, Any], bool]] = [
    ({"kind": "stale"}, True),
    ({"kind": "duplicate"}, True),
    ({"kind": "latency", "seconds": 0.01, "when": {"phase": "before"}}, True),
    ({"kind": "latency", "seconds": 0.01}, True),
    ({"kind": "truncate"}, True),
    ({"kind": "error", "error": "internal_error", "when": {"phase": "after"}}, True),
    ({"kind": "error", "error": "internal_error", "when": {"phase": "before"}}, False),
]


def test_a_plan_strikes_after_a_request_is_carried_out_whatever_a_fault_does(
    sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    """An answer from the past, a second time or a lost one is an answer; what was stopped never came."""
    for fault, carried_out in STRUCK_BY:
        sandbox.reset(original=True)
        client = sandbox.client()
        client.post("/v3/domains/lock/second.com")
        sandbox.outside.when(after="v3.getDomain").register("wanted.com")
        sandbox.faults.replace([{**fault, "match": {"operation": "v3.getDomain"}}])
        with suppress(OSError, HTTPException):
            client.get("/v3/domains/getDomain/second.com")
        (plan,) = sandbox.plans.list().plans
        with subtests.test(fault=fault):
            assert (plan.struck is not None) is carried_out
            assert ("wanted.com" in sandbox.names) is carried_out
            assert sandbox.journal.find().kept == 2
    sandbox.faults.clear()


def test_a_request_that_nobody_signed_sets_nothing_off(player: Player, wire: Api) -> None:
    """Nor does one of the control interface. Only who waits for the refusal itself has it."""
    player.act("register", domain="wanted.com", after={})
    player.act("register", domain="wanted.com", after={"operation": "*", "outcome": "ok"})
    wire.send("GET", "/v3/balance", [])
    player.get("/health")
    assert [plan["struck"] for plan in player.plans()] == [None, None]
    player.act("register", domain="wanted.com", after={"outcome": "4xx", "path": "/v3/*"})
    wire.send("GET", "/v3/balance", [])
    assert [plan["struck"] is not None for plan in player.plans()] == [False, False, True]


#: Requests of one client, and what a plan can say to wait for one of them.
SENT = (
    ("GET", "/v3/balance?page=1", None, ()),
    ("GET", "/v3/domains/getDomain/nobody.com", None, ()),
    ("POST", "/v3/domains/checkAvailability", {"domainNames": ["a.com", "wanted.com"]}, [("X-Run", "7")]),
    ("POST", "/v3/domains/createDomain", {"domain": {"domainName": "new-one.com"}}, ()),
    ("POST", "/v3/domains/lock/new-one.com", None, ()),
    ("DELETE", "/v3/nothing/here", None, ()),
)
RESULTS = {"outcome", "carried_out", "changed", "fault"}
MATCHES: list[dict[str, Any]] = [
    {"operation": ["v2.*", "v3.check*"]},
    {"domain": "*one.com"},
    {"account": "m*", "method": ["post", "delete"]},
    {"account": "other"},
    {"path": "/v3/*/check*", "headers": {"X-Run": "7", "X-Other": None}},
    {"headers": {"x-run": "8"}},
    {"query": {"page": "?"}},
    {"body": {"domainNames[*]": "wanted.*"}},
    {"body": {"domain": {"domainName": "new-one.com"}}, "changed": True},
    {"body": {"domain.domainName": 7}},
    {"outcome": "refused"},
    {"outcome": ["404", "name_taken"], "operation": "v3.*"},
    {"outcome": "unknown_path"},
    {"outcome": "2xx", "changed": False},
    {"carried_out": False},
    {"fault": "lost", "outcome": "fault"},
    {"fault": "lost", "carried_out": True},
    {"fault": "slow"},
]


def test_a_plan_waits_for_what_the_journal_finds(sandbox: Sandbox, subtests: pytest.Subtests) -> None:
    """With the same match, a plan strikes right after the first of the requests that the journal lists.

    Where that leaves open what comes of the request, the plan waits for one that is carried out.
    """
    for match in MATCHES:
        sandbox.reset(original=True)
        sandbox.faults.clear()
        with subtests.test(match=match):
            assert_struck_after_the_first(sandbox, match)


def assert_struck_after_the_first(sandbox: Sandbox, match: dict[str, Any]) -> None:
    """Assert that a plan strikes after the first of the requests that the journal finds by its match."""
    sandbox.faults.add(kind="truncate", name="lost", match={"operation": "v3.lock"})
    sandbox.outside.when(after=match).register("taken-meanwhile.com")
    with sandbox.serve() as server:
        socket, account = Socket(server.url), sandbox.account("main")
        client = Api(socket, server.url, account.key, account.secret)
        for method, target, body, headers in SENT:
            with suppress(OSError, HTTPException):
                client.call(method, target, body, headers)
        socket.close()
    told = match if match.keys() & RESULTS else {**match, "carried_out": True}
    found = sandbox.journal.find(**told).requests
    (plan,) = sandbox.plans.list().plans
    assert (plan.struck is not None) is bool(found)
    entries = sandbox.journal.find(limit=100).requests
    assert len(entries) >= len(SENT)  # a client sends again what was lost
    for entry in entries:
        is_after = bool(found) and entry.number >= found[0].number
        with sandbox.fork(point=f"after:{entry.id}") as fork:
            assert ("taken-meanwhile.com" in fork.names) is is_after, entry.id


def test_plans_strike_in_the_order_of_their_making(player: Player, wire: Api) -> None:
    """Each sees what the earlier ones have done."""
    for _ in range(2):
        player.act("register", domain="wanted.com", after="v3.balance")
    wire.get("/v3/balance")
    assert [plan["refused"] for plan in player.plans()] == [
        "",
        "name_taken: wanted.com is registered already.",
    ]


def test_an_operation_that_is_none_is_refused(player: Player, served: Sandbox) -> None:
    """With the nearest ones."""
    before = served.export()
    answer = player.call(
        "POST", "/outside/register", {"domain": "wanted.com", "after": "v3.checkAvailabilty"}
    )
    assert (answer.status, answer.error) == (400, "invalid_parameter")
    assert "v3.checkAvailability" in answer.message
    assert served.export() == before


def test_what_waiting_does_not_mend_is_not_planned(player: Player, served: Sandbox) -> None:
    """A zone or an account that is not there; but a name that is taken today may be free then."""
    before = served.export()
    assert player.refused("register", domain="wanted.nowhere", at="P1D") == "zone_not_supported"
    assert player.refused("set_service", zone="nowhere", in_service=True, at="P1D") == "unknown_zone"
    assert player.refused("revoke_credentials", account="nobody", after="v3.*") == "unknown_account"
    assert player.refused("adjust_balance", account="main", at="P1D") == "invalid_parameter"
    assert served.export() == before
    player.act("register", domain="pending.com", at="P2D")
    assert "register" in [one["event"] for one in player.advance(by="P2D")["fired"]]


# The list of plans


def test_a_plan_can_be_given_up(player: Player, wire: Api) -> None:
    """Then it never strikes, whichever kind it is."""
    first = player.act("register", domain="wanted.com", at="P1D")["plan"]
    second = player.act("register", domain="wanted.com", after="v3.checkAvailability")["plan"]
    for plan in (first, second):
        assert player.call("DELETE", f"/plans/{plan['id']}").json == plan
    assert player.plans() == []
    player.advance(by="P1D")
    assert [check(wire, "wanted.com") for _ in range(2)] == ["available", "available"]


def test_an_unknown_plan_cannot_be_given_up(player: Player) -> None:
    for number in ("1", "9" * 15):
        answer = player.call("DELETE", f"/plans/{number}")
        assert (answer.status, answer.error) == (404, "unknown_plan")


def test_plans_go_back_with_the_world(sandbox: Sandbox, api: Api) -> None:
    """A plan that has struck waits again after a snapshot is restored."""
    sandbox.outside.when(after="v3.checkAvailability").register("wanted.com")
    sandbox.snapshot("before")
    assert check(api, "wanted.com") == "available"
    assert check(api, "wanted.com") == "registered"
    sandbox.restore("before")
    assert check(api, "wanted.com") == "available"
    assert check(api, "wanted.com") == "registered"


def test_a_rewind_to_after_a_request_is_after_its_plans(sandbox: Sandbox, api: Api) -> None:
    """What struck between two requests has happened before the second."""
    sandbox.outside.when(after="v3.checkAvailability").register("wanted.com")
    name = api.post("/v3/domains/checkAvailability", {"domainNames": ["wanted.com"]}).headers[
        "x-sandbox-request"
    ]
    for point, is_taken in ((f"before:{name}", False), (f"after:{name}", True)):
        with sandbox.fork(point=point) as fork:
            assert ("wanted.com" in fork.names) is is_taken


# In Python


def test_the_same_by_the_same_names_in_python(sandbox: Sandbox, api: Api) -> None:
    """Actions are methods; their first parameter goes by place."""
    (happened,) = sandbox.outside.register("wanted.com", years=3).fired
    assert (happened.event, happened.subject) == ("register", "wanted.com")
    plan = sandbox.outside.when(timedelta(days=1)).adjust_balance("main", by=1.5).plan
    waiting = (
        sandbox.outside.when(after={"operation": "v3.getDomain", "domain": "second.com"})
        .hold("second.com")
        .plan
    )
    assert plan is not None
    assert sandbox.plans.list().plans == (plan, waiting)
    assert sandbox.plans.remove(plan.id) == plan
    api.get("/v3/domains/getDomain/second.com")
    assert api.get("/v3/domains/getDomain/second.com").json["status"] == "suspended"


def test_python_is_refused_as_http_is(sandbox: Sandbox) -> None:
    """The exception says why."""
    with pytest.raises(Refused) as taken:
        sandbox.outside.register("active.com")
    assert taken.value.rule.code == "name_taken"
    assert taken.value.message == "active.com is registered already."
    with pytest.raises(Refused) as unknown:
        sandbox.plans.remove(7)
    assert unknown.value.rule.code == "unknown_plan"
    with pytest.raises(Refused, match="year is not known here; the nearest is years"):
        sandbox.outside.register("wanted.com", year=1)  # type: ignore[call-arg]


def test_a_fork_has_the_plans_of_its_own(sandbox: Sandbox, api: Api) -> None:
    """What is planned in a world is planned in its forks, and strikes in each by itself."""
    sandbox.outside.when(after="v3.checkAvailability").register("wanted.com")
    with sandbox.fork() as fork:
        forked = connect(fork)
        assert [check(forked, "wanted.com") for _ in range(2)] == ["available", "registered"]
        assert fork.plans.list().plans[0].struck
        assert not sandbox.plans.list().plans[0].struck
        assert check(api, "wanted.com") == "available"


def test_a_path_chooses_the_world_to_play_in(served: Sandbox, url: str, wire: Api) -> None:
    """The prefix of a world goes before the control interface's as well."""
    with served.fork() as fork:
        socket = Socket(url)
        there = Player(socket, f"/_worlds/{fork.health.show().world}")
        there.act("register", domain="wanted.com")
        there.advance(by="P1D")
        assert there.get("/clock")["now"] == "2026-03-02T12:00:00Z"
        socket.close()
    assert check(wire, "wanted.com") == "available"
    assert served.clock.now.day == 1


def test_a_planned_code_is_kept_secret(player: Player, served: Sandbox) -> None:
    """It is an authorization code like any other: masked in lists and differences, but at work."""
    plan = player.act("register", domain="wanted.com", auth_code="their-code", at="P1D")["plan"]
    assert plan["given"] == {"domain": "wanted.com", "auth_code": "***"}
    player.advance(by="P1D")
    differences = player.call("GET", "/history/diff?from=start&to=now")
    assert differences.status == 200
    assert b"wanted.com" in differences.raw
    assert b"their-code" not in differences.raw
    assert served.names["wanted.com"].auth_code == "their-code"
