"""State and Draft: the one way to write, what it leaves alone, and the indexes that follow from records."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import reduce
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from rpds import HashTrieMap

from reseller_sandbox import Sandbox
from reseller_sandbox.core.assumptions import Assumptions
from reseller_sandbox.core.copies import copied
from reseller_sandbox.core.globs import Glob
from reseller_sandbox.core.matching import Match
from reseller_sandbox.core.model import (
    ROLES,
    Card,
    Contact,
    Flag,
    Host,
    Order,
    Policy,
    Prices,
    Promotion,
    Purpose,
    RoleHandles,
    Stage,
    TransferStatus,
)
from reseller_sandbox.core.refusals import NOT_HELD, Refused
from reseller_sandbox.core.registration import Registration
from reseller_sandbox.core.state import Draft, State, filled
from reseller_sandbox.core.tables import TABLES
from tests.registry import order_of
from tests.soundness import rebuilt

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def draft(state: State | None = None) -> Draft:
    """A draft on an empty state, or on the one given."""
    return Draft(state or State(), NOON, Assumptions(), "a test")


def host(name: str, ip: str = "192.0.2.1") -> Host:
    """A host below example.com."""
    return Host(name=name, domain="example.com", ips=(ip,))


def test_a_draft_leaves_its_base_alone() -> None:
    """What is written shows in the draft's own state only."""
    base = filled(State(), [host("ns1.example.com")])
    work = draft(base)
    work.put(host("ns2.example.com"))
    work.remove(host("ns1.example.com"))
    work.next("order")
    assert list(base.hosts) == ["ns1.example.com"]
    assert base.counters == HashTrieMap()
    assert list(work.state.hosts) == ["ns2.example.com"]
    assert work.state.counters["order"] == 1


def test_a_draft_tells_what_it_changed() -> None:
    """Each record once, from its first self to its last, in the order of the first touch."""
    base = filled(State(), [host("ns1.example.com"), host("ns2.example.com")])
    work = draft(base)
    work.put(host("ns2.example.com", "192.0.2.2"))
    work.put(host("ns3.example.com"))
    work.put(host("ns2.example.com", "192.0.2.3"))
    work.remove(base.hosts["ns1.example.com"])
    assert [(change.key, _ip(change.before), _ip(change.after)) for change in work.changes()] == [
        ("ns2.example.com", "192.0.2.1", "192.0.2.3"),
        ("ns3.example.com", None, "192.0.2.1"),
        ("ns1.example.com", "192.0.2.1", None),
    ]


def test_what_comes_to_nothing_is_no_change() -> None:
    """A record written and taken out again, or put back as it was."""
    base = filled(State(), [host("ns1.example.com")])
    work = draft(base)
    work.put(host("ns2.example.com"))
    work.remove(host("ns2.example.com"))
    work.put(host("ns1.example.com", "192.0.2.9"))
    work.put(host("ns1.example.com"))
    assert work.changes() == []
    assert work.state == base


def _ip(record: Host | None) -> str | None:
    return record.ips[0] if record is not None else None


def test_counters_count_from_one() -> None:
    """Each by itself."""
    work = draft()
    assert [work.next("order"), work.next("order"), work.next("ledger")] == [1, 2, 1]


def test_codes_follow_from_seed_and_counter() -> None:
    """The same again from the same beginning, others from another seed, no two alike."""

    def codes(seed: str) -> list[str]:
        work = draft(State(seed=seed))
        return [work.next_code("auth_code", "ABCDEFGH", 10) for _ in range(50)]

    assert codes("one") == codes("one")
    assert not set(codes("one")) & set(codes("two"))
    assert len(set(codes("one"))) == 50
    assert all(len(code) == 10 and set(code) <= set("ABCDEFGH") for code in codes("one"))


def test_indexes_are_those_of_the_records(sandbox: Sandbox) -> None:
    """Of every table of the tests' registry."""
    state = sandbox.world.state
    assert state == rebuilt(state)
    assert len(state.orders_of_account) == len(state.orders)


