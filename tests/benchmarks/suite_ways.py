"""One way to write a test of ten calls, timed: ``python suite_ways.py WAY PORT``, run where its library is.

For each number that comes in it does so many tests, and prints the median of their milliseconds.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from statistics import median
from time import perf_counter
from typing import Any, TypeVar

API = "https://api.example.test"

#: A name checked, registered, looked at, edited, renewed, and the money for it.
CALLS = (
    ("POST", "/v3/domains/checkAvailability", b'{"domainNames": ["ten-calls.com"]}'),
    ("GET", "/v3/balance", b""),
    ("POST", "/v3/domains/createDomain", b'{"domain": {"domainName": "ten-calls.com"}}'),
    ("GET", "/v3/domains/getDomain/ten-calls.com", b""),
    ("POST", "/v3/domains/setNameservers/ten-calls.com", b'{"nameservers": ["ns1.a.net", "ns2.a.net"]}'),
    ("POST", "/v3/domains/lock/ten-calls.com", b""),
    ("POST", "/v3/domains/unlock/ten-calls.com", b""),
    ("POST", "/v3/domains/renewDomain/ten-calls.com", b""),
    ("GET", "/v3/domains/getDomain/ten-calls.com", b""),
    ("GET", "/v3/balance", b""),
)

#: What a stub answers to any of them.
STUB = {"domain": {f"field{number}": "a value of some length" for number in range(25)}}

#: A test, from its set-up to its last assertion.
Test = Callable[[], None]
Send = Callable[[str, str, dict[str, str], bytes], int]

Client = TypeVar("Client")
Lend = Callable[[], AbstractContextManager[Client]]


@contextmanager
def _lent(make: Callable[[], AbstractContextManager[Client]], each: bool) -> Iterator[Lend[Client]]:
    """Lend each test a client of its own, or all of them the same one."""
    if each:
        yield make
        return
    with make() as client:
        yield lambda: nullcontext(client)


def in_process(library: str, each: bool = False) -> Iterator[Test]:
    """Ours: a fork for each test."""
    from reseller_sandbox import Sandbox

    with Sandbox() as sandbox, _lent(partial(_CLIENTS[library], sandbox, False), each) as client:

        def test() -> None:
            with client() as send:
                _ours(sandbox, API, send)

        yield test


def at_once(library: str, each: bool = False) -> Iterator[Test]:
    """The calls alone, which are signed and answered."""
    from reseller_sandbox import Sandbox

    with Sandbox() as sandbox, _lent(partial(_CLIENTS[library], sandbox, True), each) as client:
        account = sandbox.account()

        def test() -> None:
            with client() as send:
                _called(send, account, API)

        yield test


def by_flasks_client() -> Iterator[Test]:
    """Ours with Flask's test client, which signs by itself."""
    from reseller_sandbox import Sandbox

    with Sandbox() as sandbox:

        def test() -> None:
            with sandbox.fork() as world:
                client = world.client()
                for method, path, body in CALLS:
                    assert client.open(path, method=method, data=body).status_code == 200
                _verify(world)

        yield test


def over_a_socket(library: str) -> Iterator[Test]:
    """Ours on a server, whose worlds are forked and looked at over HTTP as well."""
    from reseller_sandbox import Sandbox, connect

    with Sandbox().serve() as server, connect(server.url) as sandbox, _CLIENTS[library](None, False) as send:
        yield lambda: _ours(sandbox, server.url, send)


def _ours(sandbox: Any, api: str, send: Send) -> None:
    with sandbox.fork() as world:
        _called(send, world.accounts["main"], api)
        _verify(world)


def _called(send: Send, account: Any, api: str) -> None:
    from reseller_sandbox.v3.signing import signed_headers

    for method, path, body in CALLS:
        headers = signed_headers(account.key, account.secret, "X-SVC-", api + path, body)
        assert send(method, api + path, headers, body) == 200


def _verify(world: Any) -> None:
    assert world.names["ten-calls.com"].expires.year == 2028
    assert world.journal.find(limit=0).matching == len(CALLS)


@contextmanager
def _by_httpx(sandbox: Any, stubbed: bool) -> Iterator[Send]:
    import httpx

    from reseller_sandbox.testing import SandboxTransport

    transport: Any = None
    if sandbox is not None:
        stub = json.dumps(STUB).encode()
        given = httpx.MockTransport(lambda request: httpx.Response(200, content=stub))
        transport = given if stubbed else SandboxTransport(sandbox)
    with httpx.Client(transport=transport) as client:
        yield (
            lambda method, url, headers, body: (
                client.request(method, url, headers=headers, content=body).status_code
            )
        )


@contextmanager
def _by_requests(sandbox: Any, stubbed: bool) -> Iterator[Send]:
    import requests
    from requests.adapters import BaseAdapter

    from reseller_sandbox.testing import SandboxAdapter

    class AtOnce(BaseAdapter):
        def send(self, request: Any, *_: Any, **__: Any) -> Any:
            answer = requests.Response()
            answer.status_code, answer.url, answer.request = 200, request.url, request
            return answer

        def close(self) -> None:
            pass

    with requests.Session() as session:
        if sandbox is not None:
            session.mount(API, AtOnce() if stubbed else SandboxAdapter(sandbox))
        yield (
            lambda method, url, headers, body: (
                session.request(method, url, headers=headers, data=body).status_code
            )
        )


