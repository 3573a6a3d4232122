"""Forking worlds of very different sizes: the time must not depend on what they hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from statistics import median
from time import perf_counter

from reseller_sandbox import Sandbox
from reseller_sandbox.core.model import Order, Stage
from reseller_sandbox.core.state import filled
from reseller_sandbox.worlds import Fork, timeline

SIZES = (100, 100_000)
FORKS = 2000


def grown(size: int) -> Sandbox:
    """A sandbox whose default world holds ``size`` orders of one account."""
    sandbox = Sandbox("empty", max_worlds=FORKS + 10)
    account = sandbox.account()
    moment = sandbox.world.moment
    now = moment.clock.now()
    contacts = next(iter(Sandbox().world.state.orders.values())).contacts
    handles = replace(contacts, **dict.fromkeys(("registrant", "admin", "tech", "billing"), account.contact))
    one = Order(
        id=1,
        account=account.client_id,
        name="",
        zone="com",
        stage=Stage.ACTIVE,
        created=now,
        expires=now.replace(year=now.year + 1),
        since=now,
        contacts=handles,
    )
    orders = [replace(one, id=number, name=f"n{number}.com") for number in range(1, size + 1)]
    timeline.begin_again(sandbox.world, replace(moment, state=filled(moment.state, orders)))
    return sandbox


def microseconds(sandbox: Sandbox) -> float:
    """The median time of a fork."""
    times = []
    for _ in range(FORKS):
        began = perf_counter()
        sandbox.engine.fork(Fork())
        times.append(perf_counter() - began)
    return median(times) * 1e6


def run() -> Iterator[str]:
    """The times and their ratio."""
    found = [microseconds(grown(size)) for size in SIZES]
    for size, taken in zip(SIZES, found, strict=True):
        yield f"{size:>7} orders: {taken:7.1f} µs a fork"
    yield f"ratio {found[1] / found[0]:.2f}"
