"""A request says which host it is for, once and rightly, or it is refused in the shape of its interface."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import signature
from tests.registry import REGISTRY

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
    "a port that is none": ["127.0.0.1:http"],
    "two ports": ["127.0.0.1:80:80"],
    "half an address": ["[::1"],
    "raw bytes": ["\xe9.example"],
}


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[Sandbox, int]]:
    sandbox = Sandbox(REGISTRY)
    with sandbox.serve() as served:
        yield sandbox, served.port


def ask(port: int, target: str, hosts: list[str], version: str = "1.1", *more: str) -> tuple[int, Any]:
    """Status and body of what a GET with these Host headers is answered."""
    lines = [f"GET {target} HTTP/{version}", *(f"Host: {host}" for host in hosts), *more]
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall("\r\n".join([*lines, "Connection: close", "", ""]).encode("latin-1"))
        head, _, body = b"".join(iter(lambda: client.recv(65536), b"")).partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


@pytest.mark.parametrize("target", [V3, CONTROL, NOWHERE, f"http://127.0.0.1{V3}"])
@pytest.mark.parametrize("hosts", WRONG.values(), ids=WRONG)
def test_a_wrong_host_is_refused(server: tuple[Sandbox, int], target: str, hosts: list[str]) -> None:
    """Also in front of a target that names a host itself."""
    status, body = ask(server[1], target, hosts)
    assert (status, body["error"]) == (400, "invalid_host")
    assert body["message"].startswith("The request has ")


@pytest.mark.parametrize("hosts", WRONG.values(), ids=WRONG)
def test_v2_refuses_it_in_its_own_shape(server: tuple[Sandbox, int], hosts: list[str]) -> None:
    """With a code, a message and a status in the body."""
    status, body = ask(server[1], V2, hosts)
    assert (status, body["code"], body["status"]) == (400, 400, False)
    assert body["msg"].startswith("The request has ")


def test_a_target_in_absolute_form_names_the_host(server: tuple[Sandbox, int]) -> None:
    """Whatever the header says: for control, which no foreign name may reach, and for what is signed."""
    sandbox, port = server
    for named, header, expected in (
        ("localhost", "evil.example.com", (200, None)),
        ("LOCALHOST:80", "evil.example.com", (200, None)),
        ("evil.example.com", "localhost", (403, "foreign_host")),
        ("evil.example.com:80", "localhost", (403, "foreign_host")),
        ("", "localhost", (400, "invalid_host")),
        ("user@evil.example.com", "localhost", (400, "invalid_host")),
        ("localhost:80@evil.example.com", "localhost", (400, "invalid_host")),
        ("localhost,evil.example.com", "localhost", (400, "invalid_host")),
    ):
        status, body = ask(port, f"http://{named}/_sandbox/clock", [header])
        assert (status, body.get("error")) == expected, named
    account = sandbox.account()
    for named, status in (("shop.example", 200), ("else.example", 401)):
        signed = signature(account.secret, account.key, f"http://shop.example{V3}", b"")
        sent = f"X-SVC-APIKEY: {account.key}", f"X-SVC-SIGNATURE: {signed}"
        assert ask(port, f"http://{named}{V3}", ["else.example"], "1.1", *sent)[0] == status


def test_it_stands_in_the_journal(server: tuple[Sandbox, int]) -> None:
    """As whatever is not let in."""
    sandbox, port = server
    sandbox.reset()
    ask(port, V3, [])
    ask(port, NOWHERE, ["a", "b"])
    assert [entry.outcome for entry in sandbox.world.journal] == ["invalid_host"] * 2


@pytest.mark.parametrize("target", [V3, CONTROL, NOWHERE])
def test_http_1_0_may_lack_it(server: tuple[Sandbox, int], target: str) -> None:
    """It is older than the header; it may not say it twice."""
    assert ask(server[1], target, [], "1.0")[1].get("error") != "invalid_host"
    assert ask(server[1], target, ["a", "b"], "1.0")[1]["error"] == "invalid_host"


@pytest.mark.parametrize(
    "host",
    ["", "127.0.0.1", "127.0.0.1:8053", "[::1]:8053", "a_b.example.", "xn--e1afmkfd.test:", "LOCALHOST"],
)
def test_hosts_in_any_form_there_is_are_taken(server: tuple[Sandbox, int], host: str) -> None:
    """What is signed is whatever was sent."""
    sandbox, port = server
    held = sandbox.account()
    signed = signature(held.secret, held.key, f"http://{host}{V3}", b"")
    sent = (f"X-SVC-APIKEY: {held.key}", f"X-SVC-SIGNATURE: {signed}")
    assert ask(port, V3, [host], "1.1", *sent)[0] == 200
