"""Each assumption about v2.0: every value has the effect that it describes, and the answer names it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Answer
from tests.registry import Make, edit_name, edit_zone
from tests.v2.client import FORM, REGISTRY, Client, connect, done, refusal
from tests.v2.works import CARD, CUSTOMER, NAME, WORKS

STATUS = "The status of the order does not allow to perform the operation"

#: The assumptions of v2.0 that a test below is of.
COVERED: set[str] = set()


def tries(name: str) -> pytest.MarkDecorator:
    """Mark the test of an assumption, which has to try each value of it."""
    COVERED.add(name)
    return pytest.mark.parametrize("with_", [name], indirect=True)


class With:
    """Sandboxes with one assumption switched, and their clients."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.tried: set[str] = set()

    def sandbox(self, value: object) -> Sandbox:
        """A sandbox under this value of it."""
        self.tried.add(str(value).lower())
        return Sandbox(REGISTRY, assume={self.name: value})

    def __call__(self, value: object, account: str = "main") -> Client:
        """A client of such a sandbox."""
        return connect(self.sandbox(value), account)


@pytest.fixture
def with_(request: pytest.FixtureRequest) -> Iterator[With]:
    """The assumption that the test is of; at its end, all of its values have been tried."""
    switch = With(request.param)
    yield switch
    rows = Sandbox(REGISTRY).assumptions.list().assumptions
    takes = next(row.takes for row in rows if row.name == switch.name)
    if takes.startswith("one of "):
        assert switch.tried == set(takes.removeprefix("one of ").split(", "))
    assert switch.tried


def rests(answer: Answer, name: str, value: object) -> Answer:
    """The answer, which must say that it rests on this."""
    assert answer.assumptions.get(name) == str(value), answer.headers
    return answer


@tries("v2.versions")
def test_versions(with_: With) -> None:
    client = with_("V2.0,v2.1")
    client.version = "V2.1"
    assert done(rests(client.get("/domain/new.com/check"), "v2.versions", "V2.0|v2.1"))
    client.version = "v2.0"
    assert "v2.versions" not in client.get("/domain/new.com/check").assumptions
    client = with_("V3.0")
    assert client.get("/domain/new.com/check").json["msg"] == "no implementation for this version"
    client.version = "V3.0"
    assert done(client.get("/domain/new.com/check"))


@tries("v2.token_headers")
def test_token_headers(with_: With) -> None:
    both = with_("X-Auth-Token,X-Token")
    assert "v2.token_headers" not in both.get("/customer/1").assumptions
    taken = both.call("GET", "/domain/new.com/check", headers=[("x-token", "main-token")])
    assert done(rests(taken, "v2.token_headers", "X-Auth-Token|X-Token"))
    other = with_("X-Token")
    refused = rests(other.get("/customer/1"), "v2.token_headers", "X-Token")
    assert refusal(refused) == (403, "Token not found", "token_missing")
    assert "--token-header X-Auth-Token would take" in refused.headers["x-sandbox-refusal"]


@tries("v2.http_status")
def test_http_status(with_: With) -> None:
    for value, status in (("mirror", 404), ("always_200", 200)):
        client = with_(value)
        answer = rests(client.get("/customer/9"), "v2.http_status", value)
        assert (answer.status, answer.json["code"]) == (status, 404)
        answer = client.get("/nothing")
        assert (answer.status, answer.json["code"]) == (status, 404)


@tries("v2.customer_edit.by")
def test_customer_edit_by(with_: With) -> None:
    by_mail = with_("mail")
    assert done(
        rests(
            by_mail.put("/customer", {"mail": "seven@example.com", "name": "A"}),
            "v2.customer_edit.by",
            "mail",
        )
    )
    assert done(by_mail.put("/customer", {"customer_id": 7, "mail": "new@example.com"}))
    assert done(by_mail.put("/customer/7", {"mail": "newer@example.com"}))
    assert done(by_mail.get("/customer/7"))["data"]["mail"] == "newer@example.com"
    by_id = with_("customer_id")
    answer = rests(
        by_id.put("/customer", {"mail": "seven@example.com"}), "v2.customer_edit.by", "customer_id"
    )
    assert refusal(answer)[:2] == (400, "Invalid customer_id")
    assert done(by_id.put("/customer", {"customer_id": 7, "mail": "new@example.com"}))
    assert done(by_id.put("/customer/7", {"name": "B"}))
    assert refusal(by_id.put("/customer", {"customer_id": "7"}))[:2] == (400, "Invalid customer_id")


