"""What a journal holds of a request is what it shows of it: no frames, no dropped drafts, two kilobytes."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from types import FrameType, ModuleType, TracebackType
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core.state import Draft
from tests.registry import REGISTRY
from tests.v2.client import connect
from tests.worlds.control import inside, register, renew


def _injected(sandbox: Sandbox) -> None:
    sandbox.faults.replace([{"kind": "error", "error": "internal_error", "when": {"phase": "after"}}])
    renew(inside(sandbox, "poor"), "active.com")
    sandbox.faults.clear()


def _again(sandbox: Sandbox) -> None:
    sandbox.faults.replace([{"kind": "duplicate"}])
    register(inside(sandbox), "active.com")
    sandbox.faults.clear()


def _cut(sandbox: Sandbox) -> None:
    sandbox.faults.replace([{"kind": "reset", "when": {"phase": "after"}}])
    with suppress(ConnectionResetError):
        register(inside(sandbox), "active.com")
    sandbox.faults.clear()


#: A way to be refused at each place where a request can be.
REFUSALS: dict[str, Callable[[Sandbox], Any]] = {
    "by the operation": lambda sandbox: register(inside(sandbox), "active.com"),
    "by the schema": lambda sandbox: register(inside(sandbox), "new.com", years=99999),
    "by the parser": lambda sandbox: inside(sandbox).post("/v3/domains/createDomain", b"{"),
    "by the router": lambda sandbox: inside(sandbox).get("/v3/nowhere"),
    "by the signature": lambda sandbox: inside(sandbox).send("GET", "/v3/balance", [], b""),
    "by v2.0": lambda sandbox: connect(sandbox).get("/domain/nobody-has.com"),
    "by a fault": _injected,
    "twice": _again,
    "and not answered": _cut,
}


@pytest.mark.parametrize("way", REFUSALS)
def test_a_journal_reaches_no_frame_and_no_draft(sandbox: Sandbox, way: str) -> None:
    """Whatever a request was refused by, nothing of its work is kept alive by what is remembered of it."""
    REFUSALS[way](sandbox)
    bad = (FrameType, TracebackType, BaseException, Draft)
    found = [one for one in _reached(list(sandbox.world.journal)) if isinstance(one, bad)]
    assert not found, found


def _reached(root: Any) -> list[Any]:
    """All that ``root`` keeps alive, but for code."""
    seen: dict[int, Any] = {}
    edge = [root]
    while edge:
        one = edge.pop()
        if id(one) in seen or isinstance(one, type | ModuleType) or callable(one):
            continue
        seen[id(one)] = one
        edge += gc.get_referents(one)
    return list(seen.values())


@pytest.mark.slow
def test_a_refusal_costs_two_kilobytes_of_memory_and_no_more_once_the_journal_is_full() -> None:
    """However long a client is refused, memory stays what a full journal takes."""
    sandbox = Sandbox(REGISTRY, journal=150)
    api = inside(sandbox)

    def refused(times: int) -> int:
        for _ in range(times):
            register(api, "active.com")
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    refused(20)
    sandbox.journal.clear()
    tracemalloc.start()
    try:
        empty = refused(0)
        full = refused(150)
        settled = refused(400)  # by then whatever is remembered for speed is full as well
        later = refused(300)
    finally:
        tracemalloc.stop()
    assert (full - empty) / 150 < 4096
    assert abs(settled - full) < 100_000
    assert abs(later - settled) < 20_000
