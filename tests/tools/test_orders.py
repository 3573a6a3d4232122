"""Which orders are tried: all that could matter, held against all there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from hypothesis import example, given, settings
from hypothesis import strategies as st

from reseller_sandbox.core.footprint import Footprint
from reseller_sandbox.tools.explore.orders import Orders
from tests.thorough import tries
from tests.tools.test_footprint import REGISTER, Asked, kept, requests

#: What a worker does in one request: what it looks at, and where it writes what follows from that.
Act = tuple[str, str, str]
Script = Sequence[Act]

CHECKS: Asked = ("main", "POST", "/v3/domains/checkAvailability", {"domainNames": ["one.com"]})
REGISTERS: Asked = ("main", "POST", "/v3/domains/createDomain", {"domain": {"domainName": "one.com"}})

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


def _merged(one: Sequence[str], other: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Every way to put two sequences into one."""
    if not one or not other:
        yield (*one, *other)
        return
    yield from ((one[0], *rest) for rest in _merged(one[1:], other))
    yield from ((other[0], *rest) for rest in _merged(one, other[1:]))


@example([[CHECKS, REGISTERS], [CHECKS, REGISTERS]])
@settings(max_examples=tries(12))
@given(st.lists(st.lists(requests(), min_size=1, max_size=2), min_size=2, max_size=2))
def test_whatever_any_order_of_requests_to_the_api_leaves_is_found(scripts: list[list[Asked]]) -> None:
    """The same registries, to the last identifier, and the same answers, in as many orders at most."""
    begin = REGISTER.sandbox.world.first
    named = dict(zip("ab", scripts, strict=True))

    def ran(schedule: Sequence[str]) -> tuple[object, object]:
        moment, answers = begin, list[tuple[str, object]]()
        for at, name in enumerate(schedule):
            moment, said, _ = REGISTER.send(moment, named[name][schedule[:at].count(name)])
            answers.append((name, said))
        return kept(moment.state), sorted(answers, key=lambda one: one[0])

    every_order = {*_merged("a" * len(scripts[0]), "b" * len(scripts[1]))}
    orders, tried = Orders(), list[tuple[str, ...]]()
    while orders.begin():
        moment, done = begin, dict.fromkeys("ab", 0)
        while waiting := {name: str(named[name][at]) for name, at in done.items() if at < len(named[name])}:
            name = orders.choose(waiting)
            moment, _, footprint = REGISTER.send(moment, named[name][done[name]])
            orders.did(name, (name, done[name], waiting[name]), footprint)
            done[name] += 1
        tried.append(orders.schedule)
        orders.end()
    found = [ran(schedule) for schedule in tried]
    assert all(ran(schedule) in found for schedule in every_order)
    assert len(tried) <= len(every_order)


def test_workers_with_nothing_in_common_are_run_once() -> None:
    """However many requests they make."""
    apart: dict[str, Script] = {"a": [("add", "x", "x")] * 5, "b": [("add", "y", "y")] * 5}
    assert len(reduced(apart)) == 1


def test_each_order_of_conflicting_requests_is_run_once() -> None:
    """Two requests of each of two workers on one thing have six orders."""
    same: dict[str, Script] = {"a": [("add", "x", "x")] * 2, "b": [("add", "x", "x")] * 2}
    assert len(reduced(same)) == len(set(reduced(same))) == 6
