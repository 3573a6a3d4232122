"""Every form in which the contract, or a client, may write the same request in v2.0."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from reseller_sandbox import Sandbox
from tests.clients import JSON
from tests.registry import Make, contents
from tests.v2.client import FORM, Client, connect, done, refusal
from tests.v2.works import CARD, CUSTOMER, HOST, NAME, WORKS

TWO = ["ns1.home.net", "ns2.home.net"]


def test_name_servers_of_a_registration_are_accepted_in_either_form(sandbox: Sandbox, main: Client) -> None:
    long = ".".join(["x" * 60] * 4) + ".home.net"
    for ns in ({"array": TWO}, TWO, {"array": ["NS1.Home.net.", "ns2.home.net"]}, [long]):
        sandbox.reset()
        assert done(main.post("/domain/new.com", {**NAME, "ns": ns}))
        assert main.get("/domain/new.com").json["ns"] == ([long] if ns == [long] else TWO)


def test_a_wrong_list_of_name_servers_is_refused_by_its_wrong_part(
    main: Client, subtests: pytest.Subtests
) -> None:
    wrong: list[tuple[Any, str]] = [
        ("ns1.home.net", "Not the correct ns: ns1.home.net"),
        (5, "Not the correct ns: 5"),
        ({"add": TWO}, 'Not the correct ns: {"add": ["ns1.home.net", "ns2.home.net"]}'),
        ([["ns1.home.net"]], 'Not the correct ns: ["ns1.home.net"]'),
        ([None], "Not the correct ns: null"),
        (["ns1.home.net"] * 2, "Not the correct ns: ns1.home.net"),
        ([f"ns{n}.home.net" for n in range(14)], "Not the correct ns: ns13.home.net"),
        ({"array": []}, "Not enough parameter: ns"),
        ([], "Not enough parameter: ns"),
        ({}, "Not enough parameter: ns"),
    ]
    for ns, message in wrong:
        with subtests.test(ns=ns):
            assert refusal(main.post("/domain/new.com", {**NAME, "ns": ns}))[:2] == (400, message)


def test_name_servers_are_removed_first_and_added_last(
    sandbox: Sandbox, main: Client, subtests: pytest.Subtests
) -> None:
    changed: list[tuple[Any, list[str]]] = [
        ({"add": ["ns3.home.net"]}, [*TWO, "ns3.home.net"]),
        ({"del": ["ns1.home.net"]}, ["ns2.home.net"]),
        ({"add": ["ns3.home.net"], "del": TWO}, ["ns3.home.net"]),
        ({"add": ["ns1.home.net"], "del": ["NS1.home.net"]}, ["ns2.home.net", "ns1.home.net"]),
        ({"add": [], "del": ["ns2.home.net"]}, ["ns1.home.net"]),
        ({"add": None, "del": ["ns2.home.net"]}, ["ns1.home.net"]),
    ]
    for changes, left in changed:
        with subtests.test(changes=changes):
            sandbox.reset()
            assert done(main.put("/domain/active.com", {"ns": changes}))
            assert main.get("/domain/active.com").json["ns"] == left


def test_a_wrong_change_of_name_servers_is_refused_by_its_wrong_part(
    sandbox: Sandbox, main: Client, subtests: pytest.Subtests
) -> None:
    """A name keeps at least one, and none is added or removed twice."""
    wrong: list[tuple[Any, str]] = [
        ({"del": TWO}, "Not the correct ns: ns2.home.net"),
        ({"del": ["ns9.home.net"]}, "Not the correct ns: ns9.home.net"),
        ({"add": ["ns1.home.net"]}, "Not the correct ns: ns1.home.net"),
        ({"add": "ns3.home.net"}, 'Not the correct ns: {"add": "ns3.home.net"}'),
        (["ns3.home.net"], 'Not the correct ns: ["ns3.home.net"]'),
        ({"array": ["ns3.home.net"]}, 'Not the correct ns: {"array": ["ns3.home.net"]}'),
        ({"add": [], "del": []}, "Not enough parameter: client_*, contact_* or ns"),
    ]
    before = contents(sandbox)
    for changes, message in wrong:
        with subtests.test(changes=changes):
            assert refusal(main.put("/domain/active.com", {"ns": changes}))[:2] == (400, message)
    assert contents(sandbox) == before


def test_the_expiry_of_a_renewal_is_a_date_or_a_date_time(
    sandbox: Sandbox, main: Client, subtests: pytest.Subtests
) -> None:
    dates = ["2026-11-21", "2026-11-21 12:00:00", "2026-11-21 00:00:01", "2026-11-21T12:00:00Z"]
    for date in [*dates, "2026-11-22T01:00:00+02:00", "20261121"]:
        with subtests.test(date=date):
            sandbox.reset()
            answer = done(main.put("/domain/active.com/renew", {"current_expiry_date": date, "period": 1}))
            assert answer["data"] == {"date_end": "2027-11-21 12:00:00", "domain": "active.com"}
    sandbox.reset()
    wrong: list[Any] = ["2026-11-20", "2026-11-22 12:00:00", "21.11.2026", "tomorrow", "0000-00-00", 20261121]
    for date in wrong:
        answer = main.put("/domain/active.com/renew", {"current_expiry_date": date, "period": 1})
        assert refusal(answer)[:2] == (400, "Not the correct current_expiry_date"), date


def test_a_repeated_renewal_is_caught(sandbox: Sandbox, main: Client) -> None:
    """The same request again speaks of a term that is over."""
    ask = WORKS["v2.domain.renew"]
    assert done(ask.send(main))
    assert refusal(ask.send(main))[1] == "Not the correct current_expiry_date"
    assert sandbox.account().balance == 10000 - 12


def test_a_host_is_named_by_its_label_or_in_full_in_every_operation(main: Client) -> None:
    ips = ["192.0.2.1", "2001:db8::1"]
    for host in ("ns1", "NS1", "ns1.active.com", "ns1.active.com.", "NS1.Active.COM"):
        path = f"/domain/active.com/host/{host}"
        assert done(main.get(path))["data"] == {"ip": ips, "name": "ns1.active.com"}
        assert done(main.get(f"{path}/check"))["avail"] is False
        assert done(main.put(path, {"ip": {"add": ["type=>v4,ip=>192.0.2.5"]}}))
        assert done(main.delete(path))
        assert done(main.get(f"{path}/check"))["avail"] is True
        assert done(main.post(path, {"ip": ["type=>v4,ip=>192.0.2.1", "type=>v6,ip=>2001:db8::1"]}))


ENTRIES = ["type=>v6,ip=>2001:DB8:0::7", {"type": "v6", "ip": "2001:db8::7"}, "ip=>2001:db8::7, type=>v6"]


def test_an_address_is_an_object_or_words(sandbox: Sandbox, main: Client) -> None:
    for entry in ENTRIES:
        sandbox.reset()
        assert done(main.post(f"{HOST}/new", {"ip": [entry]}))
        assert done(main.put(f"{HOST}/ns1", {"ip": {"add": [entry], "del": ["type=>v4,ip=>192.0.2.1"]}}))
        for host in ("new", "ns1"):
            assert "2001:db8::7" in done(main.get(f"{HOST}/{host}"))["data"]["ip"]
        assert done(main.put(f"{HOST}/ns1", {"ip": {"del": [entry]}}))


def test_a_wrong_address_is_refused_by_its_type_first(
    sandbox: Sandbox, main: Client, subtests: pytest.Subtests
) -> None:
    no_ip, unknown = "Not enough parameter: ip", "Unknown ip type : "
    wrong: list[tuple[Any, str, str]] = [
        ("192.0.2.7", no_ip, f"{unknown}192.0.2.7"),
        ({"ip": "192.0.2.7"}, "Not enough parameter: type", unknown),
        ({"type": "v4"}, no_ip, "Not the correct IPv4: "),
        ("type=>v4", no_ip, "Not the correct IPv4: "),
        (None, no_ip, f"{unknown}null"),
        ([], no_ip, f"{unknown}[]"),
    ]
    for entry, message in [
        ({"type": 4, "ip": "192.0.2.7"}, f"{unknown}4"),
        ({"type": "V4", "ip": "192.0.2.7"}, f"{unknown}V4"),
        ({"type": "v4", "ip": 7}, "Not the correct IPv4: 7"),
        ({"type": "v4", "ip": "2001:db8::7"}, "Not the correct IPv4: 2001:db8::7"),
        ({"type": "v6", "ip": "fe80::1%eth0"}, "Not the correct IPv6: fe80::1%eth0"),
    ]:
        wrong.append((entry, message, message))
    before = contents(sandbox)
    for entry, created, changed in wrong:
        with subtests.test(entry=entry):
            assert refusal(main.post(f"{HOST}/new", {"ip": [entry]}))[:2] == (400, created)
            assert refusal(main.put(f"{HOST}/ns1", {"ip": {"add": [entry]}}))[:2] == (400, changed)
    assert contents(sandbox) == before


def test_a_host_keeps_an_address_and_has_none_twice(main: Client) -> None:
    """The last one stays."""
    four, six = "type=>v4,ip=>192.0.2.1", "type=>v6,ip=>2001:db8::1"
    assert refusal(main.put(f"{HOST}/ns1", {"ip": {"add": [four]}}))[1] == "Not the correct IPv4: 192.0.2.1"
    assert (
        refusal(main.put(f"{HOST}/ns1", {"ip": {"del": [four, six]}}))[1]
        == "Not the correct IPv6: 2001:db8::1"
    )
    twice = {"ip": [{"type": "v4", "ip": "192.0.2.7"}] * 2}
    assert refusal(main.post(f"{HOST}/new", twice))[1] == "Not the correct IPv4: 192.0.2.7"
    many = [f"type=>v4,ip=>192.0.2.{n}" for n in range(100, 120)]
    assert refusal(main.put(f"{HOST}/ns1", {"ip": {"add": many}}))[0] == 400
    assert done(main.get(f"{HOST}/ns1"))["data"]["ip"] == ["192.0.2.1", "2001:db8::1"]


# Zones

ALL = ["com", "com.ua", "net", "quiet", "shop"]


def test_zones_are_listed_by_type_limit_and_start(main: Client, subtests: pytest.Subtests) -> None:
    for path, names in [
        ("", ALL),
        ("/limit/2", ["com", "com.ua"]),
        ("/start/3", ["quiet", "shop"]),
        ("/limit/2/start/1", ["com.ua", "net"]),
        ("/popular", ["com", "net"]),
        ("/popular/limit/1", ["com"]),
        ("/popular/start/1", ["net"]),
        ("/popular/limit/1/start/1", ["net"]),
        ("/international", ["com"]),
        ("/ukrainian", ["com.ua"]),
        ("/new", ["net", "shop"]),
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


def test_a_version_without_its_v_is_refused_in_the_shape_of_v2(make: Make) -> None:
    """With the versions that are served; also where the minor version is missing."""
    for assume, served in (({}, "V2.0"), ({"v2.versions": "V2.0,V2.1"}, "V2.0 or V2.1")):
        client = connect(make(assume=assume))
        for client.version in ("2.0", "1.0", "V2", "v2", "2"):
            answer = client.get("/domain/x.com/check")
            path = f"GET /{client.version}/domain/x.com/check"
            message = f"{path} is no operation: the version must be {served}."
            assert refusal(answer) == (404, message, "unknown_path")


# Names, ids and handles


def test_names_and_handles_and_customer_ids_are_checked(
    sandbox: Sandbox, main: Client, subtests: pytest.Subtests
) -> None:
    for name in ("NEW.com", "new.COM.", "New.Com"):
        sandbox.reset()
        assert done(main.post(f"/domain/{name}", NAME))
        assert done(main.get("/domain/new.com"))["status"] == "2"
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


def test_a_body_is_ignored_by_an_operation_without_one(sandbox: Sandbox, main: Client) -> None:
    for body in (b"", b"{}", b"[]", b"null", b"not JSON", b"\xff\xfe", b'{"a": 1}'):
        sandbox.reset()
        assert done(main.call("PUT", "/domain/leaving.com/transfer/reject", body)), body


def test_json_under_any_content_type(main: Client) -> None:
    """A body that is JSON is read as JSON, whatever it is called."""
    for number, kind in enumerate(["text/plain", FORM[1], "application/json; charset=utf-8", ""]):
        main.own = [("Content-Type", kind)] if kind else []
        assert done(main.post(f"/domain/new{number}.com", NAME))
    main.own = [JSON]


def test_unknown_keys_are_passed_over(main: Client) -> None:
    """All bodies but a new contact's."""
    assert done(main.post("/customer", {**CUSTOMER, "more": [1]}))
    assert done(main.put("/contact/OWNER", {**CARD, "more": [1], "customer_id": 9}))
    assert done(main.post("/domain/new.com", {**NAME, "more": [1], "domain_name": "New.com."}))
    assert done(main.put("/domain/active.com", {"client_hold": 1, "more": [1]}))
    assert done(main.post(f"{HOST}/new", {"ip": [{"ip": "192.0.2.7", "type": "v4", "more": 1}], "more": [1]}))
    assert done(main.get("/domain/new.com"))
    assert refusal(main.post("/contact/NEW", {**CARD, "more": [1]}))[1] == "Extra param more unknown"


