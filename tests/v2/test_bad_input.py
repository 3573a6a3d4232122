"""Any input to v2.0 has a documented answer, in every form in which a client may write it."""

from __future__ import annotations

from itertools import islice
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from tests.clients import JSON, Answer
from tests.registry import Make, contents
from tests.thorough import tries
from tests.v2.client import FORM, REGISTRY, Client, connect, done, refusal
from tests.v2.works import CARD, HOST, NAME, ROLES, WORKS, Ask, documented_errors, pattern
from tests.wrong import BROKEN_BODIES, PARTS, has_control_character, spoiled, with_control_characters

HOME = ["ns1.home.net", "ns2.home.net"]
NO_NS = "Not enough parameter: ns"


def test_a_registration_accepts_name_servers_as_an_array_or_an_object(
    sandbox: Sandbox, main: Client, subtests
) -> None:
    longest = ".".join(["x" * 60] * 4) + ".home.net"
    accepted: list[tuple[Any, list[str]]] = [
        ({"array": HOME}, HOME),
        (HOME, HOME),
        ({"array": ["NS1.Home.net.", "ns2.home.net"]}, HOME),
        ([longest], [longest]),
    ]
    for ns, kept in accepted:
        sandbox.reset()
        assert done(main.post("/domain/new.com", {**NAME, "ns": ns}))
        assert main.get("/domain/new.com").json["ns"] == kept
    wrong: list[tuple[Any, str]] = [
        ("ns1.home.net", "Not the correct ns: ns1.home.net"),
        ({"add": HOME}, 'Not the correct ns: {"add": ["ns1.home.net", "ns2.home.net"]}'),
        ([["ns1.home.net"]], 'Not the correct ns: ["ns1.home.net"]'),
        (["ns1.home.net"] * 2, "Not the correct ns: ns1.home.net"),
        ([f"ns{n}.home.net" for n in range(14)], "Not the correct ns: ns13.home.net"),
        ({"array": []}, NO_NS),
        ([], NO_NS),
    ]
    for ns, message in wrong:
        with subtests.test(ns=ns):
            assert refusal(main.post("/domain/new.com", {**NAME, "ns": ns}))[:2] == (400, message)


def test_an_edit_removes_name_servers_before_it_adds_new_ones(
    sandbox: Sandbox, main: Client, subtests
) -> None:
    accepted: list[tuple[Any, list[str]]] = [
        ({"add": ["ns3.home.net"]}, [*HOME, "ns3.home.net"]),
        ({"del": ["ns1.home.net"]}, ["ns2.home.net"]),
        ({"add": ["ns3.home.net"], "del": HOME}, ["ns3.home.net"]),
        ({"add": ["ns1.home.net"], "del": ["NS1.home.net"]}, ["ns2.home.net", "ns1.home.net"]),
        ({"add": None, "del": ["ns2.home.net"]}, ["ns1.home.net"]),
    ]
    for ns, kept in accepted:
        with subtests.test(ns=ns):
            sandbox.reset()
            assert done(main.put("/domain/active.com", {"ns": ns}))
            assert main.get("/domain/active.com").json["ns"] == kept
    sandbox.reset()
    before = contents(sandbox)
    wrong: list[tuple[Any, str]] = [
        ({"del": HOME}, "Not the correct ns: ns2.home.net"),
        ({"add": "ns3.home.net"}, 'Not the correct ns: {"add": "ns3.home.net"}'),
        ({"array": ["ns3.home.net"]}, 'Not the correct ns: {"array": ["ns3.home.net"]}'),
        ({"add": [], "del": []}, "Not enough parameter: client_*, contact_* or ns"),
    ]
    for ns, message in wrong:
        with subtests.test(ns=ns):
            assert refusal(main.put("/domain/active.com", {"ns": ns}))[:2] == (400, message)
    assert contents(sandbox) == before


def test_the_expiry_of_a_renewal_is_a_date_or_a_date_time(sandbox: Sandbox, main: Client, subtests) -> None:
    right = "2026-11-21, 2026-11-21 12:00:00, 2026-11-21 00:00:01, 2026-11-21T12:00:00Z, 20261121"
    for date in [*right.split(", "), "2026-11-22T01:00:00+02:00"]:
        with subtests.test(date=date):
            sandbox.reset()
            body = {"current_expiry_date": date, "period": 1}
            answer = done(main.put("/domain/active.com/renew", body))
            assert answer["data"] == {"date_end": "2027-11-21 12:00:00", "domain": "active.com"}
    sandbox.reset()
    wrong = "2026-11-20, 2026-11-22 12:00:00, 21.11.2026, tomorrow, 0000-00-00"
    for value in [*wrong.split(", "), 20261121]:
        answer = main.put("/domain/active.com/renew", {"current_expiry_date": value, "period": 1})
        assert refusal(answer)[:2] == (400, "Not the correct current_expiry_date"), value


