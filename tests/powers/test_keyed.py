"""Resources with keys can be iterated, asked with ``in`` and indexed, as Python usually does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from reseller_sandbox import Refused, Sandbox, connect
from tests.registry import REGISTRY

#: A key that is there and one that is not, in a world with a request, a snapshot, a branch and a fault.
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
    "journal": ("r1", "r99"),
    "assumptions": ("v3.ids", "v3.none"),
}


@pytest.fixture(scope="module", params=["in process", "remote"])
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A world with one of everything, in this process or through a server."""
    local = Sandbox(REGISTRY)
    local.client().get("/v3/balance")
    local.snapshot("here")
    local.restore("here")
    local.faults.add("latency", seconds=0, name="slow")
    local.hosts.add("ns1.second.com", ips=["192.0.2.1"])
    local.customers.add(1, name="Ann", mail="ann@example.com")
    for number in range(130):
        local.names.add(f"one-of-many-{number}.com")
    if request.param == "in process":
        yield local
        return
    with local.serve() as server, connect(server.url) as remote:
        yield remote


def test_a_key_is_there_or_raises_a_key_error(sandbox: Sandbox, subtests: pytest.Subtests) -> None:
    """The error of a resource with ``get`` is the refusal of ``get``, too."""
    indexed = {name for name, value in vars(sandbox).items() if hasattr(value, "__getitem__")}
    assert set(KEYS) == indexed - {"header_prefix"}
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


def test_a_malformed_key_is_refused(sandbox: Sandbox) -> None:
    with pytest.raises(Refused, match="number must be a whole number"):
        assert "none" in sandbox.customers


def test_iteration_yields_the_names_of_all_pages_once(sandbox: Sandbox) -> None:
    orders = [name.order for name in sandbox.names]
    assert len(orders) == len(set(orders)) > 130
    assert set(orders) == {name.order for name in sandbox.names.list(limit=1000).names}
