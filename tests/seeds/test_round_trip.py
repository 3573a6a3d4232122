"""Any state that requests and time can lead to is written as a fixture that loads to the same state."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.core import contacts, customers, hosts, ledger, orders, outside, plans, registration, transfers
from sandbox.core.assumptions import Assumptions
from sandbox.core.clock import Clock
from sandbox.core.lifecycle import Action
from sandbox.core.model import OUTSIDE, After, Card, Flag, Order
from sandbox.core.names import normalise
from sandbox.core.registration import Registration
from sandbox.core.state import Draft, State
from sandbox.seeds import Seed, dumps, find, load, loads
from sandbox.worlds import Moment, World
from sandbox.worlds.moment import to

PACKAGED = ("default", "empty", "example")


def world_of(seed: Seed, **assume: object) -> World:
    """A world that stands at the seed's first moment, with its clock standing still."""
    assumptions = Assumptions().with_values(
        {name.replace("__", "."): value for name, value in assume.items()}
    )
    return World("w", Moment(seed.state, Clock(seed.now), assumptions))


def unchanged(state: State, now: datetime, **settings: Any) -> bool:
    """Whether the state comes back from its fixture, and the fixture from that."""
    text = dumps(state, now, **settings)
    again = loads(text)
    return again.state == state and again.now == now and dumps(again.state, now, **settings) == text


@pytest.mark.parametrize("name", PACKAGED)
def test_a_packaged_fixture_comes_back(name: str) -> None:
    """What is packaged loads, and its state survives being written."""
    seed = load(find(name))
    assert unchanged(seed.state, seed.now)


@pytest.mark.parametrize("days", [1, 3, 4, 10, 40, 100, 400, 4000])
def test_the_default_world_comes_back_at_any_time(days: int) -> None:
    """Expiries, renewals by themselves, releases and completed transfers survive being written."""
    world = world_of(load(find("default")))
    assert world.travel(to(lambda now: now + timedelta(days=days)))[1]
    assert unchanged(world.state, world.now())


def test_what_goes_on_after_a_reload_is_what_would_have_gone_on() -> None:
    """A world that was written and loaded half way comes to the same end as one that was not."""
    through = world_of(load(find("default")))
    through.travel(to(lambda now: now + timedelta(days=20)))[1]
    text = dumps(through.state, through.now())
    resumed = world_of(loads(text))
    for world in (through, resumed):
        world.travel(to(lambda now: now + timedelta(days=700)))[1]
    assert resumed.state == through.state


def test_settings_of_the_world_come_back() -> None:
    """The instant, whether time stands still, and the assumptions are written too."""
    seed = load(find("example"))
    assume: dict[str, object] = {
        "v3.get_domain.order_id": "on",
        "v2.versions": ["V2.0", "V2.1"],
        "v3.ids": "integer",
    }
    again = loads(dumps(seed.state, seed.now, frozen=True, assume=assume))
    assert (again.now, again.frozen, again.assume) == (seed.now, True, assume)


def test_orders_that_are_still_processed_come_back() -> None:
    """When an order becomes active depends on an assumption, and is kept."""
    world = world_of(load(find("example")), v2__order_processing=3600)
    world.transact(
        "r1", lambda draft: registration.register(draft, main(draft), Registration(name="slow-example.com"))
    )
    for _ in range(3):
        assert unchanged(world.state, world.now())
        assert unchanged(world.state, world.now(), assume={"v2.order_processing": 3600})
        world.travel(to(lambda now: now + timedelta(seconds=3600)))[1]


def main(draft: Draft) -> Any:
    """The account that the steps below are taken for."""
    return draft.state.accounts[1001]


NAMES = ("a-example.com", "españa.com", "gold.com", "b-example.com.ua", "taken-example.com", "other-one.com")
LETTERS = st.text(max_size=12, alphabet=st.characters(codec="utf-8"))
CARDS = st.builds(
    Card,
    name=LETTERS,
    company=st.sampled_from(
        ["no", "12:30", "012", "~", "2026-01-31", "- x", "a: b", "#", "'", '"', "!!str x"]
    ),
    zip=st.sampled_from(["01001", "1e5", "", " 1", "0x1f"]),
    country=st.sampled_from(["NO", "UA", ""]),
)
Step = Callable[[World], object]


def step(work: Callable[[Draft], object]) -> Step:
    """A step that asks something of the registry; a refusal is as good as an answer."""

    def take(world: World) -> None:
        world.transact(world.next_request(), work)

    return take


