"""Keys that nothing reads: told by every operation of both generations, and nothing that is read is told."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from reseller_sandbox.core.refusals import UNKNOWN_EXTRA
from reseller_sandbox.v2.interface import V2
from reseller_sandbox.v3.interface import V3
from reseller_sandbox.web.endpoint import Endpoint
from tests.registry import Make
from tests.thorough import tries

HEADER = "X-Sandbox-Ignored"
ROWS = [*V3.endpoints, *V2.endpoints]
#: What the placeholders of paths are filled with.
FILLED = {
    "version": "V2.0", "domainName": "active.com", "domain_name": "active.com", "hostname": "ns1",
    "host_name": "ns1", "customer_id": "1", "contact_id": "MINE", "perPage": "2", "page": "1",
    "type": "popular",    "limit": "1", "start": "0",
}  # fmt: skip


def path_of(row: Endpoint) -> str:
    """A path of the row with something in each place."""
    return row.paths[0].format(**FILLED)


def told(sandbox: Sandbox, row: Endpoint, query: str = "", body: Any = None) -> str | None:
    """What the answer says was not read; it may be any answer, but a failure."""
    sent: dict[str, Any] = {} if body is None else {"json": body}
    answer = sandbox.client().open(path_of(row) + query, method=row.method, **sent)
    assert answer.status_code != 500, answer.text
    told: str | None = answer.headers.get(HEADER)
    return told


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_every_operation_tells_a_key_of_the_query_that_it_does_not_read(
    sandbox: Sandbox, row: Endpoint
) -> None:
    """Once, however often it comes."""
    assert told(sandbox, row, "?qwertz=1&qwertz=2") == "qwertz"


@pytest.mark.parametrize(
    "row", [row for row in ROWS if UNKNOWN_EXTRA not in row.refuses], ids=lambda row: row.id
)
def test_every_operation_tells_a_key_of_the_body_that_it_does_not_read(
    sandbox: Sandbox, row: Endpoint
) -> None:
    """Also one that reads no body, whether the request is done or refused for something else."""
    assert told(sandbox, row, "", {"qwertz": 1}) == "qwertz"


@pytest.mark.parametrize(("keys", "more"), [(10, ""), (11, ", and more"), (1000, ", and more")])
def test_of_many_keys_ten_are_told_and_that_there_are_more(sandbox: Sandbox, keys: int, more: str) -> None:
    """The journal keeps those that are told."""
    row = next(row for row in ROWS if row.id == "v3.renewDomain")
    names = [f"qwertz{number:03}" for number in range(10)]
    assert (
        told(sandbox, row, "", {f"qwertz{number:03}": 1 for number in range(keys)}) == ", ".join(names) + more
    )
    entry = sandbox.client().get("/_sandbox/journal?limit=1").json["requests"][-1]
    assert entry["request"]["ignored"] == names


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_what_the_path_says_may_be_repeated(sandbox: Sandbox, row: Endpoint) -> None:
    """As the contract's samples do; it is not told."""
    names = [place for place in FILLED if f"{{{place}}}" in row.paths[0]]
    assert told(sandbox, row, "", {name: FILLED[name] for name in names}) is None


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_what_is_documented_is_never_told(sandbox: Sandbox, row: Endpoint) -> None:
    """Every key of the row's schemas, and of the objects in them."""
    document = sandbox.client().get(f"/_sandbox/openapi/{row.id[:2]}.json").json
    operation = document["paths"][row.paths[0]][row.method.lower()]
    wanted = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    body = _example(wanted, document["components"]["schemas"])
    query = [one["name"] for one in operation["parameters"] if one["in"] == "query"]
    assert told(sandbox, row, "?" + "&".join(f"{name}=1" for name in query), body) is None


