"""Actions of third parties later: at an instant, or between two requests of a client."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.control.examples import ACTIONS
from tests.documented import document
from tests.registry import assert_consistent, connect
from tests.worlds.control import ON_ACCOUNTS, Player


def check(api: Api, name: str) -> str:
    answer = api.post("/v3/domains/checkAvailability", {"domainNames": [name]})
    return str(answer.json["results"][0]["status"])


def create(api: Api, name: str) -> str:
    """Register a name. Return ``ok``, or the error."""
    return api.post("/v3/domains/createDomain", {"domain": {"domainName": name}}).error or "ok"


def is_selected(player: Player) -> list[bool]:
    return [scheduled["applied"] is not None for scheduled in player.scheduled()]


def test_a_scheduled_action_happens_at_its_instant(player: Player, wire: Api, served: Sandbox) -> None:
    """The authorization code in the scheduled action is masked, and still becomes the code of the name."""
    made = player.act("register", domain="wanted.com", auth_code="their-code", at="P3D")
    assert made["events"] == []
    assert made["scheduled"] == {
        "id": 1,
        "action": "register",
        "parameters": {"domain": "wanted.com", "auth_code": "***"},
        "at": "2026-03-04T12:00:00Z",
        "after": None,
        "applied": None,
        "refused": "",
    }
    later = player.act("hold", domain="wanted.com", at="2026-03-04T14:00:01+02:00")["scheduled"]
    assert later["at"] == "2026-03-04T12:00:01Z"
    player.advance(to="2026-03-04T11:59:59Z")
    assert check(wire, "wanted.com") == "available"
    events = player.advance(by=1)["events"]
    assert [(event["at"], event["subject"]) for event in events if event["event"] == "register"] == [
        ("2026-03-04T12:00:00Z", "wanted.com")
    ]
    assert check(wire, "wanted.com") == "registered"
    assert player.scheduled()[0]["applied"] == "2026-03-04T12:00:00Z"
    differences = player.call("GET", "history/diff?from=start&to=now")
    assert differences.status == 200
    assert b"wanted.com" in differences.raw
    assert b"their-code" not in differences.raw
    assert served.names["wanted.com"].auth_code == "their-code"


#: Parameters for each action.
WAITING: dict[str, dict[str, Any]] = {
    **{action: required for action, (required, _) in ACTIONS.items()},
    **{f"{verb}_credentials": {"account": "other"} for verb in ("revoke", "restore")},
    "cancel_transfer": {"domain": "leaving.com"},
    **{action: {"account": "main", "amount": 1} for action in ON_ACCOUNTS},
}


def test_each_third_party_action_can_be_scheduled_at_an_instant_or_after_a_request(
    player: Player, served: Sandbox, subtests: pytest.Subtests
) -> None:
    """The scheduled actions survive an export."""
    paths = document("control").content["paths"]
    assert WAITING.keys() == {
        path.rpartition("/")[2]
        for path in paths
        if path.startswith(("/_sandbox/simulate/", "/_sandbox/accounts/{account}/"))
    }
    for action, parameters in WAITING.items():
        served.reset(original=True)
        player.act(action, **parameters, at=90)
        player.act(action, **parameters, after="v3.balance")
        with subtests.test(action=action):
            assert_consistent(served)
            events = [event["event"] for event in player.advance(by=90)["events"]]
            assert [event.removesuffix(" refused") for event in events] == [action]
            assert connect(served).get("/v3/balance").status == 200
            assert is_selected(player) == [True, True]
            assert_consistent(served)


def test_refused_scheduled_action_is_reported_as_an_event_with_the_reason(player: Player, wire: Api) -> None:
    """A name that is taken today may be free at the instant of a scheduled action, and the other way
    round."""
    player.act("register", domain="wanted.com", at="P1D")
    player.act("register", domain="pending.com", at="P2D")
    assert create(wire, "wanted.com") == "ok"
    events = player.advance(by="P2D")["events"]
    note = "name_taken: wanted.com is already registered."
    notes = {(event["event"], event["subject"]): event["note"] for event in events}
    assert notes["register refused", "wanted.com"] == note
    assert ("register", "pending.com") in notes
    assert player.scheduled()[0]["refused"] == note


def test_scheduled_registration_takes_a_name_between_check_availability_and_create_domain(
    player: Player, wire: Api, served: Sandbox
) -> None:
    after = {"operation": "v3.checkAvailability", "domain": "wanted.com"}
    scheduled = player.act("register", domain="wanted.com", after=after)["scheduled"]
    assert scheduled["after"] == {**after, "carried_out": True}
    assert check(wire, "other-one.com") == "available"
    assert is_selected(player) == [False]
    assert check(wire, "wanted.com") == "available"
    assert create(wire, "wanted.com") == "name_taken"
    assert player.scheduled()[0]["applied"] == "2026-03-01T12:00:00Z"
    player.act("register", domain="wanted.net", after={"operation": "v2.*", "domain": "wanted.net"})
    token = [("X-Auth-Token", served.accounts["main"].token)]
    checks = [wire.send("GET", "/V2.0/domain/wanted.net/check", token).json["avail"] for _ in range(2)]
    assert checks == ["true", "false"]


def test_action_scheduled_after_a_request_happens_once_after_a_request_of_any_account(
    player: Player, wire: Api, other_wire: Api
) -> None:
    player.act("debit", account="main", amount=1, after="v3.balance")
    balances = [wire.get("/v3/balance").json[0]["balance"] for _ in range(3)]
    assert balances == ["10000.00", "9999.00", "9999.00"]
    player.act("debit", account="main", amount=1, after="v3.*")
    other_wire.get("/v3/balance")
    assert wire.get("/v3/balance").json[0]["balance"] == "9998.00"


def test_refused_request_triggers_only_actions_scheduled_after_a_refusal(player: Player, wire: Api) -> None:
    """Scheduled actions happen in the order of their creation. Each sees the effects of the earlier ones."""
    refusing = {"operation": "v3.createDomain", "outcome": "refused"}
    player.act("register", domain="one.com", after="v3.createDomain")
    player.act("register", domain="two.com", after=refusing)
    player.act("register", domain="two.com", after={**refusing, "outcome": ["ok", "refused"]})
    assert create(wire, "active.com") == "name_taken"
    assert is_selected(player) == [False, True, True]
    refusals = [scheduled["refused"] for scheduled in player.scheduled()]
    assert refusals == ["", "", "name_taken: two.com is already registered."]
    assert create(wire, "four.com") == "ok"
    assert is_selected(player) == [True] * 3


def test_unsigned_request_triggers_only_actions_scheduled_after_an_error_status(
    player: Player, wire: Api
) -> None:
    for after in ({}, {"operation": "*", "outcome": "ok"}):
        player.act("register", domain="wanted.com", after=after)
    wire.send("GET", "/v3/balance", [])
    player.get("health")
    assert is_selected(player) == [False, False]
    player.act("register", domain="wanted.com", after={"outcome": "4xx", "path": "/v3/*"})
    wire.send("GET", "/v3/balance", [])
    assert is_selected(player) == [False, False, True]


def test_a_removed_scheduled_action_does_not_happen(player: Player, wire: Api) -> None:
    first = player.act("register", domain="wanted.com", at="P1D")["scheduled"]
    second = player.act("register", domain="wanted.com", after="v3.checkAvailability")["scheduled"]
    for scheduled in (first, second):
        assert player.call("DELETE", f"scheduled/{scheduled['id']}").json == scheduled
    assert player.scheduled() == []
    player.advance(by="P1D")
    assert [check(wire, "wanted.com") for _ in range(2)] == ["available", "available"]


def test_scheduled_action_happens_again_after_a_restore_and_in_each_fork(sandbox: Sandbox, api: Api) -> None:
    """A scheduled action happens again after a restore, and separately in each fork."""
    sandbox.simulate.when(after="v3.checkAvailability").register("wanted.com")
    sandbox.snapshot("before")
    with sandbox.fork() as fork:
        forked = connect(fork)
        assert [check(forked, "wanted.com") for _ in range(2)] == ["available", "registered"]
        assert fork.scheduled.list().scheduled[0].applied
        assert not sandbox.scheduled.list().scheduled[0].applied
    for _ in range(2):
        assert [check(api, "wanted.com") for _ in range(2)] == ["available", "registered"]
        first = sandbox.journal.list().requests[0].id
        for point, is_taken in ((f"before:{first}", False), (f"after:{first}", True)):
            with sandbox.fork(point=point) as fork:
                assert ("wanted.com" in fork.names) is is_taken
        sandbox.restore("before")
