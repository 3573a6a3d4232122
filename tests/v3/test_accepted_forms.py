"""If the contract contradicts itself, every form that can be accepted is accepted."""

from __future__ import annotations

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Api, person
from tests.registry import Make, connect

D = "/v3/domains"
GLUE = f"{D}/glueRecords/active.com"
RENEW = f"{D}/renewDomain"


def test_glue_addresses_are_accepted_under_either_name(api: Api) -> None:
    for key in ("ips", "ip"):
        assert api.post(GLUE, {"hostname": f"of-{key}", key: ["192.0.2.2"]}).json["ips"] == ["192.0.2.2"]
        assert api.put(f"{GLUE}/of-{key}", {key: ["192.0.2.3"]}).json["ips"] == ["192.0.2.3"]


def test_a_code_is_accepted_under_either_name_and_as_a_number(api: Api, other: Api) -> None:
    for code, kept in {
        "Se-cr3t!": "Se-cr3t!",
        123456: "123456",
        1234.5: "1234.5",
        1e20: f"1{'0' * 20}",
    }.items():
        for key in ("authcode", "authCode"):
            assert api.post(f"{D}/setAuthcode/active.com", {key: code}).json["authCode"] == kept
            assert api.get(f"{D}/getAuthcode/active.com").json["authCode"] == kept
    for key, name in {"authcode": "theirs.com", "authCode": "far.com"}.items():
        other.post(f"{D}/setAuthcode/{name}", {"authCode": 123456})
        body = {"domain": {"domainName": name}, key: 123456}
        assert api.post(f"{D}/requestTransfer", body).json["status"] == "pending"


def test_a_renewal_is_accepted_in_any_of_its_forms(
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
        (f"{RENEW}/GOLD.com", {"domain": {"domainName": "gold.com.", "years": 2}, "years": 2}),
    ]:
        with subtests.test(target=target, body=body):
            sandbox.reset()
            answer = api.post(target, body)
            assert answer.status == 200, answer.raw
            assert answer.json["totalPaid"] == "600.00"
            assert answer.json["domain"]["expireDate"][:4] == "2028"


def test_a_body_may_repeat_the_name_and_the_host_of_the_path(api: Api) -> None:
    again = {"domainName": "Active.com.", "domain": {"domainName": "active.com"}}
    assert api.post(f"{D}/lock/active.com", again).json["domain"]["domainName"] == "active.com"
    for host in ("ns1", "NS1", "ns1.active.com", "ns1.Active.com."):
        body = {**again, "hostname": host, "ips": ["192.0.2.7"]}
        assert api.put(f"{GLUE}/ns1", body).json["hostname"] == "ns1.active.com"


def test_contacts_are_set_under_either_path_with_a_zipcode_of_either_type(api: Api) -> None:
    for path in (f"{D}/setContacts/active.com", "/v3/setContacts/active.com"):
        for zipcode in ("01001", 1001):
            contacts = {"tech-contact": person(zipcode=zipcode)}
            answer = api.post(path, {"contacts": contacts}).json
            assert answer["domain"]["contacts"]["tech-contact"]["zipcode"] == str(zipcode)


def test_the_list_has_two_paths_and_default_parameters(api: Api) -> None:
    assert api.get("/v3/domains/3/2").json == api.get("/v3/domains?perPage=3&page=2").json
    assert api.get("/v3/domains").json == api.get("/v3/domains?perPage=100&page=1").json


def test_a_query_name_in_another_case_is_ignored_and_reported(sandbox: Sandbox, api: Api) -> None:
    listed = api.get("/v3/domains?PERPAGE=3&page=1")
    assert listed.json == api.get("/v3/domains").json
    assert listed.headers["x-sandbox-ignored"] == "PERPAGE; nearest perPage"
    for query, years in (("YEARS=3", 1), ("YEARS=3&years=2", 2), ("Years=3", 1)):
        expires = sandbox.names["second.com"].expires
        renewed = api.post(f"{RENEW}/second.com?{query}")
        assert (renewed.status, renewed.json["totalPaid"]) == (200, f"{12 * years}.00"), query
        assert sandbox.names["second.com"].expires.year == expires.year + years, query
        assert renewed.headers["x-sandbox-ignored"] == f"{query[:5]}; nearest years"


def test_unknown_query_names_can_be_refused_as_unknown_keys_are(make: Make) -> None:
    sandbox = make(assume={"requests.unknown_keys": "refused"})
    refused = connect(sandbox).post(f"{RENEW}/second.com?YEARS=3")
    assert (refused.status, refused.error) == (400, "unknown_keys")
    v2 = sandbox.client().get("/V2.0/domain/zones?LIMIT=1")
    assert (v2.status_code, "LIMIT" in v2.json["msg"]) == (400, True)
    control = sandbox.client().get("/_sandbox/journal?LIMIT=1")
    assert (control.status_code, control.json["error"]) == (400, "invalid_parameter")
    assert "LIMIT" in control.json["message"]


def test_an_empty_body_is_accepted_in_any_of_its_forms(api: Api, subtests: pytest.Subtests) -> None:
    for operation in ("lock", "enableAutorenew"):
        for raw in (b"", b"{}", b"[]", b" \n", b'{"domainName":"active.com"}', b'{"x":null}'):
            with subtests.test(operation=operation, raw=raw):
                assert api.post(f"{D}/{operation}/active.com", raw).status == 200


def test_a_body_of_a_get_or_a_delete_is_ignored(api: Api) -> None:
    assert api.delete(f"{GLUE}/ns1", {"domainName": "active.com", "hostname": "ns1"}).status == 200
    assert api.get(GLUE).status == 200
    assert api.call("GET", GLUE, {"stray": True}).status == 200


def test_unknown_keys_are_ignored_and_null_counts_as_left_out(api: Api) -> None:
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
    made = api.post(f"{D}/createDomain", body)
    assert made.status == 200, made.raw
    assert made.json["domain"]["contacts"]["reg-contact"]["name"] == "Ann"
    assert made.json["totalPaid"] == "10.00"
    assert made.json["domain"]["nameservers"] == ["ns1.home.net", "ns2.home.net"]
    empty = {"domain": {"domainName": "new2.com", "nameservers": []}}
    made = api.post(f"{D}/createDomain", empty)
    assert made.json["domain"]["nameservers"] == ["ns1.home.net", "ns2.home.net"]


def test_a_name_is_found_in_any_spelling(api: Api) -> None:
    for asked in ("ESPA%C3%91A.com", "espa%C3%B1a.com", "XN--ESPAA-RTA.COM", "espan%CC%83a.com."):
        answer = api.get(f"{D}/getDomain/{asked}").json
        assert answer["domain"]["domainName"] in ("españa.com", "xn--espaa-rta.com"), asked
