"""Values that are stated twice, or larger than any limit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.documented import document
from tests.registry import Make, assert_unchanged, balance
from tests.registry import connect as connect_v3
from tests.v2.client import Client, done, refusal
from tests.v2.works import WORKS
from tests.v3.test_bad_input import GOOD

D = "/v3/domains"
PLACED = ("query", "domain", "body")

#: Operations that cost something: the target, the name, more of the body, and the price of a year.
OPERATIONS: list[tuple[str, str, dict[str, Any], str]] = [
    (f"{D}/createDomain", "new.com", {}, "10.00"),
    (f"{D}/renewDomain", "second.com", {}, "12.00"),
    (f"{D}/renewDomain/second.com", "second.com", {}, "12.00"),
    (f"{D}/requestTransfer", "theirs.com", {"authCode": "let-me-in"}, "9.00"),
]


def _cases() -> Iterator[tuple[tuple[str, str], str, tuple[str, dict[str, Any]]]]:
    """Yield a name and a price, the word of a fact, and a request that states the fact in two places.

    The values are the same in another spelling for the word ``alike``, else they differ.
    """
    for target, name, more, price in OPERATIONS:
        facts: dict[str, tuple[Any, Any, Any]] = {"domainName": (name, f"{name.upper()}.", "other.com")}
        facts |= {"years": (1, 1, 4), "purchaseCost": (10, "10.00", "20.00")}
        for (fact, (right, alike, wrong)), (first, second) in product(facts.items(), combinations(PLACED, 2)):
            for kind, values in (("alike", (right, alike)), (fact, (right, wrong)), (fact, (wrong, right))):
                body = {**more, "domain": {"domainName": name}}
                query = ""
                for place, value in zip((first, second), values, strict=True):
                    if place == "query":
                        query = f"?{fact}={value}"
                    else:
                        (body["domain"] if place == "domain" else body)[fact] = value
                yield (name, price), kind, (target + query, body)


def test_v3_accepts_a_value_in_two_places_of_a_request_only_if_the_values_are_equal(
    sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    """A name with a dot at its end and a number as a text are alike. A refusal changes nothing."""
    for (name, price), fact, request in _cases():
        sandbox.reset(original=True)
        answer = connect_v3(sandbox).post(*request)
        with subtests.test(name=name, request=request):
            if fact == "alike":
                assert (answer.status, answer.json.get("totalPaid")) == (200, price), answer.raw
            else:
                assert (answer.status, answer.error) == (400, "invalid_parameter")
                assert f"{fact} has two different values" in answer.message
                assert_unchanged(sandbox)


#: What stands in the places of paths, and something else that a body could have.
PLACES: dict[str, tuple[str, str | int | None]] = {
    "version": ("V2.0", None), "domainName": ("active.com", "second.com"), "hostname": ("ns1", "ns2"),
    "domain_name": ("active.com", "second.com"), "host_name": ("ns1", "ns2"), "customer_id": ("1", 2),
    "contact_id": ("MINE", "YOURS"),
}  # fmt: skip


def test_each_operation_refuses_a_value_that_contradicts_the_path(
    sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    rows = [
        (row["operationId"], method.upper(), path)
        for name in ("v3", "v2")
        for path, methods in document(name).content["paths"].items()
        for method, row in methods.items()
        if method in ("post", "put")
    ]
    client, tried = sandbox.client(), 0
    for operation, method, path in rows:
        for place, (_, other) in PLACES.items():
            if other is None or f"{{{place}}}" not in path:
                continue
            target = path.format(**{name: known for name, (known, _) in PLACES.items()})
            dotted = re.sub(r"[A-Z]", lambda letter: f".{letter[0].lower()}", operation)
            ask, good = WORKS.get(f"v2.{dotted}"), GOOD.get(f"v3.{operation.removesuffix('Also')}")
            body = ask.body if ask is not None else good
            for url, sent in (
                (target, {"json": {**(body or {}), place: other}}),
                (f"{target}?{place}={other}", {"json": body} if body else {}),
            ):
                answer = client.open(url, method=method, **sent)
                entry = sandbox.journal.list(limit=1).requests[0]
                with subtests.test(operation=operation, url=url):
                    assert answer.status_code in (400, 404), answer.text
                    assert entry.refusal is not None
                    assert (entry.outcome, entry.refusal.facts["field"]) == ("invalid_parameter", place)
                    assert entry.changes == ()
                tried += 1
    assert tried > 40


def test_v3_refuses_two_different_values_of_a_parameter(sandbox: Sandbox, api: Api) -> None:
    assert api.post(f"{D}/renewDomain/second.com?years=1&years=4").error == "invalid_parameter"
    assert balance(sandbox) == 10_000
    for target, name in (("requestTransfer", "theirs.com"), ("setAuthcode/active.com", "active.com")):
        body = {"domain": {"domainName": name}, "authCode": "let-me-in", "authcode": "another"}
        answer = api.post(f"{D}/{target}", body)
        assert "has two different values" in answer.message
        assert api.post(f"{D}/{target}", {**body, "authcode": "let-me-in"}).status == 200


PAID = ("v2.domain.register", "v2.domain.edit", "v2.domain.renew", "v2.transfer.request")


def test_v2_refuses_a_domain_name_in_the_body_that_differs_from_the_path(
    main: Client, subtests: pytest.Subtests
) -> None:
    expected = (400, "Not the correct domain name", "invalid_parameter")
    for operation in PAID:
        ask = WORKS[operation]
        for key in ("domain", "domain_name"):
            names: tuple[Any, ...] = ("other.com", "new", 5, ["new.com"], {})
            for name in names:
                with subtests.test(operation=operation, key=key, name=name):
                    assert refusal(ask.with_(**{key: name}).send(main)) == expected
        assert done(ask.with_(domain=f"{ask.path.split('/')[2].upper()}.").send(main))


def test_v2_refuses_a_query_that_contradicts_the_body(main: Client) -> None:
    """No operation reads one; who sends one and a body has stated it twice."""
    differs = "Not enough parameter: period has two different values: 9 in the query and {} in the body"
    for operation, element, words in (
        ("v2.domain.register", "period=9", differs.format(2)),
        ("v2.domain.register", "customer_id=9", "Invalid id"),
        ("v2.domain.renew", "period=9", differs.format(1)),
        ("v2.domain.renew", "current_expiry_date=2027-11-21", "Not the correct current_expiry_date"),
        ("v2.transfer.request", "transfer_code=other", "Not the correct transfer_code"),
    ):
        ask = WORKS[operation]
        assert refusal(ask.at(f"{ask.path}?{element}").send(main))[1] == words


#: Where the usual limits are, and far beyond.
HUGE = [2**31 - 1, 2**32, 2**63, 10**400]
SIGNED = [sign * number for number in HUGE for sign in (1, -1)]


def test_v3_refuses_huge_numbers_of_years_as_period_too_long_or_too_short(
    api: Api, subtests: pytest.Subtests
) -> None:
    rows: list[tuple[str, dict[str, Any]]] = [
        (f"{D}/createDomain", {"domain": {"domainName": "new.com"}}),
        (f"{D}/renewDomain/second.com", {}),
        (f"{D}/renewDomain", {"domain": {"domainName": "second.com"}}),
        (f"{D}/requestTransfer", {"domain": {"domainName": "theirs.com"}, "authCode": "let-me-in"}),
    ]
    for target, body in rows:
        for number in SIGNED:
            with subtests.test(target=target, number=number):
                expected = "period_too_long" if number > 0 else "period_too_short"
                assert api.post(target, {**body, "years": number}).error == expected
                if "renewDomain" in target:
                    assert api.post(f"{target}?years={number}", body).error == expected
                    inside = {"domain": {**body.get("domain", {}), "years": number}}
                    assert api.post(target, inside).error == expected


def test_v3_operations_list_and_get_accept_huge_page_numbers_and_order_ids(make: Make) -> None:
    api = connect_v3(make(assume={"v3.get_domain.order_id": "on"}))
    every = api.get(f"{D}?perPage=1000").json["domains"]
    for digits in (*map(str, HUGE), "9" * 5000):
        assert api.get(f"{D}?perPage={digits}").json["domains"] == every
        assert api.get(f"{D}/{digits}/1").json["domains"] == every
        assert api.get(f"{D}?page={digits}").json["domains"] == []
        assert api.get(f"{D}/{digits}/{digits}").json["domains"] == []
    for number in HUGE:
        assert api.get(f"{D}/getDomain/{number}").error == "domain_not_found"


def test_v2_refuses_huge_numbers_in_bodies_with_the_usual_error(
    main: Client, subtests: pytest.Subtests
) -> None:
    for operation, key, most, least in (
        ("domain.register", "period", "maximum value period: 10", "minimum value period: 1"),
        ("domain.renew", "period", "maximum value period: 9", "minimum value period: 1"),
        ("domain.register", "customer_id", "Invalid id", "Invalid id"),
        ("transfer.request", "customer_id", "Invalid id", "Invalid id"),
        ("contact.create", "customer_id", *["Invalid value for extra param customer_id"] * 2),
        ("domain.edit", "client_hold", "Not the correct client_hold", "Not the correct client_hold"),
        ("customer.edit", "customer_id", "ID not found", "Invalid customer_id"),
    ):
        for number in SIGNED:
            ask = WORKS[f"v2.{operation}"].with_(**{key: number, "date_end": None})
            with subtests.test(operation=operation, key=key, number=number):
                assert refusal(ask.send(main))[1] == (most if number > 0 else least)


def test_postal_codes_in_v2_bodies_have_a_maximum_length(main: Client) -> None:
    ask = WORKS["v2.customer.create"].with_(zip=2**63, mail="large@example.com")
    assert main.get(f"/customer/{done(ask.send(main))['data']['customer_id']}").json["data"]["zip"] == 2**63
    assert refusal(ask.with_(zip=10**400).send(main))[1] == "Invalid zip"