@tries("v2.domain_info.shape")
def test_domain_info_shape(with_: With) -> None:
    bare = rests(with_("bare").get("/domain/active.com"), "v2.domain_info.shape", "bare")
    whole = with_("wrapped").get("/domain/active.com").json
    assert whole == {"code": 200, "status": True, "data": bare.json}
    assert bare.json["date_end"] == "2026-11-21 12:00:00"


@tries("v2.domain_check.avail")
def test_domain_check_avail(with_: With) -> None:
    for value, free, taken in (("string", "true", "false"), ("boolean", True, False)):
        client = with_(value)
        answer = rests(client.get("/domain/new.com/check"), "v2.domain_check.avail", value)
        assert answer.json["avail"] is free or answer.json["avail"] == free
        for name in ("active.com", "theirs.com", "nic.com"):
            assert client.get(f"/domain/{name}/check").json["avail"] == taken


@tries("v2.zones.data")
def test_zones_data(with_: With) -> None:
    listed = rests(with_("list").get("/domain/zones"), "v2.zones.data", "list").json["data"]
    client = with_("object")
    assert rests(client.get("/domain/zones"), "v2.zones.data", "object").json["data"] == listed[0]
    assert client.get("/domain/zones/start/1").json["data"] == listed[1]
    assert client.get("/domain/zones/start/99").json["data"] == {}


@tries("v2.customer_delete.refusal_status")
def test_customer_delete_refusal_status(with_: With) -> None:
    for value in (True, False):
        answer = with_(value).delete("/customer/7")
        rests(answer, "v2.customer_delete.refusal_status", str(value).lower())
        said = "You can not delete the contact has active orders"
        assert answer.json == {"code": 403, "status": value, "msg": said}


ENDS: list[tuple[str, str, str]] = [
    ("", "pending", "pending"),
    ("approve", "clientApproved", "approved"),
    ("reject", "clientRejected", "rejected"),
    ("cancel", "clientCancelled", "cancelled"),
    ("complete", "serverApproved", "approved"),
    ("overtake", "serverCancelled", "cancelled"),
]


@tries("v2.transfer_status")
def test_transfer_status(with_: With, subtests: pytest.Subtests) -> None:
    for end, epp, plain in ENDS:
        for value, word in (("epp", epp), ("plain", plain)):
            with subtests.test(end=end, value=value):
                sandbox = with_.sandbox(value)
                client = connect(sandbox)
                path = "/domain/leaving.com/transfer"
                if end == "overtake":  # the name falls into removal before its transfer completes
                    edit_name(sandbox, "leaving.com", stage="overdue", since="-29d")
                    sandbox.clock.advance("P2D")
                elif end == "complete":
                    sandbox.clock.advance("P5D")
                elif end == "cancel":
                    assert done(connect(sandbox, "other").delete(path))
                elif end:
                    assert done(client.put(f"{path}/{end}"))
                answer = rests(client.get(path), "v2.transfer_status", value)
                assert answer.json["transfer_status"] == word


@tries("v2.request_format")
def test_request_format(with_: With) -> None:
    form = "customer_id=8&transfer_code=let-me-in"
    for value in ("json", "json_or_form"):
        client = with_(value)
        client.own = [FORM]
        answer = client.post("/domain/elsewhere.com/transfer", form.encode())
        rests(answer, "v2.request_format", value)
        assert answer.status == (415 if value == "json" else 200), answer.raw
        assert (
            "v2.request_format" not in client.post("/domain/new.com", NAME).assumptions
        )  # JSON, whatever it is called


@tries("v2.order_processing")
def test_order_processing(with_: With) -> None:
    sandbox = with_.sandbox(60)
    client = connect(sandbox)
    rests(client.post("/domain/new.com", NAME), "v2.order_processing", 60)
    assert client.get("/domain/new.com").json["status"] == "0"
    assert refusal(client.put("/domain/new.com", {"client_hold": 1}))[1] == "Not the correct status"
    sandbox.clock.advance(60)
    assert client.get("/domain/new.com").json["status"] == "1"
    sandbox.clock.advance(60)
    assert client.get("/domain/new.com").json["status"] == "2"
    client = connect(Sandbox(REGISTRY))
    client.post("/domain/new.com", NAME)
    assert client.get("/domain/new.com").json["status"] == "2"


@tries("v2.extra_contact_params")
def test_extra_contact_params(with_: With) -> None:
    client = with_("fixture")
    answer = client.post("/contact/NEW", {**CARD, "tax_number": "12345678"})
    assert done(rests(answer, "v2.extra_contact_params", "fixture"))


@tries("v2.license")
def test_license(with_: With) -> None:
    for key in ("license", "certificate"):
        client = with_(key)
        answer = client.post("/domain/new.com.ua", {**NAME, key: "123456"})
        assert done(rests(answer, "v2.license", key))
        other = "certificate" if key == "license" else "license"
        assert (
            refusal(client.post("/domain/two.com.ua", {**NAME, other: "123456"}))[1]
            == "Not the correct license"
        )
        assert done(client.post("/domain/three.com", NAME))