def test_every_operation_accepts_a_host_by_label_or_full_name(main: Client) -> None:
    ips = ["192.0.2.1", "2001:db8::1"]
    for host in ("ns1", "NS1", "ns1.active.com", "ns1.active.com.", "NS1.Active.COM"):
        path = f"/domain/active.com/host/{host}"
        assert done(main.get(path))["data"] == {"ip": ips, "name": "ns1.active.com"}
        assert done(main.get(f"{path}/check"))["avail"] is False
        assert done(main.put(path, {"ip": {"add": ["type=>v4,ip=>192.0.2.5"]}}))
        assert done(main.delete(path))
        assert done(main.get(f"{path}/check"))["avail"] is True
        assert done(main.post(path, {"ip": ["type=>v4,ip=>192.0.2.1", "type=>v6,ip=>2001:db8::1"]}))


def test_a_host_address_is_accepted_as_an_object_or_a_string(sandbox: Sandbox, main: Client) -> None:
    same = {"type": "v6", "ip": "2001:db8::7"}
    for entry in ("type=>v6,ip=>2001:DB8:0::7", same, "ip=>2001:db8::7, type=>v6"):
        sandbox.reset()
        assert done(main.post(f"{HOST}/new", {"ip": [entry]}))
        assert done(main.put(f"{HOST}/ns1", {"ip": {"add": [entry], "del": ["type=>v4,ip=>192.0.2.1"]}}))
        for host in ("new", "ns1"):
            assert "2001:db8::7" in done(main.get(f"{HOST}/{host}"))["data"]["ip"]
        assert done(main.put(f"{HOST}/ns1", {"ip": {"del": [entry]}}))


def test_a_host_keeps_at_least_one_address_and_refuses_duplicates(main: Client) -> None:
    four, six = "type=>v4,ip=>192.0.2.1", "type=>v6,ip=>2001:db8::1"
    many = [f"type=>v4,ip=>192.0.2.{n}" for n in range(100, 112)]
    rows: list[tuple[str, Any, str]] = [
        ("PUT", {"add": [four]}, "Not the correct IPv4: 192.0.2.1"),
        ("PUT", {"del": [four, six]}, "Not the correct IPv6: 2001:db8::1"),
        ("POST", [four, four], "Not the correct IPv4: 192.0.2.1"),
        ("PUT", {"add": many}, "Not the correct IPv4: 192.0.2.111"),
    ]
    for method, ip, message in rows:
        host = "new" if method == "POST" else "ns1"
        assert refusal(main.call(method, f"{HOST}/{host}", {"ip": ip}))[1] == message
    assert done(main.put(f"{HOST}/ns1", {"ip": {"add": many[1:]}}))
    assert len(done(main.get(f"{HOST}/ns1"))["data"]["ip"]) == 13


# Zones

ALL = ["com", "com.ua", "net", "quiet", "shop"]


def test_a_list_of_zones_can_have_a_type_and_a_limit_and_a_start(main: Client, subtests) -> None:
    for path, names in [
        ("", ALL),
        ("/limit/2", ["com", "com.ua"]),
        ("/start/3", ["quiet", "shop"]),
        ("/limit/2/start/1", ["com.ua", "net"]),
        ("/popular", ["com", "net"]),
        ("/popular/limit/1", ["com"]),
        ("/popular/start/1", ["net"]),
        ("/popular/limit/1/start/1", ["net"]),
        ("/unheard-of", []),
        ("/limit/0", []),
        ("/start/5", []),
        ("/limit/99999999999999999999999999/start/0", ALL),
        ("/start/99999999999999999999999999", []),
    ]:
        with subtests.test(path=path):
            data = done(main.get(f"/domain/zones{path}"))["data"]
            assert [zone["zone"] for zone in data] == names
    for path in ("/limit/x", "/limit/-1", "/start/1.5", "/start/", "/popular/limit/٣", "/popular/new/old"):
        assert refusal(main.get(f"/domain/zones{quote(path)}"))[2] == "unknown_path", path


# Names, ids and handles