def on_order(name: str, work: Callable[[Draft, Order], object]) -> Step:
    """A step about an account's order for ``name``, where somebody has it."""

    def find_and_work(draft: Draft) -> None:
        for account in (1001, 2002):
            number = draft.state.own_order.get((account, name))
            if number is not None:
                work(draft, draft.state.orders[number])
                return

    return step(find_and_work)


def registered(name: str, account: int, years: int, card: Card, flags: tuple[bool, bool, bool]) -> Step:
    """A step that registers a name."""
    privacy, autorenew, lock = flags
    wanted = Registration(
        name=normalise(name),
        years=years,
        contacts={"registrant": card, "tech": card},
        privacy=privacy,
        autorenew=autorenew,
        transfer_lock=lock,
        cost=Decimal(2500) * years,
        nameservers=["ns1.españa.com", "ns2.example.net"] if lock else None,
    )
    return step(lambda draft: registration.register(draft, draft.state.accounts[account], wanted))


def asked_for(name: str, account: int) -> Step:
    """A step that asks for a name of somebody else, with its code."""

    def ask(draft: Draft) -> object:
        held = draft.state.holding_order.get(name)
        code = draft.state.orders[held].auth_code if held is not None else ""
        return transfers.request(
            draft, draft.state.accounts[account], transfers.Wish(name=name, code=code, cost=Decimal(250))
        )

    return step(ask)


def later(hours: int) -> Step:
    """A step in time."""
    return lambda world: world.travel(to(lambda now: now + timedelta(hours=hours)))[1]


def told(action: str, **given: object) -> tuple[str, dict[str, object]]:
    """An action of the rest of the world, and what it is told, as it takes it."""
    return action, outside.read(action, given)


def actions() -> st.SearchStrategy[tuple[str, dict[str, object]]]:
    """What the rest of the world may do."""
    amount = st.decimals(0, 900, places=2)
    zone, account = st.sampled_from(["com", "xyz", "укр"]), st.sampled_from(["main", "2002"])
    return st.one_of(
        st.builds(
            lambda name, code: told("register", domain=name, auth_code=code),
            KNOWN,
            st.sampled_from(["0123", "no", "a: b"]),
        ),
        st.builds(
            lambda action, name: told(action, domain=name),
            st.sampled_from(
                ["hold", "release_hold", "approve_transfer", "reject_transfer", "cancel_transfer"]
            ),
            KNOWN,
        ),
        st.builds(
            lambda name, force: told("request_transfer", domain=name, force=force), KNOWN, st.booleans()
        ),
        st.builds(lambda where, price: told("set_prices", zone=where, renewal=price), zone, amount),
        st.builds(
            lambda where, of, price: told("set_promotion", zone=where, of=of, price=price, until="P40D"),
            zone,
            st.sampled_from(["registration", "renewal"]),
            amount,
        ),
        st.builds(lambda name, price: told("set_premium", domain=name, registration=price), KNOWN, amount),
        st.builds(lambda where, on: told("set_service", zone=where, in_service=on), zone, st.booleans()),
        st.builds(lambda whose, by: told("adjust_balance", account=whose, by=-by), account, amount),
        st.builds(lambda whose: told("revoke_credentials", account=whose, which="token"), account),
        st.builds(lambda whose: told("restore_credentials", account=whose), account),
    )


