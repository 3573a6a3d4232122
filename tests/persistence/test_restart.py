"""Worlds that a server has kept: the next server answers as the first one would have answered."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from socket import create_connection

import pytest

from reseller_sandbox import connect, replay
from tests.persistence.conftest import Kept, act, describe
from tests.persistence.serving import refusal, serving, wait_until


def test_a_restart_keeps_worlds_and_changes_no_answer(kept: Kept, tmp_path: Path) -> None:
    """The next server has a shorter journal. Meanwhile no other server can use the file."""
    path, linked, symlink = tmp_path / "worlds", tmp_path / "hard-link", tmp_path / "symlink"
    assert kept.path.with_name("worlds").is_symlink()
    assert kept.path.stat().st_mode & 0o777 == 0o600
    path.write_bytes(kept.path.read_bytes())
    os.link(path, linked)
    symlink.symlink_to(path)
    with serving("--journal", "2", "--state-file", path) as served, connect(served.url, world="side") as fork:
        assert [world.name for world in served.sandbox.worlds] == ["default", "side"]
        for name in (path, linked, symlink):
            assert "another server keeps its worlds in" in refusal(name), name
        assert describe(fork) == kept.described
        assert act(fork) == kept.answers
        assert len(fork.journal.find().requests) == 2
        assert fork.events.find(domain="kept0.com", name="v3.createDomain").events
        fork.restore("before")
        assert "kept1.com" in fork.names


@pytest.mark.slow
def test_a_delayed_request_ends_with_the_server(tmp_path: Path) -> None:
    """It never takes effect. The past has the request and its fault, and can be replayed.

    The journal has dropped the state before the request.
    """
    path, name = tmp_path / "worlds", {"domain": {"domainName": "later.com"}}
    with serving("--journal", "1", "--state-file", path) as served:
        served.sandbox.faults.add("latency", seconds=60, match={"operation": "v2.domain.zones"})
        token = served.sandbox.accounts["main"].token
        served.sandbox.client().post("/v3/domains/createDomain", json=name)
        with create_connection(("127.0.0.1", int(served.url.rpartition(":")[2]))) as waiting:
            head = f"GET /V2.0/domain/zones HTTP/1.1\r\nHost: localhost\r\nX-Auth-Token: {token}\r\n\r\n"
            waiting.sendall(head.encode())
            wait_until(lambda: served.sandbox.faults.list().faults[0].applied)
            for _ in range(2):
                served.sandbox.client().post("/v3/domains/renewDomain", json=name)
            served.sandbox.snapshot("here")
            served.process.send_signal(signal.SIGTERM)
            served.process.wait(60)
    with serving("--journal", "1", "--state-file", path) as served:
        sandbox = served.sandbox
        assert sandbox.names["later.com"].expires.year == 2029
        sandbox.client().get("/v3/domains")
        sandbox.restore("here")
        sandbox.client().get("/v3/domains")
        assert [request.operation for request in sandbox.journal] == ["v3.listDomains"]
        assert sandbox.faults.list().faults[0].applied == 1
        replayed = replay(sandbox.recording.get().content)
        assert replayed.identical, replayed.difference