def test_invalid_domain_names_and_handles_and_customer_ids_are_refused(
    sandbox: Sandbox, main: Client, subtests
) -> None:
    for name in ("NEW.com", "new.COM."):
        sandbox.reset()
        assert done(main.post(f"/domain/{name}", NAME))
        assert done(main.get("/domain/new.com"))["status"] == "2"
    assert refusal(main.post("/domain/xn--espaa-rta.net", NAME))[1] == "Not the correct domain name"
    for handle in ("A", "a-b_c.d", "0", "x" * 64):
        assert done(main.post(f"/contact/{handle}", CARD))
        assert done(main.get(f"/contact/{handle}"))["data"] == CARD
    for handle in ("-a", "a%20b", "x" * 65, "%C3%A9", "a%27", "%00"):
        with subtests.test(handle=handle):
            path = f"/contact/{handle}"
            assert refusal(main.get(f"{path}/check"))[:2] == (400, "Invalid contact_id")
            assert refusal(main.post(path, CARD))[1] == "Invalid value for extra param contact_id"
            assert refusal(main.put(path, CARD))[:2] == (400, "Invalid Param")
            assert refusal(main.get(path))[:2] == (404, "ID not found")
    for customer in ("seven", "7.0", "-7", "%D9%A7", "0x7"):
        with subtests.test(customer=customer):
            path = f"/customer/{customer}"
            assert refusal(main.get(path))[:2] == (400, "Invalid customer_id")
            assert refusal(main.put(path, {"name": "A"}))[:2] == (400, "Invalid customer_id")
            assert refusal(main.delete(path))[:2] == (404, "ID not found")


# Bodies


def test_a_body_is_ignored_by_an_operation_without_a_body(sandbox: Sandbox, main: Client) -> None:
    for body in (b"", b"[]", b"not JSON", b"\xff\xfe", b'{"a": 1}'):
        sandbox.reset()
        assert done(main.call("PUT", "/domain/leaving.com/transfer/reject", body)), body


def test_a_json_body_is_accepted_under_any_content_type(main: Client) -> None:
    for number, kind in enumerate(["text/plain", FORM[1], "application/json; charset=utf-8", ""]):
        main.own = [("Content-Type", kind)] if kind else []
        assert done(main.post(f"/domain/new{number}.com", NAME))


# Forms


@pytest.fixture
def forms(sandbox: Sandbox) -> Client:
    sandbox.assumptions.set({"v2.request_format": "json_or_form"})
    client = connect(sandbox)
    client.own = [FORM]
    return client


def form_of(value: Any, key: str = "") -> list[str]:
    """Return a JSON value as PHP writes it in a form."""
    if not isinstance(value, (dict, list)):
        return [f"{quote_plus(key, safe='[]')}={quote_plus(str(value))}"]
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return [pair for name, inner in items for pair in form_of(inner, f"{key}[{name}]" if key else str(name))]


def test_every_request_has_the_same_effect_as_json_and_as_a_form(make: Make, subtests) -> None:
    sandbox = make(assume={"v2.request_format": "json_or_form"})
    for operation, ask in WORKS.items():
        if ask.body:
            with subtests.test(operation=operation):
                effects = []
                for body, kind in ((ask.body, JSON), ("&".join(form_of(ask.body)).encode(), FORM)):
                    sandbox.reset()
                    client = connect(sandbox)
                    client.own = [kind]
                    assert done(client.call(ask.method, ask.path, body))
                    effects.append(contents(sandbox))
                assert effects[0] == effects[1]


def test_an_array_in_a_form_may_have_indexes_in_any_order(forms: Client) -> None:
    roles = "&".join(f"contact_{role}=MAIN" for role in ("admin", "billing", "registrant", "tech"))
    for number, ns in enumerate(
        (
            "ns[]=ns1.home.net&ns[]=ns2.home.net",
            "ns%5Barray%5D%5B0%5D=ns1.home.net&ns%5Barray%5D%5B1%5D=ns2.home.net",
            "ns[5]=ns2.home.net&ns[2]=ns1.home.net",
        )
    ):
        assert done(forms.post(f"/domain/new{number}.com", f"{roles}&period=1&{ns}".encode()))
        assert forms.get(f"/domain/new{number}.com").json["ns"] == HOME


def test_a_malformed_form_is_refused_with_an_error_that_shows_the_mistake(forms: Client, subtests) -> None:
    for form, problem in [
        (b"\xff=1", "not a form in UTF-8"),
        (b"a=%ff", "not a form in UTF-8"),
        (b"a=1&a=2", "comes twice"),
        (b"a=1&a[b]=2", "comes twice"),
        (b"a[b=1", "does not have the form name or name[part]"),
        (b"a[b]c=1", "does not have the form name or name[part]"),
        (b"a[" + b"k" * 90 + b"=1", f"the key 'a[{'k' * 58}' does not have"),
        (b"a[0][0][0][0][0][0][0]=1", "nested too deeply"),
        (b"&".join(b"a%d=1" % n for n in range(1200)), "more than 1000 fields"),
    ]:
        with subtests.test(problem=problem):
            answer = forms.post("/customer", form)
            assert refusal(answer)[::2] == (400, "malformed_body")
            assert problem in answer.json["msg"]