_CLIENTS: dict[str, Any] = {"httpx": _by_httpx, "requests": _by_requests}


def respx(each: bool = False) -> Iterator[Test]:
    """A route for each call; that each was called is verified."""
    import httpx
    import respx as library

    with _lent(httpx.Client, each) as lent:

        def test() -> None:
            with lent() as client, library.mock(base_url=API, assert_all_called=True) as mock:
                for method, path, _ in dict.fromkeys(CALLS):
                    mock.route(method=method, path=path).respond(json=STUB)
                for method, path, body in CALLS:
                    assert client.request(method, API + path, content=body).status_code == 200

        yield test


def responses() -> Iterator[Test]:
    """The same for requests."""
    import requests
    import responses as library

    with requests.Session() as session:

        def test() -> None:
            with library.RequestsMock() as mock:
                for method, path, _ in dict.fromkeys(CALLS):
                    mock.add(method, API + path, json=STUB)
                for method, path, body in CALLS:
                    assert session.request(method, API + path, data=body).status_code == 200

        yield test


def httpserver(each: bool = False) -> Iterator[Test]:
    """Expectations in order, on one server for all tests; that each was met is verified."""
    import httpx
    from pytest_httpserver import HTTPServer

    with HTTPServer() as server, _lent(httpx.Client, each) as lent:

        def test() -> None:
            server.clear()
            for method, path, body in CALLS:
                server.expect_ordered_request(path, method=method, data=body).respond_with_json(STUB)
            with lent() as client:
                for method, path, body in CALLS:
                    assert client.request(method, server.url_for(path), content=body).status_code == 200
            server.check()

        yield test


def wiremock(port: int) -> Iterator[Test]:
    """Stubs made with one call, on one server for all tests; the requests are counted there."""
    import httpx

    api, stubs = f"http://127.0.0.1:{port}", []
    for method, path, _ in dict.fromkeys(CALLS):
        stubs.append({"request": {"method": method, "urlPath": path}, "response": {"jsonBody": STUB}})
    with httpx.Client() as client:

        def test() -> None:
            client.post(f"{api}/__admin/reset").raise_for_status()
            client.post(f"{api}/__admin/mappings/import", json={"mappings": stubs}).raise_for_status()
            for method, path, body in CALLS:
                assert client.request(method, api + path, content=body).status_code == 200
            told = client.post(f"{api}/__admin/requests/count", json={"urlPattern": "/v3/.*"}).json()
            assert told["count"] == len(CALLS), told

        yield test


def moto() -> Iterator[Test]:
    """Ten calls of the SDK about a zone of names, in moto's own world."""
    import os

    os.environ |= {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}
    import boto3
    from moto import mock_aws

    client = boto3.client("route53", region_name="us-east-1")

    def test() -> None:
        with mock_aws():
            assert not client.list_hosted_zones()["HostedZones"]
            made = client.create_hosted_zone(Name="ten-calls.com", CallerReference="one")
            zone = made["HostedZone"]["Id"]
            for number in range(3):
                client.get_hosted_zone(Id=zone)
                record = {"Name": f"n{number}.ten-calls.com", "Type": "A", "TTL": 60}
                change = {**record, "ResourceRecords": [{"Value": "192.0.2.1"}]}
                batch = {"Changes": [{"Action": "CREATE", "ResourceRecordSet": change}]}
                client.change_resource_record_sets(HostedZoneId=zone, ChangeBatch=batch)
            client.list_hosted_zones()
            assert len(client.list_resource_record_sets(HostedZoneId=zone)["ResourceRecordSets"]) == 5

    yield test


#: Every way by its name, given the port of a server that it may need.
WAYS: dict[str, Callable[[int], Iterator[Test]]] = {
    "at once, httpx": lambda port: at_once("httpx"),
    "ours in process, httpx": lambda port: in_process("httpx"),
    "at once, requests": lambda port: at_once("requests"),
    "ours in process, requests": lambda port: in_process("requests"),
    "ours in process, Flask's client": lambda port: by_flasks_client(),
    "ours over a socket, httpx": lambda port: over_a_socket("httpx"),
    "ours over a socket, requests": lambda port: over_a_socket("requests"),
    "respx, httpx": lambda port: respx(),
    "responses, requests": lambda port: responses(),
    "pytest-httpserver, httpx": lambda port: httpserver(),
    "WireMock, httpx": wiremock,
    "moto, boto3": lambda port: moto(),
    "at once, httpx, a client each": lambda port: at_once("httpx", each=True),
    "ours in process, httpx, a client each": lambda port: in_process("httpx", each=True),
    "respx, httpx, a client each": lambda port: respx(each=True),
    "pytest-httpserver, httpx, a client each": lambda port: httpserver(each=True),
}

#: Those that need other libraries than the project has.
OTHERS = frozenset(name for name in WAYS if not name.startswith(("at once", "ours")))


def main(way: str, port: str) -> None:
    """Do the tests that are asked for."""
    for test in WAYS[way](int(port)):
        for _ in range(3):
            test()
        print("ready", flush=True)
        for line in sys.stdin:
            taken = []
            for _ in range(int(line)):
                began = perf_counter()
                test()
                taken.append(perf_counter() - began)
            print(median(taken) * 1e3, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
