"""After any past, a world, its export, its recording and both interfaces are sound."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPException
from typing import Any
from urllib.parse import quote

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from reseller_sandbox import Refused, Sandbox
from reseller_sandbox.testing import EndlessWait
from tests.registry import REGISTRY, assert_consistent, assert_replays
from tests.thorough import tries

Step = Callable[[Sandbox], object]

#: Where nothing is waited for: what expires or is deleted is free at once, and a transfer takes a day.
AT_ONCE = """zones:
  de:
    prices: {registration: 7.00, renewal: 7.00, transfer: 0.00, restore: 40.00}
    policy: {add_grace: 0, overdue: 0, redemption: 0, pending_delete: 0, transfer: 1, transfer_lock: 0}
    idn: true
"""
FIXTURE = REGISTRY.read_text("utf-8").replace("zones:\n", AT_ONCE)

FAULTS: list[dict[str, Any]] = [
    {"kind": "duplicate", "when": {"times": 1}},
    {"kind": "latency", "min": 0.001, "max": 0.002, "when": {"phase": "after", "chance": 0.5}},
    {"kind": "garbage", "when": {"chance": 0.3}},
    {"kind": "rate_limit", "limit": 2, "window": 0.5, "time": "real"},
    {"kind": "error", "status": 599, "body": {"a": 1}, "when": {"chance": 0.2}},
    {"kind": "reset", "when": {"phase": "after", "every": 4}},
]

NAMES = st.sampled_from(
    ["one.com", "one.de", "ñ.de", "active.com", "second.com", "overdue.com", "theirs.com"]
)
WHO = st.sampled_from(["main", "other", "poor"])


def v3(verb: str, **more: Any) -> st.SearchStrategy[Step]:
    """A POST of v3 about a name."""
    return request(
        "POST", lambda name: f"/v3/domains/{verb}", lambda name: {"domain": {"domainName": name}, **more}
    )


def v2(method: str, end: str = "", body: Any = None) -> st.SearchStrategy[Step]:
    """A request of v2.0 about a name."""
    return request(method, lambda name: f"/V2.0/domain/{name}{end}", lambda name: body)


def request(
    method: str, path: Callable[[str], str], body: Callable[[str], Any] = lambda name: None
) -> st.SearchStrategy[Step]:
    return st.builds(
        lambda who, name: (
            lambda sandbox: sandbox.client(who).open(quote(path(name)), method=method, json=body(name))
        ),
        *(WHO, NAMES),
    )


def about(call: Callable[[Sandbox, str], object]) -> st.SearchStrategy[Step]:
    return st.builds(lambda name: lambda sandbox: call(sandbox, name), NAMES)


STEPS: st.SearchStrategy[Step] = st.one_of(
    v3("createDomain", years=2),
    v3("renewDomain"),
    v3("requestTransfer", authCode="let-me-in"),
    v2("DELETE"),
    v2("PUT", "/restore"),
    v2("PUT", body={"client_hold": 1, "client_transfer_prohibited": 0}),
    *(
        request("POST", lambda name, verb=verb: f"/v3/domains/{verb}/{name}")  # type: ignore[misc]
        for verb in ("approveTransfer", "enableAutorenew", "disableAutorenew")
    ),
    about(lambda sandbox, name: sandbox.simulate.drop(name)),
    about(lambda sandbox, name: sandbox.simulate.request_transfer(name, force=True)),
    about(lambda sandbox, name: sandbox.simulate.when(after="v3.renewDomain").release(name)),
    about(lambda sandbox, name: sandbox.simulate.register(name, auth_code="let-me-in")),
    about(lambda sandbox, name: sandbox.simulate.when("9d").register(name, auth_code="let-me-in")),
    about(lambda sandbox, name: sandbox.names.add(name, created="-400d", autorenew=True)),
    st.builds(
        lambda by: lambda sandbox: sandbox.clock.advance(by), st.sampled_from(["0", "1d", "40d", "400d"])
    ),
    st.just(lambda sandbox: sandbox.snapshot("here")),
    st.just(lambda sandbox: sandbox.restore("here")),
    st.just(lambda sandbox: sandbox.rewind(sandbox.journal.list().requests[0].id)),
    st.sampled_from(FAULTS).map(lambda rule: lambda sandbox: sandbox.faults.add(**rule)),
    st.just(lambda sandbox: sandbox.clock.run()),
    st.just(lambda sandbox: sandbox.clock.freeze()),
    st.just(lambda sandbox: sandbox.reset()),
    st.just(lambda sandbox: sandbox.events.list()),
    st.just(lambda sandbox: sandbox.load(sandbox.export())),
)


@settings(max_examples=tries(4), phases=[Phase.generate])
@given(st.lists(STEPS, min_size=8, max_size=30))
def test_world_is_consistent_after_any_sequence_of_requests_and_actions(steps: list[Step]) -> None:
    sandbox = Sandbox(REGISTRY)
    sandbox.load(FIXTURE)
    for step in steps:
        with suppress(Refused, IndexError, OSError, HTTPException, EndlessWait):
            step(sandbox)
    assert_replays(sandbox)
    sandbox.faults.clear()
    sandbox.clock.advance(0)
    sandbox.clock.freeze()  # a second that passes between two exports is no difference of theirs
    assert_consistent(sandbox)
    assert_both_interfaces_show_the_same(sandbox)
    assert_replays(sandbox)
    assert_an_export_is_the_same_world(sandbox)
    assert_a_way_back_leads_back(sandbox)


def assert_both_interfaces_show_the_same(sandbox: Sandbox) -> None:
    """Of each name of each account: v3's list, v3's one name, and v2.0."""
    for account in sandbox.accounts.list().accounts:
        client = sandbox.client(account.name)
        listed = {row["domainName"]: row for row in client.get("/v3/domains").json["domains"]}
        assert sorted(listed) == sorted(name.name for name in sandbox.names if name.account == account.name)
        for name, line in listed.items():
            domain = client.get(f"/v3/domains/getDomain/{name}").json["domain"]
            assert {key: domain[key] for key in line} == line
            other = client.get(f"/V2.0/domain/{name}").json
            assert (other["date_created"], other["date_end"]) == (domain["createDate"], domain["expireDate"])
            assert other["ns"] == domain["nameservers"]


def assert_an_export_is_the_same_world(sandbox: Sandbox) -> None:
    """It is written the same again, time brings the same, and the world that it is of has not moved."""
    written = sandbox.export()
    with sandbox.fork(point="now") as fork:
        fork.load(written)
        there = fork.clock.advance("900d").events
        assert sandbox.export() == written
        fork.load(written)
        assert fork.clock.advance("900d").events == there
    with sandbox.fork() as fork:
        assert fork.clock.advance("900d").events == there


def assert_a_way_back_leads_back(sandbox: Sandbox) -> None:
    """To before the first request that is left, and by the branch to now."""
    entries = sandbox.journal.list(limit=10_000).requests
    numbers = [entry.number for entry in entries]
    assert numbers == sorted(set(numbers))
    if entries:
        now = sandbox.export()
        with sandbox.fork(point=f"before:{entries[0].id}") as fork:
            before = list(fork.names)
        left = sandbox.rewind(entries[0].id).branch.name
        assert list(sandbox.names) == before
        sandbox.branches.switch(left)
        assert sandbox.export() == now


def test_world_is_consistent_after_a_clock_advance_during_requests(sandbox: Sandbox) -> None:
    """Each event is before or after a request of the other thread."""
    statuses: list[int] = []

    def send() -> None:
        for number in range(40):
            body = {"domain": {"domainName": f"tick{number}.com", "autorenewEnabled": True}}
            statuses.append(sandbox.client().post("/v3/domains/createDomain", json=body).status_code)

    sender = threading.Thread(target=send)
    sender.start()
    for _ in range(40):
        sandbox.clock.advance("30d")
    sender.join()
    assert statuses == [200] * 40
    assert_consistent(sandbox)
