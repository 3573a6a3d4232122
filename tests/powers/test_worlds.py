"""Worlds, snapshots and the past, the same in a local and in a remote sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reseller_sandbox import Refused, Sandbox, connect
from tests.registry import Make


@pytest.fixture(params=["local", "remote"])
def sandbox(request: pytest.FixtureRequest, served: Sandbox, url: str) -> Iterator[Sandbox]:
    """A sandbox as it began, of this process and through a server."""
    if request.param == "local":
        yield served
        return
    with connect(url) as remote:
        yield remote


def names(sandbox: Sandbox) -> list[str]:
    """Return the names of the worlds."""
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


def test_a_sandbox_refuses_to_fork_as_its_worlds_do(sandbox: Sandbox) -> None:
    """With the same message; no world remains."""
    wrong: tuple[dict[str, Any], ...] = (
        *({"nane": "mine"}, {"name": "w1"}, {"name": "default"}, {"now": "soon"}, {"point": "before:r99"}),
        *({"assume": {"v3.id": "integer"}}, {"point": "now", "fixture": "default"}, {"state": "domains: 7"}),
    )
    for wanted in wrong:
        with pytest.raises(Refused) as by_worlds:
            sandbox.worlds.fork(**wanted)
        with pytest.raises(Refused) as by_sandbox:
            sandbox.fork(**wanted)
        assert str(by_sandbox.value) == str(by_worlds.value)
    assert names(sandbox) == ["default"]


def test_the_past_is_not_forked_but_a_point_is(sandbox: Sandbox) -> None:
    with pytest.raises(Refused, match="what is past can be looked at"):
        sandbox.at("start").fork()
    with sandbox.fork(point="start") as fork:
        assert fork.clock.now == sandbox.clock.now


def test_closing_a_fork_twice_or_after_it_is_gone_does_no_harm(sandbox: Sandbox) -> None:
    """Whoever has deleted it; the world that was there before stays."""
    fork = sandbox.fork(name="mine")
    sandbox.worlds.remove("mine")
    fork.close()
    fork.close()
    sandbox.close()
    assert names(sandbox) == ["default"]


def test_closing_a_fork_leaves_a_later_world_of_its_name(served: Sandbox) -> None:
    first = served.fork(name="mine")
    served.worlds.remove("mine")
    with served.fork(name="mine"):
        first.close()
        assert names(served) == ["default", "mine"]


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


def test_a_text_that_looks_like_json_stays_a_text(sandbox: Sandbox, served: Sandbox) -> None:
    served.client().get("/v3/balance")
    for path, count in (("/v3/*", 1), ('["/v3/*"]', 0), ('"/v3/*"', 0), (["/v3/*", "/v2"], 1)):
        assert sandbox.journal.count(path=path) == count


def test_an_unknown_name_raises_an_attribute_error_with_the_nearest(sandbox: Sandbox) -> None:
    with pytest.raises(AttributeError, match="nearest is clock"):
        _ = sandbox.clok  # type: ignore[attr-defined]


def test_a_remote_sandbox_tells_what_only_a_local_one_has(url: str) -> None:
    with pytest.raises(AttributeError, match="only for a sandbox in this process"):
        _ = connect(url).app


def test_a_remote_sandbox_sends_its_token(make: Make) -> None:
    with make(control_token="let-me-in").serve() as server:
        assert connect(server.url, control_token="let-me-in").clock.frozen
        with pytest.raises(Refused, match="control_token_missing"):
            connect(server.url).clock.show()


def test_a_remote_sandbox_acts_on_the_world_of_its_name(served: Sandbox, url: str) -> None:
    with served.fork(name="mine") as fork:
        connect(url, world="mine").clock.advance("P1D")
        assert fork.clock.now > served.clock.now
        with pytest.raises(Refused, match="unknown_world"):
            connect(url, world="nobodys").clock.show()


def test_an_unreachable_server_is_named_in_the_error() -> None:
    with pytest.raises(OSError, match=r"no sandbox answers at http://127\.0\.0\.1:1"):
        connect("http://127.0.0.1:1").clock.show()
