"""A paid call that says one thing twice and differently is refused, before anything is charged."""

from __future__ import annotations

import re
from itertools import combinations
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.documented import document
from tests.registry import balance
from tests.registry import connect as connect_v3
from tests.soundness import assert_unchanged
from tests.v2.client import FORM, REGISTRY, Client, connect, done, refusal
from tests.v2.works import WORKS
from tests.v3.test_bad_input import GOOD

D = "/v3/domains"
OPERATIONS = {
    "createDomain": (f"{D}/createDomain", "new.com", {}, "10.00"),
    "renewDomain": (f"{D}/renewDomain", "second.com", {}, "12.00"),
    "renewDomain in the path": (f"{D}/renewDomain/second.com", "second.com", {}, "12.00"),
    "requestTransfer": (f"{D}/requestTransfer", "theirs.com", {"authCode": "let-me-in"}, "9.00"),
}

#: For each thing that can be said: itself, the same in another spelling, and something else.
SAID: dict[str, tuple[Any, Any, Any]] = {
    "domainName": (None, None, "other.com"),
    "years": (1, "1", 4),
    "purchaseCost": (10, "10.00", "20.00"),
}


def _request(operation: str, thing: str, said: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A request that says ``thing`` in each of the places of ``said``."""
    target, name, more, _ = OPERATIONS[operation]
    body: dict[str, Any] = {"domain": {"domainName": name}, **more}
    query = ""
    for place, value in said.items():
        if place == "query":
            query = f"?{thing}={value}"
        elif place == "domain":
            body["domain"][thing] = value
        elif place == "body":
            body[thing] = value
    return target + query, body


def _spellings(operation: str, thing: str) -> tuple[Any, Any, Any]:
    name = OPERATIONS[operation][1]
    return (name, f"{name.upper()}.", "other.com") if thing == "domainName" else SAID[thing]


CASES = [
    (operation, thing, places)
    for operation in OPERATIONS
    for thing in SAID
    for places in combinations(("query", "domain", "body"), 2)
]


def test_v3_refuses_a_fact_stated_twice_and_differently(
    sandbox: Sandbox, api: Api, subtests: pytest.Subtests
) -> None:
    """The name, the years and the price, in any two of the body, the domain in it and the query."""
    for operation, thing, places in CASES:
        right, _, wrong = _spellings(operation, thing)
        for pair in ((right, wrong), (wrong, right)):
            answer = api.post(*_request(operation, thing, dict(zip(places, pair, strict=True))))
            with subtests.test(operation=operation, thing=thing, places=places):
                assert (answer.status, answer.error) == (400, "invalid_parameter")
                assert f"{thing} is said twice and differently" in answer.message
                assert_unchanged(sandbox)


def test_v3_takes_a_fact_stated_twice_alike(sandbox: Sandbox, subtests: pytest.Subtests) -> None:
    """In another spelling, too: a name with a dot at its end, a number as a text."""
    for operation, thing, places in CASES:
        sandbox.reset(original=True)
        right, alike, _ = _spellings(operation, thing)
        said = dict(zip(places, (right, right if thing == "years" else alike), strict=True))
        answer = connect_v3(sandbox).post(*_request(operation, thing, said))
        with subtests.test(operation=operation, thing=thing, places=places):
            assert answer.status == 200, answer.raw
            assert answer.json["totalPaid"] == OPERATIONS[operation][3]


def test_v3_refuses_another_name_than_that_of_the_path(sandbox: Sandbox, api: Api) -> None:
    """In renewDomain and setContacts, which cost something, and in those that cost nothing."""
    for stray in ({"domainName": "gold.com"}, {"domain": {"domainName": "gold.com"}}):
        answer = api.post(f"{D}/renewDomain/second.com", stray)
        assert "domainName is said twice and differently: second.com in the path" in answer.message
        assert_unchanged(sandbox)
    with_contacts = {"domainName": "gold.com", "contacts": {}}
    assert api.post(f"{D}/setContacts/second.com", with_contacts).error == "invalid_parameter"


#: What stands in the places of paths, and something else that a body could have.
PLACES: dict[str, tuple[str, str | int | None]] = {
    "version": ("V2.0", None), "domainName": ("active.com", "second.com"), "hostname": ("ns1", "ns2"),
    "domain_name": ("active.com", "second.com"), "host_name": ("ns1", "ns2"), "customer_id": ("1", 2),
    "contact_id": ("MINE", "YOURS"),
}  # fmt: skip


def test_each_operation_refuses_a_value_that_contradicts_its_path(
    sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    """In the body or the query, whether the operation reads that or not, and whether it costs something."""
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
                entry = sandbox.journal.find(limit=1).requests[0]
                with subtests.test(operation=operation, url=url):
                    assert answer.status_code in (400, 404), answer.text
                    assert entry.refusal is not None
                    assert (entry.outcome, entry.refusal.facts["field"]) == ("invalid_parameter", place)
                    assert entry.changes == ()
                tried += 1
    assert tried > 40


def test_v3_refuses_two_values_of_one_query_element(sandbox: Sandbox, api: Api) -> None:
    answer = api.post(f"{D}/renewDomain/second.com?years=1&years=4")
    assert answer.error == "invalid_parameter"
    assert balance(sandbox) == 10_000


def test_v3_refuses_two_codes(api: Api) -> None:
    """authCode and authcode are one thing."""
    for target, name in (("requestTransfer", "theirs.com"), ("setAuthcode/active.com", "active.com")):
        body = {"domain": {"domainName": name}, "authCode": "let-me-in", "authcode": "another"}
        answer = api.post(f"{D}/{target}", body)
        assert answer.error == "invalid_parameter"
        assert "said twice and differently" in answer.message
        assert api.post(f"{D}/{target}", {**body, "authcode": "let-me-in"}).status == 200


PAID = ("v2.domain.register", "v2.domain.edit", "v2.domain.renew", "v2.transfer.request")


@pytest.fixture
def main() -> Client:
    """The account ``main`` of the v2.0 tests' registry."""
    return connect(Sandbox(REGISTRY, assume={"v2.request_format": "json_or_form"}))


def test_v2_refuses_another_name_than_that_of_the_path(main: Client, subtests: pytest.Subtests) -> None:
    """Under the documented key, and under the placeholder's."""
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
    for operation, element, words in (
        ("v2.domain.register", "period=9", "Not enough parameter: period"),
        ("v2.domain.register", "customer_id=9", "Invalid id"),
        ("v2.domain.renew", "period=9", "Not enough parameter: period"),
        ("v2.domain.renew", "current_expiry_date=2027-11-21", "Not the correct current_expiry_date"),
        ("v2.transfer.request", "transfer_code=other", "Not the correct transfer_code"),
    ):
        ask = WORKS[operation]
        assert refusal(ask.at(f"{ask.path}?{element}").send(main))[1] == words


def test_v2_refuses_a_form_with_one_key_twice(main: Client) -> None:
    main.own = [FORM]
    twice = b"current_expiry_date=2026-11-21&period=1&period=4"
    assert main.put("/domain/active.com/renew", twice).json["code"] == 400
    other = b"current_expiry_date=2026-11-21&period=1&domain=other.com"
    assert refusal(main.put("/domain/active.com/renew", other))[1] == "Not the correct domain name"