@tries("v2.contact.required")
def test_contact_required(with_: With) -> None:
    spared = {"company", "fax", "region"}
    for value in ("postal", "all"):
        client = with_(value)
        for number, field in enumerate(sorted(CARD)):
            answer = client.post(f"/contact/N{number}", {**CARD, field: ""})
            rests(answer, "v2.contact.required", value)
            if value == "postal" and field in spared:
                assert done(answer)
            else:
                assert refusal(answer)[1] == f"Not enough parameter: {field}"
                assert (
                    refusal(client.put("/contact/OWNER", {**CARD, field: None}))[1]
                    == f"Not enough parameter: {field}"
                )


@tries("v2.customer.required")
def test_customer_required(with_: With) -> None:
    needed = {
        "mail_and_name": {"mail", "name"},
        "postal": {"address", "city", "country", "mail", "name", "phone", "zip"},
        "all": set(CUSTOMER),
    }
    for value, fields in needed.items():
        client = with_(value)
        for field in sorted(CUSTOMER):
            whole = {**CUSTOMER, "mail": f"{field}@example.com"}
            answer = client.post("/customer", {key: whole[key] for key in whole if key != field})
            rests(answer, "v2.customer.required", value)
            if field in fields:
                assert refusal(answer)[:2] == (400, f"Invalid {field}")
            else:
                assert done(answer)


@tries("v2.phone")
def test_phone(with_: With) -> None:
    for value in ("any", "dotted"):
        client = with_(value)
        assert done(rests(client.post("/contact/A", CARD), "v2.phone", value))
        loose = client.post("/contact/B", {**CARD, "phone": "+380 (48) 123-45-67"})
        assert loose.status == (200 if value == "any" else 400)
        assert refusal(client.post("/contact/C", {**CARD, "fax": "none"}))[0] == 400


@tries("v2.active_orders")
def test_active_orders(with_: With) -> None:
    for value, counted in (("unremoved", 1), ("status_2", 0)):
        sandbox = with_.sandbox(value)
        client = connect(sandbox)
        assert client.get("/customer/7").json["data"]["count_active_orders"] == 1
        edit_name(sandbox, "active.com", stage="overdue")
        answer = rests(client.get("/customer/7"), "v2.active_orders", value)
        assert answer.json["data"]["count_active_orders"] == counted
        assert client.delete("/customer/7").status == (403 if counted else 200)
        if counted:
            edit_name(sandbox, "active.com", stage="redemption")
            assert client.get("/customer/7").json["data"]["count_active_orders"] == 0
            assert done(client.delete("/customer/7"))


@tries("v2.premium_names")
def test_premium_names(with_: With) -> None:
    premium = {"registration": "500.00", "renewal": "300.00", "transfer": "200.00"}
    for value in ("charged", "refused"):
        sandbox = with_.sandbox(value)
        edit_zone(sandbox, "net", premium={"gold": premium})
        edit_zone(sandbox, "com", premium={"active": premium, "elsewhere": premium})
        client = connect(sandbox)
        check = rests(client.get("/domain/gold.net/check"), "v2.premium_names", value)
        assert check.json["avail"] == {"charged": "true", "refused": "false"}[value]
        assert "v2.premium_names" not in client.get("/domain/plain.net/check").assumptions
        for ask, price, words in (
            (WORKS["v2.domain.register"].at("/domain/gold.net"), 1000, (403, "Domain is already registered")),
            (WORKS["v2.domain.renew"], 300, (403, STATUS)),
            (WORKS["v2.transfer.request"], 200, (400, "Invalid id")),
        ):
            before = sandbox.accounts["main"].balance
            answer = rests(ask.send(client), "v2.premium_names", value)
            assert done(answer) if value == "charged" else refusal(answer)[:2] == words
            assert before - sandbox.accounts["main"].balance == (price if value == "charged" else 0)


@tries("v2.arriving_status")
def test_arriving_status(with_: With) -> None:
    for value, status in (("processing", "1"), ("requested", "0")):
        answer = with_(value).get("/domain/arriving.com")
        assert rests(answer, "v2.arriving_status", value).json["status"] == status


@tries("v2.ns.repeated")
def test_repeated_nameservers(with_: With) -> None:
    for value in ("refused", "accepted"):
        for changes in ({"add": ["NS1.home.net."]}, {"del": ["ns9.home.net"]}):
            client = with_(value)
            before = client.get("/domain/active.com").json["ns"]
            answer = rests(client.put("/domain/active.com", {"ns": changes}), "v2.ns.repeated", value)
            assert answer.status == (400 if value == "refused" else 200)
            assert client.get("/domain/active.com").json["ns"] == before


