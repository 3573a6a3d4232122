"""A state file of a server that has ended, for all tests that only read it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.keeping.serving import register, serving, wait_until

SHIM = Path(__file__).with_name("shim")


@dataclass
class Kept:
    """A state file, its worlds at the end of the server, and the events of the server's files."""

    path: Path
    expected: dict[str, Any]
    events: list[dict[str, Any]]


def describe(world: Any) -> dict[str, Any]:
    """Return what a restart has to keep of a world, but for its requests."""
    return {
        "export": world.export(),
        "now": world.clock.now,
        "credentials": [(account.key, account.secret, account.token) for account in world.accounts],
        "snapshots": [snapshot.name for snapshot in world.snapshots],
        "branches": [branch.name for branch in world.branches],
        "faults": world.faults.list(),
        "assumptions": world.assumptions.list(),
    }


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """Two worlds with a past, saved twice. A ``pyproject.toml`` names a link to the file."""
    folder = tmp_path_factory.mktemp("kept")
    (folder / "pyproject.toml").write_text('[tool.reseller_sandbox]\nkeep = "worlds"\n')
    (folder / "worlds").symlink_to(folder / "disk")
    (below := folder / "below").mkdir()
    shim = {"PYTHONPATH": str(SHIM), "RECORDED_EVENTS": str(folder / "events")}
    with serving(at=below, env=shim) as served:
        fork = served.sandbox.fork(name="side", assume={"requests.unknown_keys": "refused"})
        assert [register(fork, f"kept{number}.com") for number in range(2)] == [200, 200]
        wait_until(lambda: (folder / "disk").stat().st_size)
        fork.clock.advance("3d")
        fork.snapshot("before")
        fork.rewind("r2")
        fork.faults.preset("maintenance")
        fork.outside.when("P1D").register("planned.com")
        assert register(fork, "unavailable.com") == 503
        expected = describe(fork)
    rows = (folder / "events").read_text().splitlines()
    return Kept(folder / "disk", expected, [json.loads(row) for row in rows])
