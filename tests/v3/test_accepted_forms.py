"""What v3 accepts in several forms, and requests that no operation takes."""

from __future__ import annotations

import io
import logging
import re
from typing import Any

import pytest
from werkzeug.test import EnvironBuilder, run_wsgi_app

from reseller_sandbox import Sandbox
from tests.clients import Answer, Api
from tests.registry import contents

D = "/v3/domains"
GLUE = f"{D}/glueRecords/active.com"
RENEW = f"{D}/renewDomain"


def test_auth_codes_and_addresses_are_accepted_under_both_key_names(api: Api, other: Api) -> None:
    for key in ("ips", "ip"):
        assert api.post(GLUE, {"hostname": f"of-{key}", key: ["192.0.2.2"]}).json["ips"] == ["192.0.2.2"]
        assert api.put(f"{GLUE}/of-{key}", {key: ["192.0.2.3"]}).json["ips"] == ["192.0.2.3"]
    codes: dict[str | float, str] = {123456: "123456", 1234.5: "1234.5", 1e20: f"1{'0' * 20}"}
    codes |= {code: code for code in ("abcd", "x" * 64, "!\"#$%&'()~", "12 34")}
    for key, name in {"authcode": "theirs.com", "authCode": "far.com"}.items():
        for code, kept in codes.items():
            assert api.post(f"{D}/setAuthcode/active.com", {key: code}).json["authCode"] == kept
            assert api.get(f"{D}/getAuthcode/active.com").json["authCode"] == kept
        for wrong in ("", "abc", "x" * 65, "pässword", "a\nbcd", "abc\x7f", 123):
            refused = api.post(f"{D}/setAuthcode/active.com", {key: wrong})
            assert refused.error == "invalid_auth_code", wrong
            assert not wrong or str(wrong) not in refused.message.replace("ASCII", "")
        other.post(f"{D}/setAuthcode/{name}", {"authCode": 123456})
        asked = api.post(f"{D}/requestTransfer", {"domain": {"domainName": name}, key: 123456})
        assert asked.json["status"] == "pending"


def test_a_renewal_is_accepted_in_every_documented_form(
    sandbox: Sandbox, api: Api, subtests: pytest.Subtests
) -> None:
    """The name is in the body or the path; term and price in the body, the query, or inside the domain."""
    for target, body in [
        (RENEW, {"domain": {"domainName": "gold.com"}, "years": 2, "purchaseCost": 600}),
        (RENEW, {"domain": {"domainName": "gold.com", "years": 2, "purchaseCost": 600}}),
        (RENEW, {"domainName": "gold.com", "years": 2, "purchaseCost": 600}),
        (f"{RENEW}/gold.com", {"years": 2, "purchaseCost": "600.00"}),
        (f"{RENEW}/gold.com?years=2&purchaseCost=600.0", None),
        (f"{RENEW}/gold.com?years=2", {"purchaseCost": 600}),
        (f"{RENEW}?years=2&purchaseCost=600", {"domain": {"domainName": "gold.com"}}),
        (f"{RENEW}/gold.com?years=2&purchaseCost=6e2", {"years": 2, "purchaseCost": "600.00"}),
        (f"{RENEW}/GOLD.com", {"domain": {"domainName": "gold.com.", "years": 2}, "purchaseCost": 600}),
    ]:
        with subtests.test(target=target, body=body):
            sandbox.reset()
            answer = api.post(target, body)
            assert answer.status == 200, answer.raw
            assert answer.json["totalPaid"] == "600.00"
            assert answer.json["domain"]["expireDate"][:4] == "2028"


def test_a_body_may_repeat_the_domain_and_host_from_the_path(api: Api) -> None:
    again = {"domainName": "Active.com.", "domain": {"domainName": "active.com"}}
    assert api.post(f"{D}/lock/active.com", again).json["domain"]["domainName"] == "active.com"
    for host in ("NS1", "ns1.Active.com."):
        body = {**again, "hostname": host, "ips": ["192.0.2.7"]}
        assert api.put(f"{GLUE}/ns1", body).json["hostname"] == "ns1.active.com"
    assert api.delete(f"{GLUE}/ns1", {"domainName": "active.com", "hostname": "ns1"}).status == 200
    assert api.call("GET", GLUE, {"stray": True}).status == 200


def test_a_query_parameter_in_wrong_case_is_ignored_and_reported(sandbox: Sandbox, api: Api) -> None:
    for query, years in (("YEARS=3", 1), ("YEARS=3&years=2", 2)):
        expires = sandbox.names["second.com"].expires
        renewed = api.post(f"{RENEW}/second.com?{query}")
        assert (renewed.status, renewed.json["totalPaid"]) == (200, f"{12 * years}.00"), query
        assert sandbox.names["second.com"].expires.year == expires.year + years, query
        assert renewed.headers["x-sandbox-ignored"] == "YEARS; nearest years"


