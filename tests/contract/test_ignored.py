"""Unknown keys are reported by every operation of both interfaces, and known keys are not."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import InProcess, signature
from tests.documented import ID, document
from tests.registry import BASE, Make, contents

HEADER = "X-Sandbox-Ignored"
#: The first path of each operation, with its method.
ROWS: dict[str, tuple[str, str]] = {}
for interface in ("v3", "v2"):
    for first, methods in document(interface).content["paths"].items():
        for verb, described in methods.items():
            ROWS.setdefault(described[ID], (verb.upper(), first))
#: What the placeholders of paths are filled with.
FILLED = {
    "version": "V2.0", "domainName": "active.com", "domain_name": "active.com", "hostname": "ns1",
    "host_name": "ns1", "customer_id": "1", "contact_id": "MINE", "perPage": "2", "page": "1",
    "type": "popular",    "limit": "1", "start": "0",
}  # fmt: skip


def ignored(sandbox: Sandbox, row: str, query: str = "", body: Any = None) -> str | None:
    """Return the keys that the answer reports; it may be any answer, but a failure."""
    method, path = ROWS[row]
    sent: dict[str, Any] = {} if body is None else {"json": body}
    answer = sandbox.client().open(path.format(**FILLED) + query, method=method, **sent)
    assert answer.status_code != 500, answer.text
    header: str | None = answer.headers.get(HEADER)
    return header


def example(schema: dict[str, Any], known: dict[str, Any]) -> Any:
    """Return a value with every key of a schema."""
    schema = known[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    for part in schema.get("allOf", []) or schema.get("oneOf", []):
        return example(part, known)
    if "properties" in schema:
        return {key: example(inner, known) for key, inner in schema["properties"].items()}
    return [example(schema["items"], known)] if "items" in schema else "x"


def privacy(row: str) -> tuple[str, Any]:
    """A key that the contract has only where a name is ordered, as reported, and a body with it."""
    body = {"privacyEnabled": True}
    return (
        ("domain.privacyEnabled", {"domain": body}) if row == "v3.renewDomain" else ("privacyEnabled", body)
    )


ORDERS = ("v3.createDomain", "v3.requestTransfer")
REFUSES = "v2.contact.create"  # refuses unknown keys of a body


def test_every_operation_reports_unknown_keys_but_not_documented_keys(
    sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    """A name or host of the path may be repeated in the body, as the contract's samples do."""
    for row, (method, path) in ROWS.items():
        with subtests.test(row=row):
            assert ignored(sandbox, row, "?qwertz=1&qwertz=2") == "qwertz"
            key, body = privacy(row)
            if row != REFUSES:
                assert ignored(sandbox, row, "", {"qwertz": 1}) == "qwertz"
                assert row in ORDERS or ignored(sandbox, row, "", body) == key
            names = [place for place in FILLED if f"{{{place}}}" in path]
            assert ignored(sandbox, row, "", {name: FILLED[name] for name in names}) is None
            content = document(row[:2]).content
            operation = content["paths"][path][method.lower()]
            schema = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            body = example(schema.get("schema", {}), content["components"]["schemas"])
            query = [parameter["name"] for parameter in operation["parameters"] if parameter["in"] == "query"]
            assert ignored(sandbox, row, "?" + "&".join(f"{name}=1" for name in query), body) is None


