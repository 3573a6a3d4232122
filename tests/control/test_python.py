"""Worlds, their past and records in Python, in a local and in a remote sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reseller_sandbox import Refused, Sandbox, connect
from tests.registry import Make

#: For each resource, a key with a record and a key without a record.
KEYS: dict[str, tuple[Any, Any]] = {
    "worlds": ("default", "none"),
    "snapshots": ("here", "none"),
    "branches": ("b1", "none"),
    "names": ("second.com", "nobody.com"),
    "accounts": ("main", "none"),
    "customers": (1, 999),
    "contacts": ("A1001", "none"),
    "hosts": ("ns1.second.com", "ns9.second.com"),
    "transfers": ("arriving.com", "second.com"),
    "faults": ("slow", "none"),
    "answers": ("zone", "none"),
    "journal": ("r1", "r99"),
    "assumptions": ("v3.ids", "v3.none"),
}


@pytest.fixture(params=["local", "remote"])
def sandbox(request: pytest.FixtureRequest, served: Sandbox, url: str) -> Iterator[Sandbox]:
    if request.param == "local":
        yield served
        return
    with connect(url) as remote:
        yield remote


def names(sandbox: Sandbox) -> list[str]:
    return [world.name for world in sandbox.worlds]


def test_a_fork_is_a_separate_world_and_close_deletes_the_fork(sandbox: Sandbox) -> None:
    with sandbox.fork(name="mine", assume={"v3.ids": "integer"}) as fork:
        fork.clock.advance("P1Y")
        assert fork.health.show().world == "mine"
        assert fork.clock.now > sandbox.clock.now
        assert (fork.assumptions["v3.ids"], sandbox.assumptions["v3.ids"]) == ("integer", "string")
        with fork.fork() as inner:
            assert inner.clock.now == fork.clock.now
            assert names(sandbox) == ["default", "mine", inner.health.show().world]
    with sandbox.fork(name="mine"):
        fork.close()
        assert names(sandbox) == ["default", "mine"]


def test_a_world_can_be_forked_at_a_past_point_but_a_past_view_cannot_be_forked(sandbox: Sandbox) -> None:
    with pytest.raises(Refused, match="what is past can be looked at"):
        sandbox.at("start").fork()
    with sandbox.fork(point="start") as fork:
        assert fork.clock.now == sandbox.clock.now
    with pytest.raises(Refused, match="world_exists"):
        sandbox.fork(name="default")
    assert names(sandbox) == ["default"]


def test_a_fixture_may_be_an_object_or_a_file(sandbox: Sandbox, tmp_path: Path) -> None:
    prices = {"registration": 1, "renewal": 2.5, "transfer": 1, "restore": 1}
    accounts = {"solo": {"balance": 7, "contact": {"name": "S"}}}
    file = tmp_path / "world.yaml"
    with sandbox.fork(state={"zones": {"com": {"prices": prices}}, "accounts": accounts}) as fork:
        assert [account.name for account in fork.accounts.list().accounts] == ["solo"]
        file.write_text(fork.export(), "utf-8")
        with fork.fork(state=file) as again:
            assert again.accounts["solo"].balance == 7
        assert fork.load(file).accounts[0].name == "solo"
    with pytest.raises(Refused, match=r"invalid_parameter.*cannot be read"):
        sandbox.load(tmp_path / "nothing.yaml")


def test_the_function_connect_uses_the_given_world_and_token(make: Make, served: Sandbox, url: str) -> None:
    """Errors name the nearest attribute, an attribute of local sandboxes, and an unreachable server."""
    with make(control_token="let-me-in").serve() as server:
        assert connect(server.url, control_token="let-me-in").clock.frozen
        with pytest.raises(Refused, match="control_token_missing"):
            connect(server.url).clock.show()
    with served.fork(name="mine") as fork:
        connect(url, world="mine").clock.advance("P1D")
        assert fork.clock.now > served.clock.now
        with pytest.raises(Refused, match="unknown_world"):
            connect(url, world="nobodys").clock.show()
    for sandbox in (served, connect(url)):
        with pytest.raises(AttributeError, match="did you mean clock"):
            _ = sandbox.clok  # type: ignore[attr-defined]
    with pytest.raises(AttributeError, match="only for a sandbox in this process"):
        _ = connect(url).app
    with pytest.raises(OSError, match=r"no sandbox answers at http://127\.0\.0\.1:1"):
        connect("http://127.0.0.1:1").clock.show()


def test_indexing_a_resource_returns_a_record_or_raises_key_error(
    served: Sandbox, url: str, subtests: pytest.Subtests
) -> None:
    """If the resource has ``get``, the KeyError is also the refusal of ``get``."""
    served.client().get("/v3/balance")
    served.snapshot("here")
    served.restore("here")
    served.faults.add("latency", seconds=0, name="slow")
    served.answers.add("/dns/{zone}", name="zone")
    served.hosts.add("ns1.second.com", ips=["192.0.2.1"])
    served.customers.add(1, name="Ann", mail="ann@example.com")
    indexed = {name for name, value in vars(served).items() if hasattr(value, "__getitem__")}
    assert set(KEYS) == {name for name in indexed if name[0] != "_"} - {"header_prefix", "interfaces"}
    for sandbox in (served, connect(url)):
        for resource, (key, missing) in KEYS.items():
            with subtests.test(resource):
                records = getattr(sandbox, resource)
                assert list(records)
                assert key in records
                assert missing not in records
                assert records[key] is not None
                with pytest.raises(KeyError) as by_key:
                    records[missing]
                if hasattr(records, "get"):
                    with pytest.raises(Refused, match=str(missing)) as by_get:
                        records.get(missing)
                    assert str(by_key.value) == str(by_get.value)
        with pytest.raises(Refused, match="number must be an integer"):
            assert "none" in sandbox.customers


def test_names_are_listed_and_iterated_in_order_over_all_pages(served: Sandbox, url: str) -> None:
    """Sorted by a date, names without the date come last."""
    for number in range(130):
        served.names.add(f"one-of-many-{number}.com")
    for sandbox in (served, connect(url)):
        whole = sandbox.names.list(limit=1000).names
        orders = [name.order for name in sandbox.names]
        assert len(orders) > 130
        assert sorted(orders) == sorted(record.order for record in whole)
    for sort in ("name", "expires", "due"):
        whole = served.names.list(sort=sort, limit=1000).names
        keys = [getattr(record, sort) for record in whole]
        known = [key for key in keys if key is not None]
        assert keys == sorted(known) + [None] * (len(keys) - len(known))
        assert sorted(record.order for record in whole) == sorted(orders)
        pages = [served.names.list(sort=sort, limit=50, start=at).names for at in range(0, len(whole), 50)]
        assert tuple(record for page in pages for record in page) == whole
        backwards = served.names.list(sort=sort, limit=1000, descending=True)
        assert (backwards.names, backwards.total) == (whole[::-1], len(whole))


def test_the_repr_of_a_record_shows_values_as_in_json(served: Sandbox) -> None:
    shown = repr(served.names["second.com"])
    for part in ("name='second.com'", "stage=active", "expires=2026-08-13T12:00:00Z", "renewal=12.00"):
        assert part in shown
    assert not [word for word in ("datetime", "Decimal", "None", "''", "[]", "False") if word in shown]
    assert "more]" in repr(served.names.list())
    assert "zones" not in repr(served.history.export())
    with served.fork(name="mine") as fork:
        assert (repr(served), repr(fork.clock).partition(":")[2]) == (
            "<Sandbox: world default>",
            " world mine>",
        )
