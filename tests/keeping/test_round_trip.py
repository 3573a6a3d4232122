"""Worlds that a server has kept: the next server answers as the first one would have answered."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from socket import create_connection
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from reseller_sandbox import Sandbox, connect, replay
from tests.clients import Answer
from tests.keeping.conftest import Kept, describe
from tests.keeping.serving import refusal, register, seen, sent, serving, wait_until
from tests.outfit import free_ports
from tests.script import SCRIPT, SCRIPT_V2
from tests.thorough import tries

LOADED = """
zones: {com: {prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}}
accounts: {main: {balance: 100, contact: {name: Mary Example}}, late: {balance: 1, contact: {name: X}}}
domains: {n1.com: {created: -99d}, n2.com: {created: -364d}}
"""

#: A request: account, method, path and body.
Step = tuple[str, str, str, Any]

CONTROL: Sequence[tuple[str, str, Any]] = [
    ("POST", "clock/advance", {"by": "12d"}),
    ("POST", "clock/advance", {"by": "200d"}),
    ("POST", "worlds/fork", {}),
    ("POST", "worlds/fork", {"name": "side", "point": "start"}),
    ("POST", "worlds/fork", {"point": "before:LAST"}),
    ("DELETE", "worlds/w1", None),
    ("POST", "snapshots", {"name": "one"}),
    ("POST", "snapshots/one/restore", {}),
    ("POST", "history/rewind", {"request": "LAST"}),
    ("POST", "history/reset", {}),
    ("POST", "history/load", {"fixture": LOADED}),
    ("POST", "branches/b1/switch", {}),
    ("DELETE", "journal", None),
    ("POST", "outside/register", {"domain": "n1.com"}),
    ("POST", "outside/revoke_credentials", {"account": "other"}),
    ("POST", "outside/register", {"domain": "planned.com", "at": "P3D"}),
    ("POST", "outside/adjust_balance", {"account": "main", "by": "7", "after": {"operation": "v3.*"}}),
    ("POST", "outside/set_promotion", {"zone": "com", "of": "registration", "price": "1", "until": "P40D"}),
    ("POST", "assumptions/set", {"assume": {"requests.unknown_keys": "refused"}}),
    ("POST", "faults", {"kind": "rate_limit", "limit": 3, "window": 86400}),
    ("POST", "faults", {"kind": "duplicate", "match": {"operation": "v3.domains.*"}, "when": {"every": 3}}),
    ("POST", "faults", {"kind": "stale", "commits": 2, "when": {"nth": [2, 4]}}),
    *(("POST", "faults", {"preset": name}) for name in ("flaky", "lost-responses", "maintenance")),
    ("DELETE", "faults", None),
]
STEPS: Sequence[Step] = [
    *((who, method, target, body) for who, method, target, body in SCRIPT),
    *(("main", method, f"/V2.0/{target}", body) for method, target, body in SCRIPT_V2),
    *(("main", method, f"/_sandbox/{path}", body) for method, path, body in CONTROL),
]
DRAWN = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(STEPS)), max_size=30)


def take(sandbox: Sandbox, steps: Sequence[tuple[int, Step]]) -> list[Answer]:
    """Return the answers to the steps. Each step goes to one of the worlds that exist by then."""
    found = []
    for number, (who, method, target, body) in steps:
        worlds = [world.name for world in sandbox.worlds]
        prefix = f"/_worlds/{worlds[number % len(worlds)]}"
        raw = b"" if body is None else json.dumps(body).encode()
        if b"LAST" in raw:
            journal = sandbox.client().get(f"{prefix}/_sandbox/journal?limit=1").json["requests"]
            raw = raw.replace(b"LAST", journal[-1]["id"].encode() if journal else b"r1")
        account = who if who in sandbox.accounts else "main"
        found.append(sent(sandbox, method, prefix + target, raw, account))
    return found


@pytest.mark.slow
@settings(max_examples=tries(4), phases=[Phase.generate])
@given(before=DRAWN, after=DRAWN)
def test_a_restart_changes_no_answer(
    before: list[tuple[int, Step]], after: list[tuple[int, Step]], tmp_path_factory: Any
) -> None:
    folder, port = tmp_path_factory.mktemp("kept"), free_ports()
    with serving("--keep", folder / "one", port=port) as served:
        sandbox = served.sandbox
        take(sandbox, before)
        expected = [seen(sandbox), take(sandbox, after), seen(sandbox)]
    with serving("--keep", folder / "other", port=port) as served:
        sandbox = served.sandbox
        take(sandbox, before)
    with serving("--keep", folder / "other", port=port) as served:
        sandbox = served.sandbox
        assert [seen(sandbox), take(sandbox, after), seen(sandbox)] == expected


def test_a_restart_keeps_worlds_and_their_past(kept: Kept, tmp_path: Path) -> None:
    """The next server has a shorter journal. Meanwhile no other server can use the file."""
    path, linked, symlink = tmp_path / "worlds", tmp_path / "hard-link", tmp_path / "symlink"
    assert kept.path.with_name("worlds").is_symlink()
    assert kept.path.stat().st_mode & 0o777 == 0o600
    path.write_bytes(kept.path.read_bytes())
    os.link(path, linked)
    symlink.symlink_to(path)
    with serving("--journal", "2", "--keep", path) as served, connect(served.url, world="side") as fork:
        assert describe(fork) == kept.expected
        assert ([request.id for request in fork.journal], fork.journal.find().dropped) == (["r1", "r2"], 0)
        assert [world.name for world in served.sandbox.worlds] == ["default", "side"]
        assert register(fork, "unavailable.com") == 503
        assert [request.id for request in fork.journal] == ["r2", "r3"]
        for name in (path, linked, symlink):
            assert "another server keeps its worlds in" in refusal(name), name
        fork.restore("before")
        assert "kept1.com" in fork.names


@pytest.mark.slow
def test_a_delayed_request_ends_with_the_server(tmp_path: Path) -> None:
    """It never takes effect. The past has the request and its fault, and can be replayed."""
    path = tmp_path / "worlds"
    with serving("--keep", path) as served:
        served.sandbox.faults.add("latency", seconds=60, match={"operation": "v2.domain.zones"})
        token = served.sandbox.account().token
        with create_connection(("127.0.0.1", int(served.url.rpartition(":")[2]))) as waiting:
            head = f"GET /V2.0/domain/zones HTTP/1.1\r\nHost: localhost\r\nX-Auth-Token: {token}\r\n\r\n"
            waiting.sendall(head.encode())
            wait_until(lambda: served.sandbox.faults.list().faults[0].struck)
            served.sandbox.snapshot("here")
            served.process.send_signal(signal.SIGTERM)
            served.process.wait(60)
    with serving("--keep", path) as served:
        sandbox = served.sandbox
        sandbox.client().get("/v3/domains")
        sandbox.restore("here")
        sandbox.client().get("/v3/domains")
        assert [request.operation for request in sandbox.journal] == ["v3.listDomains"]
        assert sandbox.faults.list().faults[0].struck == 1
        replayed = replay(sandbox.capsule.get().content)
        assert replayed.identical, replayed.difference