def test_every_kind_of_empty_body_is_accepted(api: Api) -> None:
    for operation in ("lock", "enableAutorenew"):
        for raw in (b"", b"{}", b"[]", b" \n", b'{"domainName":"active.com"}', b'{"x":null}'):
            assert api.post(f"{D}/{operation}/active.com", raw).status == 200, raw


def refusal(answer: Answer, status: int, error: str) -> str:
    assert (answer.status, answer.error) == (status, error), answer.raw
    assert set(answer.json) == {"error", "message"}
    return answer.message


NEAREST = [
    ("GET", "/v3/balnace", "the nearest is GET /v3/balance"),
    ("POST", "/v3/domains/unlock/", "the nearest is POST /v3/domains/unlock/{domainName}"),
    ("GET", "/v3//balance", "the nearest is GET /v3/balance"),
    ("GET", "/api/v3/balance", "the nearest is GET /v3/balance"),
    ("GET", "/domains/getDomain/a.com", "the nearest is GET /v3/domains/getDomain/{domainName}"),
    ("DELETE", "/v3/domains/deleteDnssec/a.com", "the contract's v3 has no operations on dnssec"),
    ("GET", "/robots.txt", "paths begin with /v3, /V2.0 or /_sandbox"),
]
NEAREST_IN_V2 = [
    ("GET", "/V2.0/domains/a.com/check", "the nearest is GET /{version}/domain/{domain_name}/check"),
    ("GET", "/V2.0/DOMAIN/zones", "the nearest is GET /{version}/domain/zones"),
    ("GET", "/V2.0/CONTACT/MAIN-OWNER", "the nearest is GET /{version}/contact/{contact_id}"),
    ("DELETE", "/V2.0/domain/a.com/dnssec", "the contract's v2.0 has no operations on dnssec"),
    ("GET", "/V2.0/domain/zones/popular/limit/-1", "GET /{version}/domain/zones/{type}/limit/{limit}"),
    ("GET", "/V2.0/balance", "the contract's v2.0 has no operations on balance"),
]


def test_an_unknown_path_gets_suggestions_of_similar_operations(wire: Api, subtests: pytest.Subtests) -> None:
    for method, target, nearest in NEAREST:
        with subtests.test(target=target):
            message = refusal(wire.call(method, target), 404, "unknown_path")
            assert f"{method} {target} is not an operation: " in message
            assert nearest in message
    for method, target, nearest in NEAREST_IN_V2:
        message = wire.call(method, target).headers["x-sandbox-refusal"]
        assert (nearest in message, "/v3" in message) == (True, False), message


class _Broken(io.RawIOBase):
    """The body of a request whose connection fails."""

    def read(self, size: int = -1) -> bytes:
        raise RuntimeError("the inner secret\nof the machine")

    readinto = readline = read  # type: ignore[assignment]


def broken(sandbox: Sandbox, target: str = "/v3/domains/lock/active.com", token: str = "") -> Answer:
    """Send a request whose body cannot be read."""
    builder = EnvironBuilder(target, method="POST", headers=[("X-Auth-Token", token)])
    environ: Any = {**builder.get_environ(), "wsgi.input": _Broken(), "CONTENT_LENGTH": "9"}
    chunks, status, headers = run_wsgi_app(sandbox.app, environ, buffered=True)
    named = {name.lower(): value for name, value in headers}
    return Answer(int(status.split()[0]), named, b"".join(chunks))


def test_an_internal_error_changes_nothing_and_is_one_log_line(
    sandbox: Sandbox, api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    before = contents(sandbox)
    with caplog.at_level(logging.DEBUG):
        answer = broken(sandbox)
        in_v2 = broken(sandbox, "/V2.0/customer", sandbox.accounts["main"].token)
    assert "secret" not in refusal(answer, 500, "internal_error")
    assert "Traceback" not in answer.raw.decode()
    assert in_v2.json == {"code": 500, "msg": "System Error", "status": False}
    records = [record for record in caplog.records if record.name.startswith("reseller_sandbox")]
    assert [record.levelname for record in records] == ["ERROR"] * 2
    for record, operation in zip(records, ("v3.lock", "v2.customer.create"), strict=True):
        assert re.fullmatch(
            f"{operation} failed: .*RuntimeError.*test_accepted_forms.py.*", record.getMessage()
        )
    assert contents(sandbox) == before
    assert api.get("/v3/domains/getDomain/active.com").status == 200
    sandbox.assumptions.set({"v3.errors.http_status": "always_200"})
    refusal(broken(sandbox), 200, "internal_error")
