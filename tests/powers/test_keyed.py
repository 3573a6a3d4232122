"""What goes by a key can be told over, and asked for, as Python usually does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from reseller_sandbox import Sandbox, connect
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.powers.catalogue import POWERS
from reseller_sandbox.powers.keyed import Keyed
from tests.registry import REGISTRY

#: A key of each power that has such, in a world with a request, a snapshot, a branch, a fault and many names.
KEYS = {
    **{"worlds": "default", "snapshots": "here", "branches": "b1", "names": "second.com", "accounts": "main"},
    **{"customers": 1, "contacts": "A1001", "hosts": "ns1.second.com", "transfers": "arriving.com"},
    **{"faults": "slow", "journal": "r1", "assumptions": "v3.ids"},
}


@pytest.fixture(scope="module", params=["here", "there"])
def sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    """A world with one of everything, of this process or of a server."""
    here = Sandbox(REGISTRY)
    here.client().get("/v3/balance")
    here.snapshot("here")
    here.restore("here")
    here.faults.add("latency", seconds=0, name="slow")
    if "ns1.second.com" not in here.hosts:
        here.hosts.add("ns1.second.com", ips=["192.0.2.1"])
    if 1 not in here.customers:
        here.customers.add(1, name="Ann", mail="ann@example.com")
    for number in range(130):
        here.names.add(f"one-of-many-{number}.com")
    if request.param == "here":
        yield here
        return
    with here.serve() as server, connect(server.url) as there:
        yield there


def test_every_power_that_has_keys_is_tried() -> None:
    """One with ``[key]`` alone would be told over by the numbers from 0, which are no keys."""
    assert set(KEYS) == {name for name, power in POWERS.items() if issubclass(power, Keyed)}
    assert set(KEYS) >= {name for name, power in POWERS.items() if hasattr(power, "__getitem__")}


@pytest.mark.parametrize("name", KEYS)
def test_it_is_told_over_and_asked_for(sandbox: Sandbox, name: str) -> None:
    """All records come, those of later pages too; a key is there or not, and a wrong one is refused."""
    power: Any = getattr(sandbox, name)
    records = list(power)
    assert records
    assert KEYS[name] in power
    assert (999 if name == "customers" else "not-there.com" if name == "names" else "none") not in power
    if hasattr(power, "__getitem__") and name != "assumptions":
        assert type(power[KEYS[name]]) is type(records[0])
    if name == "customers":
        with pytest.raises(Refused, match="number must be a whole number"):
            assert "none" in power


def test_names_come_from_all_pages(sandbox: Sandbox) -> None:
    """Each once."""
    found = [one.order for one in sandbox.names]
    assert len(found) == len(set(found)) > 130
    assert set(found) == {one.order for one in sandbox.names.list(limit=1000).names}