# Forms


def form_of(value: Any, key: str = "") -> list[str]:
    """A JSON value as PHP writes it in a form."""
    items = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else None
    )
    if items is None:
        return [f"{quote_plus(key, safe='[]')}={quote_plus(str(value))}"]
    return [pair for name, inner in items for pair in form_of(inner, f"{key}[{name}]" if key else str(name))]


def test_every_body_has_the_same_effect_as_a_form(make: Make, subtests: pytest.Subtests) -> None:
    as_json, as_form = (make(assume={"v2.request_format": "json_or_form"}) for _ in range(2))
    for operation, ask in WORKS.items():
        if not ask.body:
            continue
        with subtests.test(operation=operation):
            as_json.reset()
            as_form.reset()
            assert done(ask.send(connect(as_json)))
            client = connect(as_form)
            client.own = [FORM]
            assert done(client.call(ask.method, ask.path, "&".join(form_of(ask.body)).encode()))
            assert contents(as_form) == contents(as_json)


def test_an_array_in_a_form_is_counted_or_not_and_in_any_order(make: Make) -> None:
    sandbox = make(profile="observed")
    client = connect(sandbox)
    client.own = [FORM]
    roles = "&".join(f"contact_{role}=MAIN" for role in ("admin", "billing", "registrant", "tech"))
    for ns in (
        "ns[]=ns1.home.net&ns[]=ns2.home.net",
        "ns%5Barray%5D%5B0%5D=ns1.home.net&ns%5Barray%5D%5B1%5D=ns2.home.net",
        "ns[5]=ns2.home.net&ns[2]=ns1.home.net",
    ):
        sandbox.reset()
        assert done(client.post("/domain/new.com", f"{roles}&period=1&{ns}".encode()))
        assert client.get("/domain/new.com").json["data"]["ns"] == TWO


def test_a_malformed_form_is_refused_with_the_problem(make: Make, subtests: pytest.Subtests) -> None:
    client = connect(make(profile="observed"))
    client.own = [FORM]
    for form, problem in [
        (b"\xff=1", "not a form in UTF-8"),
        (b"a=%ff", "not a form in UTF-8"),
        (b"a=1&a=2", "comes twice"),
        (b"a=1&a[b]=2", "comes twice"),
        (b"a[b=1", "no name with parts in brackets"),
        (b"a[b]c=1", "no name with parts in brackets"),
        (b"a[0][0][0][0][0][0][0]=1", "nested too deeply"),
        (b"&".join(b"a%d=1" % n for n in range(1200)), "more than 1000 fields"),
    ]:
        with subtests.test(problem=problem):
            answer = client.post("/customer", form)
            assert refusal(answer)[::2] == (400, "malformed_body")
            assert problem in answer.json["msg"]