@tries("v2.names.form")
def test_names_form(with_: With) -> None:
    spelled = {"as_asked": ("xn--espaa-rta.com", "españa.com"), "ascii": ("xn--espaa-rta.com",) * 2}
    spelled["unicode"] = ("españa.com",) * 2
    for value, (when_ascii, when_unicode) in spelled.items():
        for asked, shown in (("xn--espaa-rta.com", when_ascii), ("espa%C3%B1a.com", when_unicode)):
            client = with_(value)
            renewal = {"current_expiry_date": "2026-11-21", "period": 1}
            answer = rests(client.put(f"/domain/{asked}/renew", renewal), "v2.names.form", value)
            assert answer.json["data"]["domain"] == shown


@tries("v2.zones.no_promotion")
def test_no_promotion(with_: With) -> None:
    keys = {f"{what}_{when}_action" for what in ("price", "date_end") for when in ("reg", "renew")}
    regular = ["", "", 10.0, 12.0]
    for value, expected in (("regular", regular), ("nulls", [None] * 4), ("omitted", [])):
        answer = with_(value).get("/domain/zones/popular")
        com, net = rests(answer, "v2.zones.no_promotion", value).json["data"]
        assert [com[key] for key in sorted(keys) if key in com] == expected
        assert [net[key] for key in sorted(keys)][2:] == [4.75, 5.0]


@tries("v2.renew.maximum")
def test_the_maximum_in_a_renewals_refusal(with_: With) -> None:
    asked = WORKS["v2.domain.renew"].with_(date_end=None)
    for value, years, most in (("remaining", 10, 9), ("remaining", 11, 9), ("zone", 10, 9), ("zone", 11, 10)):
        answer = asked.with_(period=years).send(with_(value))
        rests(answer, "v2.renew.maximum", value)
        assert refusal(answer)[:2] == (400, f"maximum value period: {most}"), (value, years)


@tries("v2.renew.date_end")
def test_the_new_end_of_a_renewal(with_: With) -> None:
    name, asked = "v2.renew.date_end", WORKS["v2.domain.renew"]
    days = ("2027-11-20", "2028-11-21", "2026-11-21", "1999-01-01", "2027-02-30")
    wrong: Any
    for wrong in (*days, "soon", 5, [], {}):
        refused = rests(asked.with_(date_end=wrong).send(with_("checked")), name, "checked")
        assert refusal(refused)[:2] == (400, "Not the correct current_expiry_date")
        passed = rests(asked.with_(date_end=wrong).send(with_("ignored")), name, "ignored")
        assert done(passed)["data"]["date_end"] == "2027-11-21 12:00:00"
    for right in ("2027-11-21", "2027-11-21 23:00:00", "2027-11-21T12:00:00Z"):
        for value in ("checked", "ignored"):
            assert done(asked.with_(date_end=right).send(with_(value)))


def test_every_operation_succeeds_under_both_profiles(make: Make) -> None:
    for profile in ("documented", "observed"):
        for ask in WORKS.values():
            assert done(ask.send(connect(make(profile=profile))))


def test_the_observed_profile(make: Make) -> None:
    """What callers were seen to rely on."""
    client = connect(make(profile="observed"))
    assert client.get("/domain/new.com/check").json["avail"] is True
    assert client.get("/domain/active.com").json["data"]["status"] == "2"
    assert client.delete("/customer/7").json["status"] is False
    client.own = [FORM]
    assert done(client.post("/domain/elsewhere.com/transfer", b"transfer_code=let-me-in"))
    assert client.get("/customer/9").status == 404


def test_what_is_locked_follows_the_update_lock(make: Make) -> None:
    """Under ``registrant_only``, a name whose updates are prohibited keeps its registrant alone."""
    sandbox = make(assume={"v3.update_lock.covers": "registrant_only"})
    client = connect(sandbox)
    assert done(client.put("/domain/active.com", {"client_update_prohibited": 1}))
    assert done(client.put("/domain/active.com", {"ns": {"add": ["ns3.home.net"]}, "contact_admin": "SPARE"}))
    answer = client.put("/domain/active.com", {"contact_registrant": "SPARE"})
    assert refusal(answer)[:2] == (400, "Not the correct client_update_prohibited")
    assert done(client.post("/domain/active.com/host/new", {"ip": [{"ip": "192.0.2.7", "type": "v4"}]}))


def test_every_assumption_about_v2_has_its_test(make: Make) -> None:
    names = {row.name for row in make().assumptions.list().assumptions}
    assert {name for name in names if name.startswith("v2.")} == COVERED