def test_removing_every_record_empties_every_index(sandbox: Sandbox) -> None:
    """Nothing is left over, whatever the order of removal."""
    state = sandbox.world.state
    emptied = draft(state)
    for table in ("transfers", "hosts", "orders", "ledger", "contacts", "customers", "zones", "accounts"):
        for record in list(getattr(state, table).values()):
            emptied.remove(record)
    state = emptied.state
    assert state == State(seed=state.seed, contact_params=state.contact_params, counters=state.counters)


@pytest.mark.parametrize(
    "changes",
    [
        {"stage": Stage.OVERDUE},
        {"stage": Stage.ARRIVING},
        {"due": None},
        {"nameservers": ()},
        {"nameservers": ("ns1.active.com", "ns9.else.net")},
        {"customer_id": 7},
        {"account": 1002},
        {"expires": NOON, "due": NOON},
    ],
    ids=str,
)
def test_a_changed_record_is_found_where_it_belongs(sandbox: Sandbox, changes: dict[str, Any]) -> None:
    """A change of whatever an index looks at moves the record in it."""
    order: Order = order_of(sandbox, "active.com")
    changed = sandbox.world.state.put(replace(order, **changes))
    assert changed == rebuilt(changed)
    assert changed.put(order) == sandbox.world.state


OTHER: dict[Any, list[Any]] = {
    int: [901, 902],
    str: ["other-1", "other-2"],
    bool: [True, False],
    datetime: [NOON, NOON.replace(month=4)],
    tuple: [(), ("ns1.active.com", "ns9.else.net")],
    Decimal: [Decimal(1), Decimal(2)],
    Card: [Card(mail="a@example.com"), Card(mail="b@example.com")],
    RoleHandles: [RoleHandles(**dict.fromkeys(ROLES, handle)) for handle in ("C-1", "C-2")],
    Stage: [Stage.ARRIVING, Stage.ACTIVE],
    TransferStatus: [TransferStatus.PENDING, TransferStatus.CLIENT_REJECTED],
    frozenset: [frozenset(), frozenset({Flag.HOLD})],
    Promotion: [None, Promotion(price=Decimal(1), until=NOON)],
    Match: [None, Match(account=(Glob("main"),))],
    Prices: [Prices(**dict.fromkeys(("registration", "renewal", "transfer", "restore"), Decimal(1)))],
    Policy: [Policy(), Policy(overdue=1)],
    Purpose: [Purpose.RESTORE, Purpose.TRANSFER],
}


def _others(kind: type, name: str) -> list[Any]:
    """Values that a field of a record can have, some of them other than those of the tests' registry."""
    hints = get_type_hints(kind)[name]
    allowed = [
        get_origin(one) or one for one in (get_args(hints) if type(None) in get_args(hints) else (hints,))
    ]
    return [value for one in allowed for value in ([None] if one is type(None) else OTHER[one])]


@pytest.mark.parametrize("kind", TABLES, ids=lambda kind: kind.__name__)
def test_whatever_changes_in_a_record_the_indexes_follow(kind: type) -> None:
    """Every field of every kind of record, one by one and there and back."""
    sandbox = Sandbox()
    sandbox.outside.when("P3D").drop("active-example.com")
    sandbox.outside.adjust_balance("main", by=1)
    state, own = sandbox.world.state, TABLES[kind].key
    records = getattr(state, TABLES[kind].name)
    record = records[sorted(records)[:2][-1]]
    for one in fields(kind):
        if own(replace(record, **{one.name: record})) is record:
            continue  # the field that the record is kept under
        for value in _others(kind, one.name):
            changed = state.put(replace(record, **{one.name: value}))
            assert changed == rebuilt(changed), (one.name, value)
            assert changed.put(record) == state, (one.name, value)