def _example(schema: dict[str, Any], known: dict[str, Any]) -> Any:
    """Something with every key of a schema."""
    schema = known[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    for one in schema.get("allOf", []) or schema.get("oneOf", []):
        return _example(one, known)
    if "properties" in schema:
        return {key: _example(inner, known) for key, inner in schema["properties"].items()}
    return [_example(schema["items"], known)] if "items" in schema else "x"


@pytest.mark.parametrize(
    ("method", "path", "body", "header"),
    [
        ("POST", "/v3/domains/renewDomain/active.com", {"year": 5}, "year; nearest years"),
        (
            "POST",
            "/v3/domains/createDomain",
            {"domain": {"domainName": "new.com", "privacyEnable": True}, "yeers": 2},
            "domain.privacyEnable; nearest privacyEnabled, yeers; nearest years",
        ),
        ("PUT", "/V2.0/domain/active.com/renew", {"peroid": 3}, "peroid; nearest period"),
        ("PUT", "/V2.0/contact/MINE", {"nmae": "x"}, "nmae; nearest name"),
        ("POST", "/V2.0/domain/new.com", {"ns": {"array": ["a.b"], "aray": []}}, "ns.aray; nearest array"),
        (
            "POST",
            "/V2.0/domain/active.com/host/ns7",
            {"ip": [{"ip": "192.0.2.1", "type": "v4", "typ": "v4"}]},
            "ip.typ; nearest type",
        ),
        ("GET", "/v3/domains?perpage=1&pag=2", None, "perpage; nearest perPage, pag; nearest page"),
    ],
)
def test_the_nearest_key_is_named(sandbox: Sandbox, method: str, path: str, body: Any, header: str) -> None:
    """With where it stands; also where the request is refused for what is missing because of it."""
    answer = sandbox.client().open(path, method=method, **({} if body is None else {"json": body}))
    assert answer.headers[HEADER] == header
    assert "requests.unknown_keys=accepted" in answer.headers["X-Sandbox-Assumptions"]
    entry = sandbox.client().get("/_sandbox/journal?limit=1").json["requests"][0]
    assert entry["request"]["ignored"] == header.split(", ")


@pytest.mark.parametrize(
    ("body", "header"),
    [
        ({"domain": {"years": 2}}, "domain.years"),
        ({"domain": {"years": 2}, "years": 2}, None),
        ({"domain": {}, "domainName": "new.com"}, None),
        ({"domain": {"purchaseCost": "1"}, "years": 1}, "domain.purchaseCost"),
    ],
)
def test_what_is_said_where_it_is_read_may_be_said_again(
    sandbox: Sandbox, body: dict[str, Any], header: str | None
) -> None:
    """It has been compared; what stands only where nothing reads it is told."""
    row = next(row for row in ROWS if row.id == "v3.createDomain")
    body = {**body, "domain": {"domainName": "new.com", **body["domain"]}}
    assert told(sandbox, row, "", body) == header


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_an_assumption_turns_them_into_a_refusal(make: Make, row: Endpoint) -> None:
    """For every operation of both generations, before it does anything; the answer is documented."""
    sandbox = make(assume={"requests.unknown_keys": "refused"})
    before = sandbox.world.state
    answer = sandbox.client().open(f"{path_of(row)}?perPag=1", method=row.method)
    assert answer.status_code == 400, answer.text
    message = answer.json.get("message") or answer.json["msg"]
    assert message.startswith("The request has keys that nothing reads: perPag")
    assert sandbox.world.state is before
    assert HEADER not in answer.headers
    document = sandbox.client().get(f"/_sandbox/openapi/{row.id[:2]}.json").json
    documented = document["paths"][row.paths[0]][row.method.lower()]["responses"]["400"]["description"]
    assert "unknown_keys" in documented


@pytest.mark.parametrize("form", [b"mail=a%40x.com&name=A&nmae=B"])
def test_forms_are_no_exception(make: Make, form: bytes) -> None:
    """Where they are taken."""
    client = make(profile="observed").client()
    answer = client.post("/V2.0/customer", data=form, content_type="application/x-www-form-urlencoded")
    assert answer.headers[HEADER] == "nmae; nearest name"


def test_the_credentials_in_a_query_are_read(make: Make) -> None:
    """They are not the operation's, but somebody's."""
    from tests.clients import InProcess, signature
    from tests.registry import BASE

    sandbox = make()
    signed = signature("main-secret", "main-key", f"{BASE}/v3/balance", b"")
    target = f"/v3/balance?X-SVC-APIKEY=main-key&X-SVC-SIGNATURE={signed}"
    answer = InProcess(sandbox.app)("GET", target, [], b"")
    assert answer.status == 200
    assert HEADER.lower() not in answer.headers


def test_privacy_is_an_unknown_key_where_the_contract_has_none(make: Make) -> None:
    """In every operation of v2.0, and in every one of v3 but the two that order a name."""
    sandbox = make()
    strict = make(assume={"requests.unknown_keys": "refused"})
    for row in ROWS:
        if row.id in ("v3.createDomain", "v3.requestTransfer") or UNKNOWN_EXTRA in row.refuses:
            continue
        key = "privacyEnabled"
        body: dict[str, object] = {key: True}
        if row.id == "v3.renewDomain":
            key, body = f"domain.{key}", {"domain": {"privacyEnabled": True}}
        assert told(sandbox, row, "", body) == key, row.id
        refused = strict.client().open(path_of(row), method=row.method, json=body)
        assert f"nothing reads: {key}" in refused.text, row.id


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=tries(30)
)
@given(keys=st.lists(st.text(max_size=300), max_size=40, unique=True))
def test_whatever_the_keys_are_the_header_is_short_and_plain(sandbox: Sandbox, keys: list[str]) -> None:
    """ASCII, and of a bounded length; so is what the journal keeps."""
    body = json.dumps(dict.fromkeys(keys, 1), ensure_ascii=True).encode()
    if b"\\ud" in body:
        return
    answer = sandbox.client().post("/v3/domains/lock/active.com", data=body)
    header = answer.headers.get(HEADER, "")
    assert header.isascii()
    assert header.isprintable()
    assert len(header) <= 500
    assert len(sandbox.world.journal.entries[-1].ignored) <= 10
