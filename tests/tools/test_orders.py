"""Which orders are tried: all that could matter, held against all there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hypothesis import example, given
from hypothesis import strategies as st

from reseller_sandbox.core.footprint import Footprint
from reseller_sandbox.tools.explore.orders import Orders

#: What a worker does in one request: what it looks at, and where it writes what follows from that.
Act = tuple[str, str, str]
Script = Sequence[Act]

ACTS = st.tuples(st.sampled_from(("read", "write", "add", "once", "skip")), *[st.sampled_from("xyz")] * 2)
PROGRAMS = st.lists(st.lists(ACTS, min_size=1, max_size=3), min_size=2, max_size=3)


@dataclass
class Running:
    """Workers over a few variables. What a worker does depends on what it has seen."""

    scripts: Mapping[str, Script]

    def __post_init__(self) -> None:
        self.variables = dict.fromkeys("xyz", 0)
        self.at = dict.fromkeys(self.scripts, 0)
        self.seen: dict[str, list[int]] = {name: [] for name in self.scripts}

    @property
    def waiting(self) -> dict[str, str]:
        """The workers that are not done, and what each is to do next."""
        at = self.at.items()
        return {name: str(self.scripts[name][done]) for name, done in at if done < len(self.scripts[name])}

    def step(self, name: str) -> Footprint:
        """Let a worker do its next act; return what that touches."""
        what, source, target = self.scripts[name][self.at[name]]
        self.at[name] += 1
        value, touched = self.variables[source], Footprint(reads={("v", source)})
        self.seen[name].append(value)
        if what == "write" or (what == "once" and not value):
            self.variables[target] = len(name) + self.at[name]
            touched.writes.add(("v", target))
        elif what == "add":
            touched.reads.add(("v", target))
            self.variables[target] += value + 1
            touched.writes.add(("v", target))
        elif what == "skip" and value:
            self.at[name] += 1
        return touched

    @property
    def left(self) -> str:
        """What it has come to, and what everybody has seen on the way."""
        return f"{self.variables} {self.seen}"


def every(scripts: Mapping[str, Script], schedule: tuple[str, ...] = ()) -> Iterator[str]:
    """What each order there is leaves, one by one."""
    running = Running(scripts)
    for name in schedule:
        running.step(name)
    if not running.waiting:
        yield running.left
    for name in sorted(running.waiting):
        yield from every(scripts, (*schedule, name))


def reduced(scripts: Mapping[str, Script]) -> list[str]:
    """What the orders that are tried leave, one by one."""
    orders, found = Orders(), []
    while orders.begin():
        running = Running(scripts)
        while running.waiting:
            name = orders.choose(running.waiting)
            at = running.at[name]
            orders.did(name, (name, at, str(scripts[name][at])), running.step(name))
        found.append(running.left)
        orders.end()
    return found


@example(
    # The third worker comes first, then the second: only that hinders the first one from writing.
    [[("once", "z", "x"), ("add", "x", "x")], [("once", "x", "y")], [("add", "z", "y"), ("write", "x", "z")]]
)
@given(PROGRAMS)
def test_whatever_any_order_leaves_is_found(scripts: list[list[Act]]) -> None:
    """Brute force finds nothing more, whatever the workers do and however that depends on what they see."""
    named = {"a" * (number + 1): script for number, script in enumerate(scripts)}
    all_of_them = list(every(named))
    found = reduced(named)
    assert set(found) == set(all_of_them)
    assert len(found) <= len(all_of_them)


def test_workers_with_nothing_in_common_are_run_once() -> None:
    """However many requests they make."""
    apart: dict[str, Script] = {"a": [("add", "x", "x")] * 5, "b": [("add", "y", "y")] * 5}
    assert len(reduced(apart)) == 1


def test_each_order_of_conflicting_requests_is_run_once() -> None:
    """Two requests of each of two workers on one thing have six orders."""
    same: dict[str, Script] = {"a": [("add", "x", "x")] * 2, "b": [("add", "x", "x")] * 2}
    assert len(reduced(same)) == len(set(reduced(same))) == 6