def test_what_a_draft_has_made_stays_as_it_is() -> None:
    """Whatever is written to the draft afterwards, to whichever part."""
    work = draft(filled(State(), [host("ns1.example.com")]))
    work.put(host("ns2.example.com"))
    kept = work.made()
    names = sorted(kept.hosts)
    work.put(host("ns3.example.com"))
    work.remove(host("ns1.example.com"))
    work.next("order")
    assert sorted(kept.hosts) == names == [name for _, name in kept.hosts_of_domain]
    assert not kept.counters
    assert sorted(work.made().hosts) == ["ns2.example.com", "ns3.example.com"]


def test_a_draft_that_goes_on_tells_of_its_latest_transaction_alone() -> None:
    """The earlier one's changes are in its state, and no longer among those it tells of."""
    work = draft()
    work.put(host("ns1.example.com"))
    work.go_on(NOON.replace(hour=13), "another")
    work.put(host("ns2.example.com"))
    assert (work.now.hour, work.cause) == (13, "another")
    assert [change.key for change in work.changes()] == ["ns2.example.com"]
    assert sorted(work.state.hosts) == ["ns1.example.com", "ns2.example.com"]


def test_what_an_attempt_wrote_is_taken_back() -> None:
    """When it refuses: the records, the numbers taken and what came due; what was there before stays."""
    work = draft()
    work.put(host("ns1.example.com"))

    def refuse(inner: Draft) -> None:
        inner.put(host("ns2.example.com"))
        inner.next("order")
        raise Refused(NOT_HELD, name="example.com")

    with pytest.raises(Refused):
        work.attempt(refuse)
    assert list(work.state.hosts) == ["ns1.example.com"]
    assert not work.state.counters
    assert [change.key for change in work.changes()] == ["ns1.example.com"]
    work.attempt(lambda inner: inner.put(host("ns3.example.com")))
    assert sorted(work.state.hosts) == ["ns1.example.com", "ns3.example.com"]


def test_a_contact_of_a_customer_is_linked_to_it() -> None:
    """And not when it is nobody's."""
    free = Contact(handle="C1", account=1, card=Card(name="A"))
    owned = Contact(handle="C1", account=1, card=Card(name="A"), customer_id=5)
    assert list(filled(State(), [free]).linked) == []
    assert list(filled(State(), [owned]).linked) == [("customer_contact", 5, "C1")]
    assert list(filled(State(), [owned, free]).linked) == []


def test_a_copy_is_what_replace_makes() -> None:
    """Of any kind of record, frozen as that is; a name that it has not is no change."""
    kept = Sandbox().world.state
    order, account = kept.orders[min(kept.orders)], kept.accounts[min(kept.accounts)]
    for record in (kept, order, account, host("ns1"), Registration(name="new.com")):
        name = fields(record)[0].name
        assert copied(record, {}) == record
        assert hash(copied(order, {})) == hash(order)
        with pytest.raises(FrozenInstanceError):
            setattr(copied(record, {}), name, "other")
        assert copied(record, {name: "other"}) == replace(record, **{name: "other"})  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="has not all of nmae"):
            copied(record, {"nmae": "other"})


@pytest.mark.parametrize(
    "there", [[], ["ns3.example.com"]], ids=["an empty state", "a state with one of them"]
)
@pytest.mark.parametrize("different", [20, 15], ids=["each once", "some twice"])
def test_records_put_in_at_once_are_as_if_put_one_by_one(there: list[str], different: int) -> None:
    """Where one takes the place of another as well: it leaves no entry of that in an index."""
    base = filled(State(), map(host, there))
    records = [
        replace(host(f"ns{number % different}.example.com"), domain=f"d{number}.com") for number in range(20)
    ]
    together, singly = filled(base, records), reduce(State.put, records, base)
    assert dict(together.hosts) == dict(singly.hosts)
    assert list(together.hosts_of_domain) == list(singly.hosts_of_domain)
    assert len(list(together.hosts_of_domain)) == different
