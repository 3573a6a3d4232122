"""No whole number is too large to be compared: it is answered as the one that is just too large."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.v2.interface import V2
from reseller_sandbox.v3.interface import V3
from reseller_sandbox.web.fields import Digits, Whole
from tests.clients import Api
from tests.v2.client import FORM, REGISTRY, Client, connect, done, refusal
from tests.v2.works import WORKS, Ask

D = "/v3/domains"

#: Where the usual limits are, and far beyond.
HUGE = [2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 2**64, 10**30, 10**400]
SIGNED = [sign * number for number in HUGE for sign in (1, -1)]
ASKED = {"domain": {"domainName": "new.com"}}
THEIRS = {"domain": {"domainName": "theirs.com"}, "authCode": "let-me-in"}


@pytest.mark.parametrize("number", SIGNED)
@pytest.mark.parametrize(
    ("target", "body"),
    [
        (f"{D}/createDomain", ASKED),
        (f"{D}/renewDomain/second.com", {}),
        (f"{D}/renewDomain", {"domain": {"domainName": "second.com"}}),
        (f"{D}/requestTransfer", THEIRS),
    ],
)
def test_years_in_v3(api: Api, target: str, body: dict[str, Any], number: int) -> None:
    """Too many, or too few."""
    answer = api.post(target, {**body, "years": number})
    assert answer.error == ("period_too_long" if number > 0 else "period_too_short")
    if "renewDomain" in target:
        assert api.post(f"{target}?years={number}", body).error == answer.error
        inside = {"domain": {**body.get("domain", {}), "years": number}}
        assert api.post(target, inside).error == answer.error


@pytest.mark.parametrize("digits", [*map(str, HUGE), "9" * 5000])
def test_pages_in_v3(api: Api, digits: str) -> None:
    """The whole list on one page, and nothing on a page beyond the last."""
    every = api.get(f"{D}?perPage=1000").json["domains"]
    assert api.get(f"{D}?perPage={digits}").json["domains"] == every
    assert api.get(f"{D}/{digits}/1").json["domains"] == every
    assert api.get(f"{D}?page={digits}").json["domains"] == []
    assert api.get(f"{D}/{digits}/{digits}").json["domains"] == []


@pytest.mark.parametrize("number", HUGE)
def test_order_ids_in_v3(make: Any, number: int) -> None:
    """There is no such order."""
    from tests.registry import connect as connect_v3

    api = connect_v3(make(assume={"v3.get_domain.order_id": "on"}))
    assert api.get(f"{D}/getDomain/{number}").error == "domain_not_found"


@pytest.fixture
def main() -> Client:
    """The account ``main`` of the v2.0 tests' registry."""
    return connect(Sandbox(REGISTRY, assume={"v2.request_format": "json_or_form"}))


@pytest.mark.parametrize("number", SIGNED)
@pytest.mark.parametrize(
    ("operation", "key", "most", "least"),
    [
        ("domain.register", "period", "maximum value period: 10", "minimum value period: 1"),
        ("domain.renew", "period", "maximum value period: 9", "minimum value period: 1"),
        ("domain.register", "customer_id", "Invalid id", "Invalid id"),
        ("transfer.request", "customer_id", "Invalid id", "Invalid id"),
        ("contact.create", "customer_id", *["Invalid value for extra param customer_id"] * 2),
        ("domain.edit", "client_hold", "Not the correct client_hold", "Not the correct client_hold"),
        ("customer.edit", "customer_id", "ID not found", "Invalid customer_id"),
    ],
)
def test_numbers_in_v2_bodies(
    main: Client, operation: str, key: str, most: str, least: str, number: int
) -> None:
    """Periods, customers and bits: as the first number that is too large, or too small."""
    ask = WORKS[f"v2.{operation}"].with_(**{key: number, "date_end": None})
    assert refusal(ask.send(main))[1] == (most if number > 0 else least)


def test_postal_codes_in_v2_bodies(main: Client) -> None:
    """They are kept as texts, and as long as those."""
    ask = WORKS["v2.customer.create"].with_(zip=2**63, mail="large@example.com")
    assert main.get(f"/customer/{done(ask.send(main))['data']['customer_id']}").json["data"]["zip"] == 2**63
    assert refusal(ask.with_(zip=10**400).send(main))[1] == "Invalid zip"


@pytest.mark.parametrize("digits", ["2147483648", "9" * 300, "9" * 5000])
def test_numbers_in_v2_forms(main: Client, digits: str) -> None:
    """A period in digits."""
    main.own = [FORM]
    form = f"current_expiry_date=2026-11-21&period={digits}".encode()
    assert refusal(main.put("/domain/active.com/renew", form))[1] == "maximum value period: 9"


@pytest.mark.parametrize("number", HUGE)
def test_numbers_in_v2_paths(main: Client, number: int) -> None:
    """Customers that are not there, and pages of the zones."""
    assert refusal(Ask("GET", f"/customer/{number}").send(main))[1] == "ID not found"
    assert refusal(Ask("DELETE", f"/customer/{number}").send(main))[1] == "ID not found"
    assert len(main.get(f"/domain/zones/limit/{number}").json["data"]) == 5
    assert main.get(f"/domain/zones/limit/{number}/start/{number}").json["data"] == []


def test_every_whole_number_is_tried() -> None:
    """The fields of both generations that are whole numbers, those inside objects too."""

    def found(schema: Any) -> set[str]:
        inner = {name: getattr(field, "schema", None) for name, field in schema.fields.items()}
        own = {name for name, field in schema.fields.items() if isinstance(field, Whole | Digits)}
        return own.union(*(found(one) for one in inner.values() if one is not None))

    told = {
        f"{row.id}.{name}"
        for row in (*V3.endpoints, *V2.endpoints)
        for schema in (row.body, row.query, row.path)
        if schema is not None
        for name in found(schema)
    }
    flags = {name for name in told if name.startswith("v2.domain.edit.client_")}
    assert len(flags) == 5
    assert told - flags == {
        "v3.createDomain.years",
        "v3.renewDomain.years",
        "v3.requestTransfer.years",
        "v3.listDomains.perPage",
        "v3.listDomains.page",
        "v2.domain.register.period",
        "v2.domain.register.customer_id",
        "v2.domain.renew.period",
        "v2.transfer.request.customer_id",
        "v2.contact.create.customer_id",
        "v2.customer.create.zip",
        "v2.customer.edit.zip",
        "v2.customer.edit.customer_id",
        "v2.domain.zones.limit",
        "v2.domain.zones.start",
    }
