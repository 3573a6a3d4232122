"""Where the contract contradicts itself and every form can be taken, every form is."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Api, person
from tests.registry import Make, connect, order_of

GLUE = "/v3/domains/glueRecords/active.com"
RENEW = "/v3/domains/renewDomain"


@pytest.mark.parametrize("key", ["ips", "ip"])
def test_glue_addresses_under_either_name(api: Api, key: str) -> None:
    """The table says ip and the sample ips."""
    assert api.post(GLUE, {"hostname": "ns2", key: ["192.0.2.2"]}).json["ips"] == ["192.0.2.2"]
    assert api.put(f"{GLUE}/ns2", {key: ["192.0.2.3"]}).json["ips"] == ["192.0.2.3"]


@pytest.mark.parametrize("label", ["ns2", "ns2.active.com", "NS2.Active.Com.", "a.b.active.com"])
def test_a_glue_host_as_label_or_in_full(api: Api, label: str) -> None:
    """It is told in full either way, and found again in either form."""
    full = "a.b.active.com" if label[0] == "a" else "ns2.active.com"
    assert api.post(GLUE, {"hostname": label, "ips": ["192.0.2.2"]}).json["hostname"] == full
    assert api.get(f"{GLUE}/{full}").json["hostname"] == full
    assert api.get(f"{GLUE}/{label}").json["hostname"] == full


@pytest.mark.parametrize("text", ["active.com", "Active.COM.", "ns1.second.com.", "a.b", "a.b."])
def test_a_glue_host_lies_below_its_name(api: Api, text: str) -> None:
    """Neither the name itself is one, nor what a dot says to lie elsewhere."""
    answer = api.post(GLUE, {"hostname": text, "ips": ["192.0.2.2"]})
    assert (answer.status, answer.error) == (400, "invalid_hostname")
    assert answer.message == f"hostname: {text!r} does not lie below active.com."


@pytest.mark.parametrize("key", ["authcode", "authCode"])
@pytest.mark.parametrize(
    ("code", "kept"),
    [("Se-cr3t!", "Se-cr3t!"), (123456, "123456"), (1234.5, "1234.5"), (1e20, "1" + "0" * 20)],
)
def test_a_code_under_either_name_and_as_a_number(api: Api, key: str, code: Any, kept: str) -> None:
    """The parameter is authCode, the sample has authcode, and one place calls it a float64."""
    assert api.post("/v3/domains/setAuthcode/active.com", {key: code}).json["authCode"] == kept
    assert api.get("/v3/domains/getAuthcode/active.com").json["authCode"] == kept


@pytest.mark.parametrize("key", ["authcode", "authCode"])
def test_a_transfers_code_likewise(api: Api, other: Api, key: str) -> None:
    """Also as a number."""
    other.post("/v3/domains/setAuthcode/theirs.com", {"authCode": 123456})
    body = {"domain": {"domainName": "theirs.com"}, key: 123456}
    assert api.post("/v3/domains/requestTransfer", body).json["status"] == "pending"


@pytest.mark.parametrize(
    ("target", "body"),
    [
        (RENEW, {"domain": {"domainName": "gold.com"}, "years": 2, "purchaseCost": 600}),
        (RENEW, {"domain": {"domainName": "gold.com", "years": 2, "purchaseCost": 600}}),
        (RENEW, {"domainName": "gold.com", "years": 2, "purchaseCost": 600}),
        (f"{RENEW}/gold.com", {"years": 2, "purchaseCost": "600.00"}),
        (f"{RENEW}/gold.com?years=2&purchaseCost=600.0", None),
        (f"{RENEW}/gold.com?years=2", {"purchaseCost": 600}),
        (f"{RENEW}?years=2&purchaseCost=600", {"domain": {"domainName": "gold.com"}}),
        (f"{RENEW}/gold.com?years=2&purchaseCost=6e2", {"years": 2, "purchaseCost": "600.00"}),
        (f"{RENEW}/GOLD.com", {"domain": {"domainName": "gold.com.", "years": 2}, "years": 2}),
    ],
)
def test_a_renewal_in_any_of_its_forms(api: Api, target: str, body: Any) -> None:
    """The name in the body or the path; term and price in the body, the query, or inside the domain."""
    answer = api.post(target, body)
    assert answer.status == 200, answer.raw
    assert answer.json["totalPaid"] == "600.00"
    assert answer.json["domain"]["expireDate"][:4] == "2028"


@pytest.mark.parametrize("host", ["ns1", "NS1", "ns1.active.com", "ns1.Active.com."])
def test_a_body_may_repeat_what_the_path_says(api: Api, host: str) -> None:
    """The name and the host, in any of their spellings."""
    again = {"domainName": "Active.com.", "domain": {"domainName": "active.com"}}
    assert api.post("/v3/domains/lock/active.com", again).json["domain"]["domainName"] == "active.com"
    body = {**again, "hostname": host, "ips": ["192.0.2.7"]}
    assert api.put(f"{GLUE}/ns1", body).json["hostname"] == "ns1.active.com"


@pytest.mark.parametrize("path", ["/v3/domains/setContacts/active.com", "/v3/setContacts/active.com"])
@pytest.mark.parametrize("zipcode", ["01001", 1001])
def test_contacts_under_both_paths_and_zipcodes_of_both_types(api: Api, path: str, zipcode: Any) -> None:
    """A zip code comes back as a string."""
    contact = person(zipcode=zipcode)
    answer = api.post(path, {"contacts": {"tech-contact": contact}}).json
    assert answer["domain"]["contacts"]["tech-contact"]["zipcode"] == str(zipcode)


def test_the_list_under_both_paths(api: Api) -> None:
    """Parameters in the query, or in the path; they default to 100 and 1."""
    assert api.get("/v3/domains/3/2").json == api.get("/v3/domains?perPage=3&page=2").json
    assert api.get("/v3/domains").json == api.get("/v3/domains?perPage=100&page=1").json


def test_query_names_match_exactly(sandbox: Sandbox, api: Api) -> None:
    """A name in another case has no effect, repeats nothing, and is reported."""
    listed = api.get("/v3/domains?PERPAGE=3&page=1")
    assert listed.json == api.get("/v3/domains").json
    assert listed.headers["x-sandbox-ignored"] == "PERPAGE; nearest perPage"
    for query, years in (("YEARS=3", 1), ("YEARS=3&years=2", 2), ("Years=3", 1)):
        expires = order_of(sandbox, "second.com").expires
        renewed = api.post(f"/v3/domains/renewDomain/second.com?{query}")
        assert (renewed.status, renewed.json["totalPaid"]) == (200, f"{12 * years}.00"), query
        assert order_of(sandbox, "second.com").expires.year == expires.year + years, query
        assert renewed.headers["x-sandbox-ignored"] == f"{query[:5]}; nearest years"


def test_unknown_query_names_are_refused_where_unknown_keys_are(make: Make) -> None:
    """In v3 and v2.0 by an assumption, in control always."""
    sandbox = make(assume={"requests.unknown_keys": "refused"})
    refused = connect(sandbox).post("/v3/domains/renewDomain/second.com?YEARS=3")
    assert (refused.status, refused.error) == (400, "unknown_keys")
    token = {"X-Auth-Token": sandbox.account("main").token}
    v2 = sandbox.client().get("/V2.0/domain/zones?LIMIT=1", headers=token)
    assert (v2.status_code, "LIMIT" in v2.json["msg"]) == (400, True)
    control = sandbox.client().get("/_sandbox/journal?LIMIT=1")
    assert (control.status_code, control.json["error"]) == (400, "invalid_parameter")
    assert "LIMIT" in control.json["message"]


@pytest.mark.parametrize("raw", [b"", b"{}", b"[]", b" \n", b'{"domainName":"active.com"}', b'{"x":null}'])
@pytest.mark.parametrize("operation", ["lock", "enableAutorenew", "lockUpdate"])
def test_an_empty_body_in_any_of_its_forms(api: Api, operation: str, raw: bytes) -> None:
    """Nothing, an empty object, an empty array, or the name once more."""
    assert api.post(f"/v3/domains/{operation}/active.com", raw).status == 200


def test_bodies_where_none_belongs_do_no_harm(api: Api) -> None:
    """A DELETE with a body, a GET with a JSON content type and none."""
    assert api.delete(f"{GLUE}/ns1", {"domainName": "active.com", "hostname": "ns1"}).status == 200
    assert api.get(GLUE).status == 200
    assert api.call("GET", GLUE, {"stray": True}).status == 200


def test_unknown_keys_are_passed_over_and_null_is_nothing(api: Api) -> None:
    """At every depth."""
    body = {
        "domain": {
            "domainName": "new.com",
            "renewalCost": "1.00",
            "nameservers": None,
            "contacts": {"reg-contact": person(title="Dr", fax=None), "tech-contact": None},
            "privacyEnabled": None,
        },
        "years": None,
        "coupon": "x",
    }
    made = api.post("/v3/domains/createDomain", body)
    assert made.status == 200, made.raw
    assert made.json["domain"]["contacts"]["reg-contact"]["name"] == "Ann"
    assert made.json["totalPaid"] == "10.00"


@pytest.mark.parametrize("servers", [[], None])
def test_no_name_servers_are_the_accounts_own(api: Api, servers: Any) -> None:
    """An empty list is sent by callers who mean to leave it open."""
    body = {"domain": {"domainName": "new.com", "nameservers": servers}}
    made = api.post("/v3/domains/createDomain", body).json
    assert made["domain"]["nameservers"] == ["ns1.home.net", "ns2.home.net"]


@pytest.mark.parametrize(
    "asked", ["ESPA%C3%91A.com", "espa%C3%B1a.com", "XN--ESPAA-RTA.COM", "espan%CC%83a.com."]
)
def test_a_name_in_any_spelling(api: Api, asked: str) -> None:
    """Upper case, Unicode, xn--, with a dot at the end."""
    answer = api.get(f"/v3/domains/getDomain/{asked}").json
    assert answer["domain"]["domainName"] in ("españa.com", "xn--espaa-rta.com")
