"""Resources with keys can be iterated, asked with ``in`` and indexed. Records and resources have a repr."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Refused, Sandbox, connect

#: A key of a record and a key of none, in a world with a request, a snapshot, a branch and a fault.
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


def test_a_key_has_a_record_or_raises_a_key_error(
    served: Sandbox, url: str, subtests: pytest.Subtests
) -> None:
    """The error of a resource with ``get`` is the refusal of ``get``, too."""
    served.client().get("/v3/balance")
    served.snapshot("here")
    served.restore("here")
    served.faults.add("latency", seconds=0, name="slow")
    served.hosts.add("ns1.second.com", ips=["192.0.2.1"])
    served.customers.add(1, name="Ann", mail="ann@example.com")
    indexed = {name for name, value in vars(served).items() if hasattr(value, "__getitem__")}
    assert set(KEYS) == indexed - {"header_prefix"}
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
        with pytest.raises(Refused, match="number must be a whole number"):
            assert "none" in sandbox.customers


def test_names_are_listed_and_iterated_in_order_over_all_pages(served: Sandbox, url: str) -> None:
    """Names without a date come last."""
    for number in range(130):
        served.names.add(f"one-of-many-{number}.com")
    for sandbox in (served, connect(url)):
        whole = sandbox.names.list(limit=1000).names
        orders = [name.order for name in sandbox.names]
        assert len(orders) > 130
        assert sorted(orders) == sorted(one.order for one in whole)
    for sort in ("name", "expires", "due"):
        whole = served.names.list(sort=sort, limit=1000).names
        keys = [getattr(one, sort) for one in whole]
        known = [key for key in keys if key is not None]
        assert keys == sorted(known) + [None] * (len(keys) - len(known))
        assert sorted(one.order for one in whole) == sorted(orders)
        pages = [served.names.list(sort=sort, limit=50, start=at).names for at in range(0, len(whole), 50)]
        assert tuple(one for page in pages for one in page) == whole


def test_records_show_their_fields_as_json_has_them(sandbox: Sandbox) -> None:
    """Without the empty fields. A list ends after twenty items; a resource shows the name of its world."""
    shown = repr(sandbox.names["second.com"])
    for part in ("name='second.com'", "stage=active", "expires=2026-08-13T12:00:00Z", "renewal=12.00"):
        assert part in shown
    assert not [word for word in ("datetime", "Decimal", "None", "''", "[]", "False") if word in shown]
    assert "more])" in repr(sandbox.names.list())
    assert "zones" not in repr(sandbox.history.export())
    with sandbox.fork(name="mine") as fork:
        assert (repr(sandbox), repr(fork.clock).partition(":")[2]) == (
            "<Sandbox: world default>",
            " world mine>",
        )