#: The sandbox's own refusals, which the contract does not have.
TRANSPORT_RULES = {"malformed_body", "unknown_path", "method_not_allowed", "uri_too_long"}
WITH_BODY = [operation for operation, ask in WORKS.items() if ask.body]
#: The keys without which each body is refused; without an id, the mail says which customer is to change.
NEEDED = {
    "v2.customer.create": {"mail", "name"},
    "v2.customer.edit": {"mail"},
    **dict.fromkeys(("v2.contact.create", "v2.contact.edit"), {*CARD} - {"company", "fax", "region"}),
    "v2.domain.register": {*ROLES, "ns", "period"},
    "v2.domain.edit": set(),
    "v2.domain.renew": {"current_expiry_date", "period"},
    "v2.transfer.request": {"transfer_code"},
    "v2.host.create": {"ip"},
    "v2.host.edit": {"ip"},
}


def send(sandbox: Sandbox, operation: str, ask: Ask, content_type: tuple[str, str] = JSON) -> Answer:
    """Send a request to a world as it began, and assert the properties of every answer."""
    sandbox.reset()
    before = contents(sandbox)
    client = connect(sandbox)
    client.own = [content_type]
    answer = client.call(ask.method, ask.path, ask.body)
    assert answer.status != 500, answer.raw
    if answer.status == 200:
        return answer
    assert contents(sandbox) == before
    header = answer.headers["x-sandbox-refusal"]
    assert header.isascii()
    assert len(header) <= 500
    if header.partition(":")[0] not in TRANSPORT_RULES:
        body = answer.json
        errors = [
            error
            for (name, error), code in documented_errors().items()
            if (name, code) == (operation, body["code"])
        ]
        assert any(pattern(error).fullmatch(body["msg"]) for error in errors), answer.raw
    return answer


@pytest.mark.parametrize("operation", WITH_BODY)
def test_a_body_with_missing_or_wrong_values_gets_a_documented_response(
    sandbox: Sandbox, operation: str
) -> None:
    """Each value of a body is replaced by every eleventh wrong value, at another offset for each place."""
    ask, missing = WORKS[operation], set()
    for key in ask.body:
        answer = send(sandbox, operation, ask.with_(**{key: None}))
        if answer.status != 200:
            missing.add(key)
            assert answer.headers["x-sandbox-refusal"].startswith("missing_parameter: ")
    assert missing == NEEDED[operation]
    wrong = islice(spoiled(ask.body), 0, None, 11)
    for body in (*wrong, *with_control_characters(ask.body)):
        send(sandbox, operation, ask.having(body))
        assert not has_control_character(sandbox.export())


def test_any_text_in_the_path_gets_a_documented_response(sandbox: Sandbox, subtests) -> None:
    places = [
        (operation, parts, at)
        for operation, parts in ((operation, ask.path.split("/")) for operation, ask in WORKS.items())
        for at in (2, 4)
        if at < len(parts) and parts[at] not in ("check", "renew", "restore", "approve", "reject", "popular")
    ]
    for number, (operation, parts, at) in enumerate(places):
        for text in ("espa%C3%B1a.com", "a.b.com", *PARTS[number % 7 :: 7]):
            with subtests.test(operation=operation, at=at, text=text):
                send(sandbox, operation, WORKS[operation].at("/".join([*parts[:at], text, *parts[at + 1 :]])))


@pytest.fixture(scope="module")
def observed() -> Sandbox:
    return Sandbox(REGISTRY, profile="observed", assume={"v2.domain_info.shape": "bare"})


@settings(max_examples=tries(25))
@given(
    operation=st.sampled_from(WITH_BODY),
    form=st.binary(max_size=60) | st.text("abns[]=&01%+i pdl", max_size=60).map(str.encode),
)
def test_any_form_body_gets_a_documented_response(observed: Sandbox, operation: str, form: bytes) -> None:
    send(observed, operation, WORKS[operation].having(form), FORM)


def test_every_operation_refuses_a_malformed_body(sandbox: Sandbox, subtests) -> None:
    for number, (kind, raw) in enumerate(BROKEN_BODIES.items()):
        operation = WITH_BODY[number % len(WITH_BODY)]
        with subtests.test(operation=operation, kind=kind):
            answer = send(sandbox, operation, WORKS[operation].having(raw))
            assert (answer.status, answer.json["msg"][:19]) == (400, "The body is invalid")
