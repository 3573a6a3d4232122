"""No whole number is too large to be compared: it is answered as the one that is just too large."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients import Api
from tests.registry import Make
from tests.registry import connect as connect_v3
from tests.v2.client import Client, done, refusal
from tests.v2.works import WORKS

D = "/v3/domains"

#: Where the usual limits are, and far beyond.
HUGE = [2**31 - 1, 2**32, 2**63, 10**400]
SIGNED = [sign * number for number in HUGE for sign in (1, -1)]


def test_years_beyond_any_limit_are_too_long_or_too_short_in_v3(api: Api, subtests: pytest.Subtests) -> None:
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


def test_huge_numbers_in_v3_paths_and_queries_find_everything_or_nothing(make: Make) -> None:
    api = connect_v3(make(assume={"v3.get_domain.order_id": "on"}))
    every = api.get(f"{D}?perPage=1000").json["domains"]
    for digits in (*map(str, HUGE), "9" * 5000):
        assert api.get(f"{D}?perPage={digits}").json["domains"] == every
        assert api.get(f"{D}/{digits}/1").json["domains"] == every
        assert api.get(f"{D}?page={digits}").json["domains"] == []
        assert api.get(f"{D}/{digits}/{digits}").json["domains"] == []
    for number in HUGE:
        assert api.get(f"{D}/getDomain/{number}").error == "domain_not_found"


def test_huge_numbers_in_v2_bodies_are_refused_like_the_first_number_beyond_the_limit(
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
