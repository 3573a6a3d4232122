"""Requests of common clients: empty maps of PHP, unknown types, and messages that name the problem."""

from __future__ import annotations

import pytest

from reseller_sandbox import Sandbox
from tests.clients import JSON, InProcess
from tests.registry import connect as connect_v3
from tests.registry import edit_zone
from tests.v2.client import connect, done, refusal
from tests.v2.works import NAME, WORKS


def test_an_empty_array_is_an_empty_object(sandbox: Sandbox) -> None:
    api, v2 = connect_v3(sandbox), connect(sandbox)
    domain = {"domainName": "new.com", "contacts": []}
    created = api.post("/v3/domains/createDomain", {"domain": domain, "tldRequirements": []})
    assert created.error is None
    answer = api.post("/v3/domains/setContacts/new.com", {"contacts": {"reg-contact": []}})
    assert "contacts.reg-contact.name is missing" in answer.message
    assert "domain.domainName is missing" in api.post("/v3/domains/createDomain", {"domain": []}).message
    assert api.post("/v3/domains/renewDomain/new.com", {"domain": []}).error is None
    assert done(v2.put("/domain/new.com", {"ns": [], "client_hold": 1}))


def test_a_product_of_floats_is_the_agreed_price(sandbox: Sandbox) -> None:
    special = dict.fromkeys(("registration", "renewal", "transfer"), "95.10")
    edit_zone(sandbox, "com", premium={"copper": special})
    body = {"domain": {"domainName": "copper.com"}, "years": 3, "purchaseCost": 95.10 * 3}
    assert str(body["purchaseCost"]) == "285.29999999999995"
    paid = connect_v3(sandbox).post("/v3/domains/createDomain", body)
    assert paid.json["totalPaid"] == "285.30"


def test_an_unknown_type_of_zones_is_reported(sandbox: Sandbox) -> None:
    v2 = connect(sandbox)
    answer = v2.get("/domain/zones/populer")
    assert answer.json["data"] == []
    assert answer.headers["x-sandbox-ignored"] == "type; the types are popular international ukrainian new"
    assert "x-sandbox-ignored" not in v2.get("/domain/zones/new").headers


def test_a_name_in_a_zone_out_of_service_is_not_available(sandbox: Sandbox) -> None:
    edit_zone(sandbox, "com", in_service=False)
    answer = refusal(connect(sandbox).get("/domain/new.com/check"))
    assert answer == (400, "Domain zone not support", "zone_out_of_service")


def test_a_host_without_types_of_addresses_is_refused_with_their_form(sandbox: Sandbox) -> None:
    v2 = connect(sandbox)
    answer = v2.post("/domain/active.com/host/ns7", {"ip": ["192.0.2.7", "2001:db8::7"]})
    assert answer.json["msg"].startswith(
        "Not enough parameter: ip must be an array of objects with ip and type"
    )
    answer = v2.put("/domain/active.com/host/ns1", {"ip": {"add": ["192.0.2.7"]}})
    assert answer.json["msg"] == "Unknown ip type : 192.0.2.7"
    assert answer.headers["x-sandbox-refusal"].endswith("neither v4 nor v6, as in type=>v4,ip=>192.0.2.1.")


def test_a_header_that_is_cut_shows_it(sandbox: Sandbox) -> None:
    answer = connect(sandbox).put("/domain/active.com/restore")
    header = answer.headers["x-sandbox-refusal"]
    assert header.startswith("wrong_state: active.com is at the stage active, where restore is not possible.")
    assert (len(header), header[-3:]) == (500, "...")


@pytest.mark.parametrize(
    "path", ["/foo/domain/active.com", "/domain/active.com", "/api/customer/7", "/1.x/contact/A/check"]
)
def test_a_path_without_a_version_has_the_shape_of_v2_errors(sandbox: Sandbox, path: str) -> None:
    token = ("X-Auth-Token", sandbox.accounts["main"].token)
    answer = InProcess(sandbox.app)("GET", path, [token, JSON], b"")
    assert answer.status == 404
    assert set(answer.json) == {"code", "msg", "status"}
    assert "the version must be V2.0" in answer.json["msg"]


@pytest.mark.parametrize("operation", ["v2.domain.register", "v2.domain.renew"])
def test_a_period_of_the_wrong_type_is_not_called_missing(sandbox: Sandbox, operation: str) -> None:
    ask = WORKS[operation]
    v2 = connect(sandbox)
    answer = v2.call(ask.method, ask.path, {**(ask.body or NAME), "period": "1"})
    assert refusal(answer)[:2] == (400, "Not enough parameter: period must be an integer, not '1'")
