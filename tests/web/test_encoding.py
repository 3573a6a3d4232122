"""Compressed bodies of requests and responses."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.clients import JSON, Answer, Transport, encoded, per_request
from tests.registry import Make, assert_replays, contents

GZIP = ("Content-Encoding", "gzip")
CUSTOMER = {"mail": "new@example.com", "name": "Ann"}


@pytest.fixture(params=["process", "server"])
def call(request: pytest.FixtureRequest, sandbox: Sandbox) -> Any:
    """Sends requests to the sandbox in this process, and over a socket."""
    from tests.clients import InProcess

    if request.param == "process":
        yield InProcess(sandbox.app)
        return
    with sandbox.serve() as server:
        yield per_request(server.url)


def create(call: Transport, sandbox: Sandbox, body: bytes, *headers: tuple[str, str]) -> Answer:
    return call("POST", "/V2.0/customer", [("X-Auth-Token", sandbox.accounts["main"].token), *headers], body)


def test_a_body_in_gzip_has_the_same_effect_as_a_plain_one(call: Transport, sandbox: Sandbox) -> None:
    effects = []
    for body, headers in (
        (encoded(CUSTOMER), [JSON]),
        (gzip.compress(encoded(CUSTOMER)), [JSON, GZIP]),
        (gzip.compress(encoded(CUSTOMER)), [JSON, ("Content-Encoding", "X-GZIP")]),
        (encoded(CUSTOMER), [JSON, ("Content-Encoding", "identity")]),
    ):
        sandbox.reset()
        assert create(call, sandbox, body, *headers).status == 200
        effects.append((contents(sandbox), list(sandbox.journal)[-1].request.body))
        assert_replays(sandbox)
    assert effects == effects[:1] * len(effects)
    assert effects[0][1] == CUSTOMER


def test_a_signature_covers_the_body_before_its_compression(sandbox: Sandbox) -> None:
    body = encoded({"domain": {"domainName": "new.com"}})
    with sandbox.serve() as server:
        account, call = sandbox.accounts["main"], per_request(server.url)
        path = "/v3/domains/createDomain"
        from tests.clients import signature

        words = signature(account.secret, account.key, server.url + path, body)
        own = [("X-SVC-APIKEY", account.key), ("X-SVC-SIGNATURE", words), JSON, GZIP]
        assert call("POST", path, own, gzip.compress(body)).status == 200


@pytest.mark.parametrize(
    ("body", "encoding", "status", "named"),
    [
        (b"{}", "br", 415, "'br' is not supported"),
        (b"{}", "gzip, deflate", 415, "'gzip, deflate' is not supported"),
        (b"{}", "gzip", 415, "is not gzip"),
        (gzip.compress(b"{}", mtime=0)[:-3], "gzip", 415, "incomplete"),
        (gzip.compress(b"{}", mtime=0) * 2, "gzip", 415, "more data follows"),
        (gzip.compress(b" " * 50_000_000, mtime=0), "gzip", 413, "1048576 bytes"),
    ],
)
def test_a_body_that_cannot_be_decoded_is_refused(
    call: Transport, sandbox: Sandbox, body: bytes, encoding: str, status: int, named: str
) -> None:
    before = contents(sandbox)
    answer = create(call, sandbox, body, JSON, ("Content-Encoding", encoding))
    assert answer.status == status
    assert named in answer.json["msg"]
    control = call("POST", "/_sandbox/faults", [JSON, ("Content-Encoding", encoding)], body)
    assert control.status in (status, 400), control.raw
    assert contents(sandbox) == before
    assert_replays(sandbox)


def test_responses_are_in_gzip_if_the_assumption_and_the_client_say_so(
    call: Transport, sandbox: Sandbox
) -> None:
    token = ("X-Auth-Token", sandbox.accounts["main"].token)

    def get(accepted: str) -> Answer:
        return call("GET", "/V2.0/domain/zones/gtld", [token, ("Accept-Encoding", accepted)], b"")

    plain = get("gzip")
    assert "content-encoding" not in plain.headers
    sandbox.assumptions.set({"responses.compression": "gzip"})
    for accepted in ("gzip", "deflate, gzip;q=0.5", "*", "identity;q=0.1, gzip;q=0.2"):
        answer = get(accepted)
        assert (answer.headers["content-encoding"], answer.headers["vary"]) == ("gzip", "Accept-Encoding")
        assert int(answer.headers["content-length"]) == len(answer.raw)
        assert gzip.decompress(answer.raw) == plain.raw
        assert answer.assumptions["responses.compression"] == "gzip"
        assert list(sandbox.journal)[-1].answer.headers["Content-Encoding"] == "gzip"
    for refused in ("", "identity", "gzip;q=0", "br", "gzip;q=0.5, identity;q=1", "gzip;q=0.5, *"):
        answer = get(refused)
        assert (answer.raw, answer.headers["vary"]) == (plain.raw, "Accept-Encoding")
        assert "content-encoding" not in answer.headers
    sandbox.answers.add(path="/own", body="plain text", headers={"vary": "Origin"})
    own = call("GET", "/own", [("Accept-Encoding", "gzip")], b"")
    assert own.headers["vary"] == "Accept-Encoding, Origin"
    assert_replays(sandbox)


def test_client_libraries_decode_responses_in_gzip(make: Make) -> None:
    httpx, requests, urllib3 = map(pytest.importorskip, ("httpx", "requests", "urllib3"))
    sandbox = make(assume={"responses.compression": "gzip"})
    own = {"X-Auth-Token": sandbox.accounts["main"].token, "Accept-Encoding": "gzip"}

    def bodies(base: str) -> list[Any]:
        url = base + "/V2.0/domain/zones/gtld"
        answers = [get(url, headers=own) for get in (httpx.get, requests.get)]
        assert {answer.headers["Content-Encoding"] for answer in answers} == {"gzip"}
        with urllib3.PoolManager() as pool:
            return [*(answer.json() for answer in answers), pool.request("GET", url, headers=own).json()]

    with sandbox.intercept("https://api.example.com"):
        found = bodies("https://api.example.com")
    with sandbox.serve() as server:
        found += bodies(server.url)
    assert found == found[:1] * len(found)
    assert found[0]["status"] is True
