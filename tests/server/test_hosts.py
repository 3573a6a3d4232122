"""A request names its host exactly once and correctly, or is refused in the shape of its interface."""

from __future__ import annotations

from tests.clients import Answer, signature
from tests.server.conftest import Served

#: A path of each interface, and of none.
V3, V2, CONTROL, NOWHERE = "/v3/balance", "/V2.0/customer/1", "/_sandbox/health", "/nowhere"

WRONG = {
    "none": [],
    "two": ["127.0.0.1", "127.0.0.1"],
    "two that differ": ["127.0.0.1", "evil.example"],
    "a space": ["a b"],
    "a path": ["127.0.0.1/x"],
    "two in one": ["127.0.0.1, evil.example"],
    "a user": ["user@127.0.0.1"],
    "a port that is no number": ["127.0.0.1:http"],
    "two ports": ["127.0.0.1:80:80"],
    "half an address": ["[::1"],
    "raw bytes": ["\xe9.example"],
}


def get(served: Served, target: str, hosts: list[str], *more: str, version: str = "1.1") -> Answer:
    lines = [f"GET {target} HTTP/{version}", *(f"Host: {host}" for host in hosts), *more, "", ""]
    return served.dial().ask("\r\n".join(lines).encode("latin-1"))


def signed(served: Served, url: str) -> tuple[str, str]:
    account = served.sandbox.accounts["main"]
    words = signature(account.secret, account.key, url, b"")
    return f"X-SVC-APIKEY: {account.key}", f"X-SVC-SIGNATURE: {words}"


def test_a_wrong_host_is_refused_by_each_interface_and_has_an_entry(served: Served, subtests) -> None:
    for case, hosts in WRONG.items():
        for target in (V3, V2, CONTROL, NOWHERE, f"http://127.0.0.1{V3}"):
            with subtests.test(case, target=target):
                answer = get(served, target, hosts)
                assert answer.status == 400
                if target == V2:
                    assert (answer.json["code"], answer.json["status"]) == (400, False)
                    assert answer.json["msg"].startswith("The request has ")
                else:
                    assert answer.error == "invalid_host"
                    assert answer.message.startswith("The request has ")
    assert {entry.outcome for entry in served.sandbox.journal} == {"invalid_host"}


def test_a_target_in_absolute_form_names_the_host_and_overrides_the_header(served: Served) -> None:
    for named, header, status, error in (
        ("localhost", "evil.example.com", 200, None),
        ("LOCALHOST:80", "evil.example.com", 200, None),
        ("evil.example.com", "localhost", 403, "foreign_host"),
        ("evil.example.com:80", "localhost", 403, "foreign_host"),
        ("", "localhost", 400, "invalid_host"),
        ("user@evil.example.com", "localhost", 400, "invalid_host"),
        ("localhost:80@evil.example.com", "localhost", 400, "invalid_host"),
        ("localhost,evil.example.com", "localhost", 400, "invalid_host"),
    ):
        answer = get(served, f"http://{named}/_sandbox/clock", [header])
        assert (answer.status, answer.error) == (status, error), named
    headers = signed(served, f"http://shop.example{V3}")
    for named, status in (("shop.example", 200), ("else.example", 401)):
        assert get(served, f"http://{named}{V3}", ["else.example"], *headers).status == status


def test_http_1_0_accepts_no_host_and_refuses_two(served: Served) -> None:
    for target in (CONTROL, NOWHERE):
        client = served.dial()
        assert client.ask(f"GET {target} HTTP/1.0\r\n\r\n".encode()).error != "invalid_host"
        assert client.rest() == b""
        assert get(served, target, ["a", "b"], version="1.0").error == "invalid_host"


def test_a_host_in_any_valid_form_is_accepted_and_signed_as_sent(served: Served) -> None:
    for host in (
        *("", "127.0.0.1", "127.0.0.1:8053", "[::1]:8053", "a_b.example.", "xn--e1afmkfd.test:", "LOCALHOST"),
    ):
        assert get(served, V3, [host], *signed(served, f"http://{host}{V3}")).status == 200, host
