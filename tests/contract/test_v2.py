"""The contract's v2.0 operations, one after another, over a real socket: the shape of each success."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Socket
from tests.shapes import fits
from tests.v2.client import REGISTRY, Client, done
from tests.v2.works import WORKS

DONE = {"code": 200, "status": True}
SPACED = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d")
CARD = dict.fromkeys(("address", "city", "company", "country", "mail", "name", "phone", "region"), str)
DOMAIN = {
    "contact_admin": str,
    "contact_billing": str,
    "contact_registrant": str,
    "contact_tech": str,
    "date_created": SPACED,
    "date_end": SPACED,
    "ns": [str],
    "status": "2",
}

SHAPES: dict[str, Any] = {
    **dict.fromkeys(WORKS, DONE),
    "v2.customer.create": {**DONE, "data": {"customer_id": int}},
    "v2.customer.info": {"data": {**CARD, "count_active_orders": int, "id": int, "zip": int}, "status": True},
    "v2.customer.delete": {**DONE, "msg": str},
    "v2.contact.check": {**DONE, "avail": True},
    "v2.contact.info": {**DONE, "data": {**CARD, "fax": str, "zip": str}},
    "v2.domain.check": {**DONE, "avail": "true"},
    "v2.domain.info": DOMAIN,
    "v2.domain.renew": {**DONE, "data": {"date_end": "2027-11-21 12:00:00", "domain": "active.com"}},
    "v2.transfer.status": {**DONE, "transfer_status": "pending"},
    "v2.host.check": {**DONE, "avail": True},
    "v2.host.info": {**DONE, "data": {"ip": [str], "name": "ns1.active.com"}},
}
ZONE = {
    "zone": str,
    "idn_avail": bool,
    "max_length": int,
    "min_length": int,
    "price_reg": float,
    "price_renew": float,
    "price_restore": float,
    "price_transfer": float,
    "transfer_avail": bool,
}
NO_ACTION = {
    "date_end_reg_action": "",
    "date_end_renew_action": "",
    "price_reg_action": 10.0,
    "price_renew_action": 12.0,
}
ACTION = {
    "date_end_reg_action": "2026-03-11 12:00:00",
    "date_end_renew_action": "2026-03-21 12:00:00",
    "price_reg_action": 4.75,
    "price_renew_action": 5.0,
}


@pytest.fixture(scope="module")
def served_world() -> Iterator[tuple[Sandbox, Client]]:
    sandbox = Sandbox(REGISTRY)
    with sandbox.serve() as server:
        socket = Socket(server.url)
        yield sandbox, Client(socket, sandbox.account().token)
        socket.close()


@pytest.fixture
def wire(served_world: tuple[Sandbox, Client]) -> Client:
    """The account ``main`` over a socket, in a registry as it began."""
    sandbox, client = served_world
    sandbox.reset()
    return client


def test_an_operation_answers_as_the_contract_says(
    served_world: tuple[Sandbox, Client], subtests: pytest.Subtests
) -> None:
    sandbox, client = served_world
    for operation, ask in WORKS.items():
        with subtests.test(operation=operation):
            sandbox.reset()
            answer = ask.send(client)
            assert answer.status == 200
            if operation == "v2.domain.zones":
                whole = answer.json
                com, net = whole.pop("data")
                assert whole == DONE
                fits(com, {**ZONE, **NO_ACTION, "zone": "com"})
                fits(net, {**ZONE, **ACTION, "zone": "net", "price_reg": 9.5, "price_renew": 13.25})
            else:
                fits(answer.json, SHAPES[operation])


def test_v_or_capital_v(wire: Client) -> None:
    wire_low = Client(wire.transport, wire.token, version="v2.0")
    assert done(wire_low.get("/domain/new.com/check"))["avail"] == "true"


def test_another_version_of_an_operation_has_no_implementation(
    wire: Client, subtests: pytest.Subtests
) -> None:
    versions = ("V1.0", "v2.1", "V20.0", "v0.9", "V2.00")
    for number, (operation, ask) in enumerate(WORKS.items()):
        version = versions[number % len(versions)]
        with subtests.test(operation=operation, version=version):
            answer = ask.send(Client(wire.transport, wire.token, version=version))
            assert answer.status == 501
            assert answer.json == {"code": 501, "msg": "no implementation for this version", "status": False}
            assert answer.assumptions["v2.versions"] == "V2.0"


def test_a_segment_that_is_not_a_version_is_an_unknown_path(wire: Client) -> None:
    for version in ("V2", "2.0", "V2.0.1", "Vx.y", "W2.0", "v3"):
        answer = wire.transport("GET", f"/{version}/domain/new.com", [("X-Auth-Token", wire.token)], b"")
        assert answer.status == 404, version
