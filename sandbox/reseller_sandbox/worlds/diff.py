"""What differs between two moments: which records, and how."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reseller_sandbox.core.state import Change, State
from reseller_sandbox.core.stepwise import keys_in_order
from reseller_sandbox.core.tables import TABLES
from reseller_sandbox.faults import FaultBook
from reseller_sandbox.fixture import faults
from reseller_sandbox.worlds.moment import Moment


def changes(earlier: State, later: State) -> Iterator[Change]:
    """Yield what became of each record that differs between two states, of one world or of two.

    A table that neither has touched costs nothing, any other one look at each of its records.
    """
    for table in TABLES.values():
        old, new = getattr(earlier, table.name), getattr(later, table.name)
        if old is new:
            continue
        touched = [key for key, record in new.items() if old.get(key) is not record]
        touched += [key for key in old if key not in new]
        for key in keys_in_order(touched):
            before, after = old.get(key), new.get(key)
            if before != after:
                yield Change(table.name, key, before, after)


def settings(earlier: Moment, later: Moment) -> Iterator[tuple[str, Any, Any]]:
    """Yield what is no record and differs between two moments: its name, before and after."""
    pairs = [
        ("clock.now", earlier.clock.instant, later.clock.instant),
        ("clock.frozen", earlier.clock.frozen, later.clock.frozen),
        ("seed", earlier.state.seed, later.state.seed),
    ]
    if earlier.assumptions is not later.assumptions:
        old, new = earlier.assumptions.values(), later.assumptions.values()
        pairs += [(f"assume.{name}", old[name], new[name]) for name in old]
    pairs += _faults(earlier.faults, later.faults)
    return (pair for pair in pairs if pair[1] != pair[2])


def _faults(earlier: FaultBook, later: FaultBook) -> Iterator[tuple[str, Any, Any]]:
    """Yield each rule of either as it is written, and the order of the rules where that alone differs."""
    if earlier is later:
        return
    old, new = faults.written(earlier), faults.written(later)
    for name in dict.fromkeys([*old, *new]):
        yield f"faults.{name}", old.get(name), new.get(name)
    if old.keys() == new.keys():
        yield "faults", list(old), list(new)
