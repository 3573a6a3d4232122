"""What the event loop does itself for control costs the same in any world; the rest is done beside it."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core.model import Order
from reseller_sandbox.core.state import filled
from reseller_sandbox.powers.catalogue import POWERS
from reseller_sandbox.server.collector import MUCH, TURN, WHOLE, Beside, sparing_survivors
from reseller_sandbox.worlds import timeline
from tests.clients import InProcess
from tests.powers.doors import over_http
from tests.powers.example import REQUEST, Example
from tests.powers.examples import EXAMPLES
from tests.powers.test_doors import MORE
from tests.registry import REGISTRY, order_of

#: What the loop does itself: neither long, nor a stream.
PROMPT = tuple(
    one for power in POWERS.values() for one in power.operations() if not one.long and one.sort != "stream"
)
DONE = [one for one in EXAMPLES if not one.refused and one.operation in {prompt.id for prompt in PROMPT}]


@pytest.fixture(scope="module")
def sizes(tmp_path_factory: pytest.TempPathFactory) -> tuple[Sandbox, Sandbox]:
    """A world with a hundred names more, and one with thousands."""
    fixture = tmp_path_factory.mktemp("sizes") / "registry.yaml"
    fixture.write_text(REGISTRY.read_text("utf-8") + MORE, "utf-8")
    return holding(100, fixture, "active.com"), holding(3000, fixture, "active.com")


def holding(names: int, fixture: Path | str = "default", like: str = "active-example.com") -> Sandbox:
    """A sandbox with so many names more, each of them like one that the fixture has."""
    sandbox = Sandbox(fixture)
    moment = sandbox.world.moment
    one = order_of(sandbox, like)
    orders = [replace(one, id=10_000 + at, name=f"n{at}.com") for at in range(names)]
    timeline.begin_again(sandbox.world, replace(moment, state=filled(moment.state, orders)))
    return sandbox


def steps(sandbox: Sandbox, example: Example) -> int:
    """How many calls of functions it takes to answer control's caller."""
    through = over_http(InProcess(sandbox.app))
    sandbox.reset()
    for setting, given in example.before:
        if setting == REQUEST:
            sandbox.client().open(**given)
        else:
            assert through(setting, given)[0] == "ok"
    through("health.show", {})
    came, counted = counting(partial(through, example.operation, example.given))
    assert came[0] == "ok", came
    return counted


def counting(work: Callable[[], Any]) -> tuple[Any, int]:
    """What ``work`` returns, and how many calls of functions it takes."""
    counted = 0

    def count(_frame: object, event: str, _about: object) -> None:
        nonlocal counted
        counted += event.endswith("call")

    sys.setprofile(count)
    try:
        result = work()
    finally:
        sys.setprofile(None)
    return result, counted


def test_a_move_of_the_clock_costs_what_comes_due() -> None:
    """A hundred calls for each event, more or less, however many there are."""
    each = []
    for names in (100, 2000):
        sandbox = holding(names)
        moved, counted = counting(partial(sandbox.clock.advance, "P1Y", limit=1))
        assert moved.total > 4 * names
        each.append(counted / moved.total)
    assert max(each) < 130
    assert each[1] < each[0] * 1.2


def test_each_operation_is_tried() -> None:
    """What is added to the interface is walked too."""
    assert {one.operation for one in DONE} == {one.id for one in PROMPT}


@pytest.mark.parametrize("example", DONE, ids=str)
def test_what_the_loop_does_itself_costs_the_same_in_a_large_world(
    sizes: tuple[Sandbox, Sandbox], example: Example
) -> None:
    """Looks that take longer the more there is are done beside the loop, and acts share what they keep."""
    steps(sizes[0], example)  # for what is made once in a process
    small, large = (steps(sandbox, example) for sandbox in sizes)
    assert large < small * 1.25 + 100


@pytest.fixture
def _frozen_again() -> Iterator[None]:
    """What the tests as a whole keep from the collector stays so."""
    yield
    gc.freeze()


@pytest.mark.usefixtures("_frozen_again")
def test_a_full_collection_goes_over_what_is_new_alone() -> None:
    """Records of worlds survive one full collection, and are not looked at again by the next."""
    held: list[list[object]] = [[] for _ in range(1000)]
    with sparing_survivors():
        frozen = gc.get_freeze_count()
        held += [[] for _ in range(1000)]
        gc.collect()
        assert gc.get_freeze_count() >= frozen + 1000
        assert len(gc.get_objects()) < 1000
    assert gc.get_freeze_count() == 0
    assert len(held) == 2000


class Knot:
    """An object that knows itself, so that only the collector frees it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.mark.usefixtures("_frozen_again")
def test_a_cycle_that_dies_late_is_freed_in_the_end() -> None:
    """One full collection of a few goes over everything."""
    with sparing_survivors():
        knot = Knot()
        gone = weakref.ref(knot)
        gc.collect()  # which it survives
        del knot
        gc.collect()
        assert gone() is not None
        for _ in range(WHOLE):
            gc.collect()
        assert gone() is None


def test_while_something_is_done_beside_the_loop_threads_take_short_turns_and_nothing_is_collected() -> None:
    """So it is from the first to the last of them, whatever it raises; then all is as it was."""
    usual, beside = sys.getswitchinterval(), Beside()

    def failing() -> None:
        with beside:
            with beside:
                pass
            assert not gc.isenabled()
            assert sys.getswitchinterval() == pytest.approx(TURN)
            raise KeyError

    with pytest.raises(KeyError):
        failing()
    assert gc.isenabled()
    assert sys.getswitchinterval() == pytest.approx(usual)


def test_what_was_made_meanwhile_is_not_gone_over_at_once() -> None:
    """Where it is much it passes for old: it is left out altogether where survivors are spared."""
    with sparing_survivors():
        with Beside():
            held: list[object] = [[] for _ in range(2 * MUCH)]
        assert gc.get_freeze_count() >= 2 * MUCH
        assert gc.isenabled()
    with Beside():
        held += [[] for _ in range(2 * MUCH)]
    assert gc.get_freeze_count() == 0
    assert gc.get_count()[0] < MUCH
    assert len(held) == 4 * MUCH


def test_garbage_between_pieces_of_long_work_is_collected() -> None:
    """However short and frequent the pieces are, and however much each of them makes."""
    for much in (0, 2 * MUCH):
        with sparing_survivors():
            knots = []
            for _ in range(20):
                knots.append(weakref.ref(Knot()))
                with Beside():
                    assert len([[] for _ in range(much)]) == much
            assert [knot() for knot in knots] == [None] * 20


def test_a_collector_that_somebody_has_stopped_stays_so() -> None:
    """What is done beside the loop puts back what it found."""
    gc.disable()
    try:
        with Beside():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_what_a_world_held_is_freed_as_soon_as_it_is_deleted() -> None:
    """Reading a fixture and serving a world leave no cycles, which only the collector would free."""
    sandbox = holding(0)
    client, text = sandbox.app.test_client(), sandbox.export()
    gc.collect()
    gc.disable()
    try:
        before = count_of(Order)
        body = {"state": f"{text}# another\n", "name": "brief"}
        assert client.post("/_sandbox/worlds/fork", json=body).status_code == 201
        assert count_of(Order) > before
        sandbox.engine.fixtures._read.clear()
        assert client.delete("/_sandbox/worlds/brief").status_code == 200
        assert count_of(Order) == before
    finally:
        gc.enable()


def count_of(kind: type[object]) -> int:
    """How many objects of a type there are."""
    return sum(type(one) is kind for one in gc.get_objects())
