"""Every field of every record survives each way to keep, move and read a world."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reseller_sandbox import Sandbox, connect, replay
from reseller_sandbox.persistence.worlds import opened, save
from reseller_sandbox.registry.indexes import TABLES
from tests.golden.transcripts import FOLDER, WORLD

#: Fault rules with all parameters that the world of the golden files does not use.
FAULTS: list[dict[str, Any]] = [
    {"kind": "error", "status": 503, "body": {"a": 1}, "content_type": "text/x", "headers": {"X-A": "b"}},
    {"kind": "error", "error": "rate_limited", "facts": {"limit": 5}, "retry_after": 7, "when": {"nth": 3}},
    {"kind": "latency", "min": 0.5, "max": 1.5, "when": {"chance": 0.5, "phase": "after", "every": 2}},
    {"kind": "latency", "median": 0.5, "sigma": 0.3, "when": {"from": "2026-04-01", "until": "2026-05-01"}},
    {"kind": "rate_limit", "limit": 2, "window": 30, "time": "real", "per": "rule"},
    {"kind": "mutate", "path": "a.b", "value": 3, "when": {"times": 2}},
    {"kind": "mutate", "path": "a.b", "type": "string"},
    {"kind": "mutate", "path": "a.b", "drop": True},
    {"kind": "mutate", "path": "a.c", "add": 7},
    {"kind": "truncate", "keep": 3, "reset": True},
    {"kind": "stale", "commits": 2, "max_age": 60},
    {"kind": "drip", "size": 3, "pause": 0.5},
    {"kind": "bandwidth", "rate": 100},
    {"kind": "time_passes", "by": "3d"},
]

#: Canned answers with the fields that the world of the golden files does not use.
ANSWERS: list[dict[str, Any]] = [
    {"method": "POST", "save": {"text": "{body.text}"}, "body": {}},
    {"method": "GET", "exists": True, "body": "{entry}"},
    {"method": "DELETE", "delete": True, "body": {}},
]

#: Fields that only a running server sets, and fields that one world cannot have with another value.
RUNNING = {
    "FaultBook.waiting": "requests that a fault holds up",
    "WorldClock.anchor": "a running clock",
    "Count.windows": "counts of the machine's clock",
}


def world() -> Sandbox:
    """Return a sandbox in which each field of each record has a value that is not its default."""
    text = (FOLDER / WORLD).read_text("utf-8").replace("currency: USD", "currency: EUR")
    sandbox = Sandbox()
    sandbox.load(text)
    for answer in ANSWERS:
        sandbox.answers.add("/v3/notes/{name}", entry="notes/{name}", **answer)
    sandbox.app.test_client().post("/v3/notes/kept", json={"text": "kept"})
    for number, rule in enumerate(FAULTS):
        sandbox.faults.add(**{"name": f"more{number}", **rule})
    sandbox.faults.pause("more0")
    return sandbox


def content(sandbox: Sandbox) -> dict[str, Any]:
    """Return the records of a world by table, with its faults, answers, assumptions and clock."""
    snapshot = sandbox.world.snapshot
    tables = {name: dict(getattr(snapshot.state, name).items()) for name in (t.name for t in TABLES.values())}
    rest = {name: getattr(snapshot, name) for name in ("answers", "assumptions", "clock")}
    own = {name: getattr(snapshot.state, name) for name in ("contact_params", "permits", "counters")}
    return {**tables, **rest, **own, "rules": snapshot.faults.rules, "counts": dict(snapshot.faults.counts)}


def fields(value: Any) -> Iterator[tuple[str, bool]]:
    """Yield each field of each record in a value, and whether it differs from its default."""
    if isinstance(value, msgspec.Struct):
        kind = type(value)
        defaults = dict(zip(kind.__struct_fields__[::-1], kind.__struct_defaults__[::-1], strict=False))
        for name in kind.__struct_fields__:
            inner, default = getattr(value, name), defaults.get(name, msgspec.NODEFAULT)
            made = default.factory() if hasattr(default, "factory") else default
            yield f"{kind.__name__}.{name}", made is msgspec.NODEFAULT or inner != made
            yield from fields(inner)
    elif isinstance(value, tuple | list | frozenset):
        for item in value:
            yield from fields(item)
    elif hasattr(value, "values"):
        for item in value.values():
            yield from fields(item)


def exported(sandbox: Sandbox, _: Path) -> Sandbox:
    """Load the export into another sandbox."""
    other = Sandbox()
    other.load(sandbox.export())
    return other


def stored(sandbox: Sandbox, folder: Path) -> Sandbox:
    """Open a state file."""
    save(folder / "worlds", sandbox.engine.dump(), Path.replace)
    other = Sandbox()
    other.world.snapshot = opened(folder / "worlds").worlds[0].snapshot
    return other


def replayed(sandbox: Sandbox, _: Path) -> Sandbox:
    """Replay the recording, which must not differ."""
    again = replay(sandbox.recording.get().content)
    assert again.identical, again.difference
    return again.sandbox


WAYS: tuple[Callable[[Sandbox, Path], Sandbox], ...] = (exported, stored, replayed)


@pytest.fixture(scope="module")
def full() -> Sandbox:
    """A sandbox whose records have no field that is only a default."""
    return world()


def test_the_world_has_another_value_than_the_default_in_every_field(full: Sandbox) -> None:
    """A new field fails here first: give it a value in tests/golden/world.yaml, or in ``FAULTS``."""
    found: dict[str, bool] = {}
    snapshot = full.world.snapshot
    for name, differs in fields((content(full), snapshot.faults, snapshot.clock)):
        found[name] = found.get(name, False) or differs
    assert len(found) > 150
    assert {name for name, differs in found.items() if not differs} == RUNNING.keys() & found.keys()


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_every_field_of_every_record_is_the_same_after(
    full: Sandbox, tmp_path: Path, way: Callable[[Sandbox, Path], Sandbox]
) -> None:
    again, before = content(way(full, tmp_path)), content(full)
    for section, records in before.items():
        assert again[section] == records, section


def test_python_and_the_remote_client_return_equal_records(full: Sandbox) -> None:
    with full.serve() as server, connect(server.url) as remote:
        for name, resource in Sandbox.resources().items():
            if hasattr(resource, "list") and name not in ("worlds", "snapshots", "branches"):
                here, there = getattr(full, name).list(), getattr(remote, name).list()
                assert here == there, name