def test_key_of_the_path_with_another_value_elsewhere_is_refused_or_reported(
    sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    for row, (method, path) in ROWS.items():
        for name in (place for place in FILLED if f"{{{place}}}" in path and place != "version"):
            for query, sent in {f"?{name}=77": {}, "": {"json": {name: "77"}}}.items():
                with subtests.test(row=row, name=name, query=query):
                    answer = sandbox.client().open(path.format(**FILLED) + query, method=method, **sent)
                    refused = answer.status_code == 400
                    assert refused or answer.headers.get(HEADER, "").startswith(name), answer.text


def test_every_operation_refuses_unknown_keys_if_the_assumption_says_so(
    make: Make, subtests: pytest.Subtests
) -> None:
    sandbox = make(assume={"requests.unknown_keys": "refused"})
    before = contents(sandbox)
    for row, (method, path) in ROWS.items():
        key, body = privacy(row)
        queries: dict[str, Any] = {"?perPag=1": {}} | (
            {"": {"json": body}} if row not in (*ORDERS, REFUSES) else {}
        )
        for query, sent in queries.items():
            with subtests.test(row=row, query=query):
                answer = sandbox.client().open(path.format(**FILLED) + query, method=method, **sent)
                assert answer.status_code == 400, answer.text
                message = answer.json.get("message") or answer.json["msg"]
                unknown = "perPag" if query else key
                assert message.startswith(f"The request has unknown keys: {unknown}")
                assert contents(sandbox) == before
                assert HEADER not in answer.headers
        operation = document(row[:2]).content["paths"][path][method.lower()]
        assert "unknown_keys" in operation["responses"]["400"]["description"]


def test_header_with_ignored_keys_is_short_and_ascii(sandbox: Sandbox) -> None:
    """It has at most ten keys, in ASCII and of a bounded length. So has the journal."""
    names = [f"qwertz{number:03}" for number in range(10)]
    for keys, more in ((10, ""), (11, ", and more"), (1000, ", and more")):
        body = {f"qwertz{number:03}": 1 for number in range(keys)}
        assert ignored(sandbox, "v3.renewDomain", "", body) == ", ".join(names) + more
        assert sandbox.journal.list(limit=1).requests[0].request.ignored == tuple(names)
    for key in ("é", "\r\nX: y", "\0", "名前" * 500, ", ", "\u2028", "\U0001f600"):
        header = ignored(sandbox, "v3.renewDomain", "", {key * number: 1 for number in range(1, 12)})
        assert header is not None
        assert header.isascii()
        assert header.isprintable()
        assert len(header) <= 500


def test_header_with_ignored_keys_suggests_the_nearest_known_key(
    sandbox: Sandbox, subtests: pytest.Subtests
) -> None:
    domain = {"domainName": "new.com", "privacyEnable": True}
    near = "domain.privacyEnable; nearest privacyEnabled, yeers; nearest years"
    host = {"ip": [{"ip": "192.0.2.1", "type": "v4", "typ": "v4"}]}
    cases: list[tuple[str, str, Any, str]] = [
        ("POST", "/v3/domains/renewDomain/active.com", {"year": 5}, "year; nearest years"),
        ("POST", "/v3/domains/createDomain", {"domain": domain, "yeers": 2}, near),
        ("PUT", "/V2.0/domain/active.com/renew", {"peroid": 3}, "peroid; nearest period"),
        ("POST", "/V2.0/domain/new.com", {"ns": {"array": ["a.b"], "aray": []}}, "ns.aray; nearest array"),
        ("POST", "/V2.0/domain/active.com/host/ns7", host, "ip.typ; nearest type"),
        ("GET", "/v3/domains?perpage=1&pag=2", None, "perpage; nearest perPage, pag; nearest page"),
    ]
    for method, path, body, header in cases:
        with subtests.test(header=header):
            answer = sandbox.client().open(path, method=method, **({} if body is None else {"json": body}))
            assert answer.headers[HEADER] == header
            assert "requests.unknown_keys=accepted" in answer.headers["X-Sandbox-Assumptions"]
            entry = sandbox.client().get("/_sandbox/journal?limit=1").json["requests"][0]
            assert entry["request"]["ignored"] == header.split(", ")


def test_key_in_the_wrong_object_is_reported_unless_the_right_object_has_the_same_value(
    sandbox: Sandbox,
) -> None:
    cases: list[tuple[dict[str, Any], str | None]] = [
        ({"domain": {"years": 2}}, "domain.years"),
        ({"domain": {"years": 2}, "years": 2}, None),
        ({"domain": {}, "domainName": "new.com"}, None),
        ({"domain": {"purchaseCost": "1"}, "years": 1}, "domain.purchaseCost"),
    ]
    for body, header in cases:
        sent = {**body, "domain": {"domainName": "new.com", **body["domain"]}}
        assert ignored(sandbox, "v3.createDomain", "", sent) == header


def test_unknown_keys_of_a_form_encoded_body_are_reported(make: Make) -> None:
    form = b"mail=a%40x.com&name=A&nmae=B"
    client = make(profile="observed").client()
    answer = client.post("/V2.0/customer", data=form, content_type="application/x-www-form-urlencoded")
    assert answer.headers[HEADER] == "nmae; nearest name"


def test_credentials_in_the_query_are_not_reported_as_unknown_keys(sandbox: Sandbox) -> None:
    signed = signature("main-secret", "main-key", f"{BASE}/v3/balance", b"")
    target = f"/v3/balance?X-SVC-APIKEY=main-key&X-SVC-SIGNATURE={signed}"
    answer = InProcess(sandbox.app)("GET", target, [], b"")
    assert (answer.status, answer.headers.get(HEADER.lower())) == (200, None)