ACTIONS = st.deferred(actions)
ACCOUNTS = st.sampled_from([1001, 2002])
KNOWN = st.sampled_from([normalise(name) for name in NAMES])
STEPS = st.one_of(
    st.builds(
        registered,
        st.sampled_from(NAMES),
        ACCOUNTS,
        st.integers(1, 3),
        CARDS,
        st.tuples(st.booleans(), st.booleans(), st.booleans()),
    ),
    st.builds(asked_for, KNOWN, st.sampled_from([1001, 2002, OUTSIDE])),
    st.builds(later, st.integers(1, 24 * 500)),
    st.builds(
        lambda n, y: on_order(n, lambda d, o: orders.renew(d, o, y, Decimal(250) * y)),
        KNOWN,
        st.integers(1, 3),
    ),
    st.builds(lambda n: on_order(n, orders.delete), KNOWN),
    st.builds(lambda n: on_order(n, orders.restore), KNOWN),
    st.builds(
        lambda n, f, on: on_order(n, lambda d, o: orders.set_flag(d, o, Action.SET_FLAGS, f, on)),
        KNOWN,
        st.sampled_from(Flag),
        st.booleans(),
    ),
    st.builds(lambda n, on: on_order(n, lambda d, o: orders.set_autorenew(d, o, on)), KNOWN, st.booleans()),
    st.builds(lambda n, c: on_order(n, lambda d, o: orders.set_auth_code(d, o, c)), KNOWN, LETTERS),
    st.builds(
        lambda n, label: on_order(
            n, lambda d, o: hosts.create(d, o, f"{label}.{o.name}", ["192.0.2.1", "2001:db8::1"])
        ),
        KNOWN,
        st.sampled_from(["ns1", "ns2", "a.b", "españa.com", "xn--espaa-rta.com"]),
    ),
    st.builds(
        lambda n: on_order(n, lambda d, o: orders.set_nameservers(d, o, [f"ns1.{o.name}", "ns.españa.com"])),
        KNOWN,
    ),
    st.builds(lambda n, a: step(lambda d: transfers.approve(d, d.state.accounts[a], n)), KNOWN, ACCOUNTS),
    st.builds(lambda n, a: step(lambda d: transfers.reject(d, d.state.accounts[a], n)), KNOWN, ACCOUNTS),
    st.builds(lambda n, a: step(lambda d: transfers.cancel(d, d.state.accounts[a], n)), KNOWN, ACCOUNTS),
    st.builds(
        lambda amount: step(lambda d: ledger.adjust(d, main(d), amount)), st.decimals(-20000, 20000, places=2)
    ),
    st.builds(
        lambda mail: step(
            lambda d: customers.create(d, main(d), {"mail": f"{mail}@example.com", "name": "No"})
        ),
        st.sampled_from(["a", "b"]),
    ),
    st.builds(
        lambda handle, card: step(
            lambda d: contacts.add(d, main(d), handle, card, {"passport": "AB123456"}, max(d.state.customers))
        ),
        st.sampled_from(["1e5", "0012", "no", "X-1"]),
        CARDS,
    ),
    st.builds(lambda action: step(lambda d: outside.carry_out(d, *action)), ACTIONS),
    st.builds(
        lambda action, hours: step(lambda d: plans.make(d, *action, at=f"{hours}h")),
        ACTIONS,
        st.integers(1, 2000),
    ),
    st.builds(
        lambda action, name: step(lambda d: plans.make(d, *action, after=After(operation="v3.*", name=name))),
        ACTIONS,
        st.just("") | KNOWN,
    ),
    st.builds(
        lambda n: step(lambda d: customers.delete(d, d.state.customers[n])), st.sampled_from([501, 502])
    ),
)


@given(st.lists(STEPS, max_size=25), st.sampled_from(["0", "7200"]))
def test_whatever_was_done_the_state_comes_back(steps: list[Step], processing: str) -> None:
    """After any requests of any accounts, in any order, at any times, ``loads(dumps(state)) == state``."""
    world = world_of(load(find("default")), v2__order_processing=processing)
    for take in steps:
        with suppress(KeyError):  # a customer that is gone already
            take(world)
    assert unchanged(world.state, world.now())


@pytest.mark.parametrize(
    "text",
    [
        "zones: {com: {ZONE}}\ntaken: [a.com, b.com]\n",
        "accounts: {b: {contact: {}, name: a, key: k, token: t, revoked: [token, key]}, a: {contact: {}}}\n",
        "accounts: {one: {contact: C1}}\ncustomers: {5: {}}\ncontacts: {C1: {customer: 5}}\n",
        "accounts: {one: {contact: {handle: C1}}}\n",
        "zones: {no: {ZONE, premium: {ñ: {registration: 1, renewal: 1, transfer: 1}}, reserved: [ñandú]}}\n",
        "contact_params: {no: '[yn]'}\naccounts: {a: {contact: {}}}\ncontacts: {'1': {extra: {'no': 'y'}}}\n",
    ],
)
def test_odd_worlds_come_back(text: str) -> None:
    """Worlds without accounts, with accounts of one name, or with words that YAML takes for others."""
    zone = "prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}"
    text = text.replace("ZONE", zone).replace("{no: {p", "{'no': {p").replace("{no: '", "{'no': '")
    seed = loads(text)
    assert unchanged(seed.state, seed.now)
