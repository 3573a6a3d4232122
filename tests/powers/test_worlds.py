"""Worlds, snapshots and the past through either door: one object, be the server this process or another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reseller_sandbox import Refused, Sandbox, connect
from tests.registry import REGISTRY

DOORS: dict[str, Callable[[Sandbox, str], Sandbox]] = {
    "in process": lambda sandbox, _: sandbox,
    "remote": lambda _, url: connect(url),
}


@pytest.fixture(scope="module")
def _served() -> Iterator[tuple[Sandbox, str]]:
    sandbox = Sandbox(REGISTRY)
    with sandbox.serve() as server:
        yield sandbox, server.url


@pytest.fixture(params=DOORS)
def sandbox(request: pytest.FixtureRequest, _served: tuple[Sandbox, str]) -> Iterator[Sandbox]:
    """A sandbox as it began, by one door and the other."""
    _served[0].engine.start_over()
    with DOORS[request.param](*_served) as entered:
        yield entered


def names(sandbox: Sandbox) -> list[str]:
    """The names of the worlds."""
    return [one.name for one in sandbox.worlds]


def test_a_fork_is_a_world_of_its_own_that_goes_with_its_sandbox(sandbox: Sandbox) -> None:
    """It has its own time and assumptions, and is deleted at the end of its ``with``."""
    with sandbox.fork(name="mine", assume={"v3.ids": "integer"}) as fork:
        fork.clock.advance("P1Y")
        assert fork.health.show().world == "mine"
        assert fork.clock.now > sandbox.clock.now
        assert (fork.assumptions["v3.ids"], sandbox.assumptions["v3.ids"]) == ("integer", "string")
        with fork.fork() as inner:
            assert inner.clock.now == fork.clock.now
            assert names(sandbox) == ["default", "mine", inner.health.show().world]
    assert names(sandbox) == ["default"]


@pytest.mark.parametrize(
    "wanted",
    [
        {"nane": "mine"},
        {"name": "w1"},
        {"name": "default"},
        {"now": "soon"},
        {"assume": {"v3.id": "integer"}},
        {"point": "before:r99"},
        {"point": "now", "fixture": "default"},
        {"state": "domains: 7"},
    ],
)
def test_a_sandbox_refuses_to_fork_as_its_power_does(sandbox: Sandbox, wanted: dict[str, Any]) -> None:
    """In the same words, by each door; no world comes of it."""
    with pytest.raises(Refused) as by_power:
        sandbox.worlds.fork(**wanted)
    with pytest.raises(Refused) as by_sandbox:
        sandbox.fork(**wanted)
    assert str(by_sandbox.value) == str(by_power.value)
    assert names(sandbox) == ["default"]


def test_what_is_past_is_not_forked(sandbox: Sandbox) -> None:
    """It is looked at; whoever wants to go on from there forks the world at that point."""
    with pytest.raises(Refused, match="what is past can be looked at"):
        sandbox.at("start").fork()
    with sandbox.fork(point="start") as fork:
        assert fork.health.show().world == "w1"


def test_closing_a_fork_twice_or_after_it_is_gone_does_no_harm(sandbox: Sandbox) -> None:
    """Whoever has deleted it; the world that was there before stays."""
    fork = sandbox.fork(name="mine")
    sandbox.worlds.remove("mine")
    fork.close()
    fork.close()
    sandbox.close()
    assert names(sandbox) == ["default"]


def test_only_the_world_that_was_forked_is_deleted() -> None:
    """Not another that has its name by now."""
    sandbox = Sandbox(REGISTRY)
    first = sandbox.fork()
    sandbox.engine.start_over()
    second = sandbox.fork()
    assert first.world.name == second.world.name
    first.close()
    assert names(sandbox) == ["default", second.world.name]


def test_the_short_forms_work_by_every_door(sandbox: Sandbox) -> None:
    """Keep, go back, compare, take away, begin again."""
    began = sandbox.clock.now
    assert sandbox.snapshot("here").now == began
    sandbox.clock.advance("P300D")
    difference = sandbox.diff("snapshot:here")
    assert difference.total == len(difference.changes) > 1
    assert difference.settings[0].name == "clock.now"
    left = sandbox.restore("here").branch
    assert (sandbox.clock.now, [one.name for one in sandbox.branches]) == (began, [left.name])
    assert sandbox.branches.switch(left.name).now == left.now > began
    exported = sandbox.export()
    assert sandbox.reset().now == began
    assert sandbox.load(exported).now == left.now
    assert sandbox.reset(original=True).now == began
    assert not list(sandbox.snapshots)


def test_a_fixture_may_be_an_object_or_a_file(sandbox: Sandbox, tmp_path: Path) -> None:
    """The file is read where the path is said; what is wrong with either is told."""
    prices = {"registration": 1, "renewal": 2.5, "transfer": 1, "restore": 1}
    told = {
        "zones": {"com": {"prices": prices}},
        "accounts": {"solo": {"balance": 7, "contact": {"name": "S"}}},
    }
    file = tmp_path / "world.yaml"
    with sandbox.fork(state=told) as fork:
        assert [one.name for one in fork.accounts.list().accounts] == ["solo"]
        file.write_text(fork.export(), "utf-8")
        with fork.fork(state=file) as again:
            assert again.accounts["solo"].balance == 7
        assert fork.load(file).accounts[0].name == "solo"
    with pytest.raises(Refused, match=r"invalid_parameter.*cannot be read"):
        sandbox.load(tmp_path / "nothing.yaml")
    with pytest.raises(Refused, match="invalid_fixture"):
        sandbox.load({"zonez": {}})


def test_a_difference_comes_in_pages(sandbox: Sandbox) -> None:
    """Together they are the whole of it, and each says where the next one starts."""
    sandbox.clock.advance("P300D")
    whole = sandbox.diff(limit=1000)
    assert whole.next is None
    found: list[object] = []
    start: int | None = 0
    while start is not None:
        page = sandbox.diff(limit=2, start=start)
        assert page.total == whole.total
        found += page.changes
        start = page.next
    assert tuple(found) == whole.changes


def test_results_can_be_read(sandbox: Sandbox) -> None:
    """No map of the engine's and no whole fixture stands in what they print."""
    sandbox.snapshot("here")
    shown = repr([sandbox.worlds.list(), sandbox.snapshots.list(), sandbox.history.export(), sandbox.diff()])
    assert "HashTrieMap" not in shown
    assert "zones" not in shown
    assert "name='here'" in shown
