"""The difference between two points: which records and settings changed, and how."""

from __future__ import annotations

from typing import Any

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.worlds.control import Control, register, renew


def changes(difference: dict[str, Any], table: str) -> dict[Any, Any]:
    """Return kind and fields of the changes in a table, by key."""
    rows = [row for row in difference["changes"] if row["table"] == table]
    return {row["key"]: (row["change"], row["fields"]) for row in rows}


def test_a_request_and_its_difference_are_equal(steer: Control, main: Api) -> None:
    renew(main, "active.com", 2)
    [entry] = steer.get("journal")["requests"]
    difference = steer.get("history/diff", **{"from": "before:r1", "to": "after:r1"})
    assert sorted(map(str, difference["changes"])) == sorted(map(str, entry["changes"]))
    [(change, fields)] = [row for row in changes(difference, "orders").values() if "expires" in row[1]]
    assert change == "changed"
    assert fields["expires"] == {"before": "2026-11-21T12:00:00Z", "after": "2028-11-21T12:00:00Z"}
    assert changes(difference, "accounts")[1001][1] == {"balance": {"before": "10000.00", "after": "9970.00"}}


def test_any_two_points_have_a_difference(sandbox: Sandbox, steer: Control, main: Api) -> None:
    steer.post("worlds/fork", {"name": "beside"})
    register(main, "one.com")
    steer.post("snapshots", {"name": "one"})
    register(main, "two.com")
    branch = "branch:" + steer.post("history/rewind", {"request": "r2"})["branch"]["name"]
    for earlier, later, expected in (
        ("start", "snapshot:one", [("created", "one.com")]),
        ("snapshot:one", "now", []),
        ("now", branch, [("created", "two.com")]),
        (branch, "now", [("deleted", "two.com")]),
        ("start", branch, [("created", "one.com"), ("created", "two.com")]),
        ("world:beside", "now", [("created", "one.com")]),
        ("now", "world:beside", [("deleted", "one.com")]),
    ):
        difference = steer.get("history/diff", **{"from": earlier, "to": later})
        assert (difference["from"]["point"], difference["to"]["point"]) == (earlier, later)
        rows = changes(difference, "orders").values()
        names = [(kind, fields["name"]["before"] or fields["name"]["after"]) for kind, fields in rows]
        assert names == expected, (earlier, later)


def test_clock_assumptions_and_fault_rules_differ_as_settings(
    sandbox: Sandbox, steer: Control, main: Api
) -> None:
    sandbox.clock.advance("2d")
    sandbox.assumptions.set({"v3.ids": "integer"})
    assert steer.get("history/diff")["settings"] == [
        {"name": "clock.now", "before": "2026-03-01T12:00:00Z", "after": "2026-03-03T12:00:00Z"},
        {"name": "assume.v3.ids", "before": "string", "after": "integer"},
    ]
    sandbox.faults.replace([{"name": "a", "kind": "latency", "seconds": 0}, {"name": "b", "kind": "reset"}])
    steer.post("snapshots", {"name": "armed"})
    sandbox.faults.remove("b")
    main.get("/v3/balance")
    sandbox.faults.add(name="c", kind="close")
    found = {row["name"]: row for row in steer.get("history/diff", **{"from": "snapshot:armed"})["settings"]}
    assert found.keys() == {"faults.a", "faults.b", "faults.c"}
    assert (found["faults.a"]["before"].get("matched"), found["faults.a"]["after"]["matched"]) == (None, 1)
    assert (found["faults.b"]["before"]["kind"], found["faults.b"]["after"]) == ("reset", None)
    assert (found["faults.c"]["before"], found["faults.c"]["after"]["kind"]) == (None, "close")


def test_records_within_records_are_shown_without_their_secrets(
    sandbox: Sandbox, steer: Control, main: Api
) -> None:
    main.post("/v3/domains/setAuthcode/active.com", {"authCode": "open-sesame"})
    [(_, fields)] = changes(steer.get("history/diff"), "orders").values()
    assert fields == {"auth_code": {"before": "***", "after": "***"}}
    steer.post("snapshots", {"name": "later"})
    register(main, "new.com")
    sandbox.simulate.when("P1D").register("wanted.com", auth_code="their-code")
    difference = steer.get("history/diff", **{"from": "snapshot:later"})
    [(_, created)] = changes(difference, "orders").values()
    assert created["contacts"]["before"] is None
    assert created["contacts"]["after"].keys() == {"registrant", "admin", "tech", "billing"}
    [(_, planned)] = changes(difference, "scheduled").values()
    assert planned["parameters"]["after"] == {"domain": "wanted.com", "auth_code": "***"}


def test_secrets_are_masked_in_the_path_of_a_request(sandbox: Sandbox, main: Api) -> None:
    """The longest secret first, and no secret of less than four characters."""
    for name, body in (
        ("long-secret", {"authCode": "long", "password": "long-secret"}),
        ("long", {"authCode": "long"}),
        ("abc", {"authCode": "abc"}),
    ):
        main.post(f"/v3/domains/setAuthcode/{name}.com", body)
    ends = [request.path.rpartition("/")[2] for request in sandbox.journal]
    assert ends == ["***.com", "***.com", "abc.com"]
