"""A paid call that says one thing twice and differently is refused, before anything is charged."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.core.refusals import INSUFFICIENT_FUNDS, INVALID_PARAMETER
from reseller_sandbox.v2.interface import V2
from reseller_sandbox.v3.interface import V3
from tests.clients import Api
from tests.registry import balance
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


@pytest.mark.parametrize(("operation", "thing", "places"), CASES)
def test_v3_refuses_what_is_said_differently(
    sandbox: Sandbox, api: Api, operation: str, thing: str, places: tuple[str, str]
) -> None:
    """The name, the years and the price, in any two of the body, the domain in it and the query."""
    right, _, wrong = _spellings(operation, thing)
    before = sandbox.world.state
    for first, second in ((right, wrong), (wrong, right)):
        answer = api.post(*_request(operation, thing, dict(zip(places, (first, second), strict=True))))
        assert (answer.status, answer.error) == (400, "invalid_parameter")
        assert f"{thing} is said twice and differently" in answer.message
    assert sandbox.world.state is before


@pytest.mark.parametrize(("operation", "thing", "places"), CASES)
def test_v3_takes_what_is_said_alike(
    sandbox: Sandbox, api: Api, operation: str, thing: str, places: tuple[str, str]
) -> None:
    """In another spelling, too: a name with a dot at its end, a number as a text."""
    right, alike, _ = _spellings(operation, thing)
    said = dict(zip(places, (right, right if thing == "years" else alike), strict=True))
    answer = api.post(*_request(operation, thing, said))
    assert answer.status == 200, answer.raw
    assert answer.json["totalPaid"] == OPERATIONS[operation][3]


@pytest.mark.parametrize("place", ["body", "domain"])
def test_v3_refuses_another_name_than_the_path(sandbox: Sandbox, api: Api, place: str) -> None:
    """In renewDomain and setContacts, which cost something, and in those that cost nothing."""
    stray = {"domainName": "gold.com"} if place == "body" else {"domain": {"domainName": "gold.com"}}
    before = sandbox.world.state
    answer = api.post(f"{D}/renewDomain/second.com", stray)
    assert "domainName is said twice and differently: second.com in the path" in answer.message
    if place == "body":
        assert api.post(f"{D}/setContacts/second.com", {**stray, "contacts": {}}).error == "invalid_parameter"
    assert sandbox.world.state is before


WITH_BODIES = {
    row.id: row for row in (*V3.endpoints, *V2.endpoints) if row.method in ("POST", "PUT") and not row.reads
}
#: What stands in the places of paths, and something else that could be said in a body.
PLACES = {
    "version": ("V2.0", None), "domainName": ("active.com", "second.com"), "hostname": ("ns1", "ns2"),
    "domain_name": ("active.com", "second.com"), "host_name": ("ns1", "ns2"), "customer_id": ("1", 2),
    "contact_id": ("MINE", "YOURS"),
}  # fmt: skip
CONTRADICTED = [
    (row.id, path, place)
    for row in WITH_BODIES.values()
    for path in row.paths
    for place, (_, other) in PLACES.items()
    if other is not None and f"{{{place}}}" in path
]


@pytest.mark.parametrize(("operation", "path", "place"), CONTRADICTED)
@pytest.mark.parametrize("way", ["body", "query"])
def test_every_operation_refuses_what_its_path_says_otherwise(
    sandbox: Sandbox, operation: str, path: str, place: str, way: str
) -> None:
    """In the body or the query, whether the operation reads that or not, and whether it costs something."""
    target = path.format(**{name: known for name, (known, _) in PLACES.items()})
    body = WORKS[operation].body if operation.startswith("v2") else GOOD.get(operation)
    other = PLACES[place][1]
    sent = {"json": {**(body or {}), place: other} if way == "body" else body}
    before = sandbox.world.state
    answer = sandbox.client().open(
        target if way == "body" else f"{target}?{place}={other}", method=WITH_BODIES[operation].method, **sent
    )
    assert answer.status_code in (400, 404), answer.text
    entry = sandbox.world.journal.entries[-1]
    assert entry.refused is not None
    assert (entry.refused.rule, entry.refused.facts["field"]) == (INVALID_PARAMETER, place)
    assert sandbox.world.state is before


def test_v3_refuses_two_values_of_one_query_element(sandbox: Sandbox, api: Api) -> None:
    """Whichever of them was meant."""
    answer = api.post(f"{D}/renewDomain/second.com?years=1&years=4")
    assert answer.error == "invalid_parameter"
    assert balance(sandbox) == 10_000


@pytest.mark.parametrize("target", ["requestTransfer", "setAuthcode/active.com"])
def test_v3_refuses_two_codes(sandbox: Sandbox, api: Api, target: str) -> None:
    """authCode and authcode are one thing."""
    name = "active.com" if target.endswith("active.com") else "theirs.com"
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


@pytest.mark.parametrize("operation", PAID)
@pytest.mark.parametrize("key", ["domain", "domain_name"])
@pytest.mark.parametrize("name", ["other.com", "new", 5, ["new.com"], {}])
def test_v2_refuses_another_name_than_the_path(main: Client, operation: str, key: str, name: Any) -> None:
    """Under the documented key, and under the placeholder's."""
    ask = WORKS[operation]
    assert refusal(ask.with_(**{key: name}).send(main)) == (
        400,
        "Not the correct domain name",
        "invalid_parameter",
    )
    own = ask.path.split("/")[2]
    assert done(ask.with_(**{key: f"{own.upper()}."}).send(main))


@pytest.mark.parametrize(
    ("operation", "element", "words"),
    [
        ("v2.domain.register", "period=9", "Not enough parameter: period"),
        ("v2.domain.register", "customer_id=9", "Invalid id"),
        ("v2.domain.renew", "period=9", "Not enough parameter: period"),
        ("v2.domain.renew", "current_expiry_date=2027-11-21", "Not the correct current_expiry_date"),
        ("v2.transfer.request", "transfer_code=other", "Not the correct transfer_code"),
    ],
)
def test_v2_refuses_a_query_that_says_otherwise(
    main: Client, operation: str, element: str, words: str
) -> None:
    """No operation reads one; who sends one and a body has said it twice."""
    ask = WORKS[operation]
    assert refusal(ask.at(f"{ask.path}?{element}").send(main))[1] == words
    assert done(ask.send(main))


def test_v2_refuses_a_form_that_says_it_twice(main: Client) -> None:
    """As a JSON object with one key twice is."""
    main.own = [FORM]
    twice = b"current_expiry_date=2026-11-21&period=1&period=4"
    assert main.put("/domain/active.com/renew", twice).json["code"] == 400
    other = b"current_expiry_date=2026-11-21&period=1&domain=other.com"
    assert refusal(main.put("/domain/active.com/renew", other))[1] == "Not the correct domain name"


def test_every_paid_call_is_tried() -> None:
    """What can be refused for want of money and reads a body has its place above."""
    paid = {
        row.id
        for row in (*V3.endpoints, *V2.endpoints)
        if INSUFFICIENT_FUNDS in row.refuses and row.body is not None
    }
    assert paid == {"v3.createDomain", "v3.renewDomain", "v3.requestTransfer", "v3.setContacts", *PAID}
