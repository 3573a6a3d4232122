"""A state file of a server that has ended, for all tests that only read it."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.persistence.serving import register, serving
from tests.waiting import wait_until

SHIM = Path(__file__).with_name("shim")

RULES: list[dict[str, Any]] = [
    {"kind": "rate_limit", "limit": 3, "window": 86400, "match": {"operation": "v2.*"}},
    {"kind": "error", "error": "maintenance", "when": {"chance": 0.5, "phase": "after"}},
    {"kind": "stale", "commits": 2, "when": {"every": 3}},
    {"kind": "duplicate", "match": {"operation": "v3.renewDomain"}},
]
REQUESTS: list[tuple[str, str, Any]] = [
    ("GET", "/V2.0/domain/active.com", None),
    ("POST", "/v3/domains/createDomain", {"domain": {"domainName": "new.com"}, "years": 2}),
    ("GET", "/v3/domains/getAuthcode/new.com", None),
    ("POST", "/v3/domains/renewDomain", {"domain": {"domainName": "new.com"}}),
    ("POST", "/v3/domains/checkAvailability", {"domainNames": ["planned.com", "kept1.com"], "unknown": 1}),
    ("GET", "/v3/balance", None),
]


@dataclass
class Kept:
    """A state file, its second world at the end of the server, and the events of the server's files."""

    path: Path
    described: dict[str, Any]
    answers: list[Any]
    events: list[dict[str, Any]]


def describe(world: Sandbox) -> dict[str, Any]:
    """Return what a restart has to keep of a world."""
    return {
        "export": world.export(),
        "credentials": [(account.key, account.secret, account.token) for account in world.accounts],
        "snapshots": world.snapshots.list(),
        "branches": world.branches.list(),
        "assumptions": world.assumptions.list(),
        "events": world.events.list(),
        "journal": [(entry.id, entry.at, entry.outcome, entry.domains) for entry in world.journal],
    }


def act(world: Sandbox) -> list[Any]:
    """Return the answers to some requests, and the export after them."""
    client, answers = world.client(), []
    for method, target, body in REQUESTS * 2:
        answer = client.open(target, method=method, json=body)
        answers.append((answer.status_code, answer.headers.get("X-Sandbox-Fault"), answer.data))
        world.clock.advance("20d")
    return [*answers, world.export()]


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """Two worlds with a past, saved twice. A ``pyproject.toml`` names a link to the file."""
    folder = tmp_path_factory.mktemp("kept")
    (folder / "pyproject.toml").write_text('[tool.reseller_sandbox]\nstate_file = "worlds"\n')
    (folder / "worlds").symlink_to(folder / "disk")
    (below := folder / "below").mkdir()
    paths = filter(None, (str(SHIM), os.environ.get("PYTHONPATH")))
    shim = {"PYTHONPATH": os.pathsep.join(paths), "RECORDED_EVENTS": str(folder / "events")}
    with serving(at=below, env=shim) as served:
        fork = served.sandbox.fork(name="side", assume={"requests.unknown_keys": "refused"})
        assert [register(fork, f"kept{number}.com") for number in range(2)] == [200, 200]
        wait_until(lambda: (folder / "disk").stat().st_size)
        fork.snapshot("before")
        fork.rewind("r2")
        fork.faults.replace(RULES)
        fork.simulate.when("P30D").register("planned.com")
        fork.client().get("/V2.0/domain/active.com")
        fork.snapshot("end")
        answers = act(fork)
        fork.restore("end")
        described = describe(fork)
    rows = (folder / "events").read_text().splitlines()
    return Kept(folder / "disk", described, answers, [json.loads(row) for row in rows])
