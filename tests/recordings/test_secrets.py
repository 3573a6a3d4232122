"""A recording has the secrets of the sandbox, which a replay needs, and no others."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest

from reseller_sandbox import Sandbox, replay
from tests.recordings.recording import lines
from tests.registry import REGISTRY

#: Secrets of other services, each in a place where a client can send it by mistake.
OTHERS = {
    "authorization": "Bearer eyJhbGciOiJIUzI1NiJ9.somebody",
    "cookie": "session=cafe-babe-4711",
    "x-sandbox-token": "control-token-9",
    "x-other-secret": "tr0ub4dor&3",
    "referer": "https://mary:pa55word@shop.example.com/",
}


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    """A sandbox that has received secrets of other services."""
    sandbox = Sandbox(REGISTRY)
    client = sandbox.client()
    client.get("/v3/balance", headers=OTHERS)
    client.get("/v3/balance", headers={"X-SVC-APIKEY": "live-key-0815", "X-SVC-SIGNATURE": "feed" * 16})
    client.get("/V2.0/zones", headers={"X-Auth-Token": "live-token-0816"})
    client.get("/v3/balance?api_token=query-secret-17&page=1")
    for code in ("not-the-code-18", "let-me-in"):
        body = {"domain": {"domainName": "theirs.com"}, "authCode": code, "price": 9.10}
        client.post("/v3/domains/requestTransfer", json=body)
    client.post("/v3/domains/createDomain", data=b'{"password": "broken-json-19"')
    client.post("/V2.0/customer", json={"mail": "a@b.com", "name": "A", "password": "kept-word-20"})
    return sandbox


def test_a_replay_skips_requests_with_masked_secrets_outside_headers(sandbox: Sandbox) -> None:
    """It skips requests with unknown credentials, too."""
    found = replay(sandbox.recording.get().content)
    assert found.difference is None
    unknown = "the credentials of the request are unknown to this world"
    masked = "the request has a masked secret of another service"
    assert found.skipped == {"r2": unknown, "r4": masked, "r5": masked, "r7": masked}
    statuses, again = (
        {entry.id: entry.status for entry in at.journal.find().requests} for at in (sandbox, found.sandbox)
    )
    assert again == {request: status for request, status in statuses.items() if request not in found.skipped}


CODE = "Given-Code-21"

#: Control calls that give a name of another registrar a code.
GIVEN: dict[str, Callable[[Sandbox], object]] = {
    "at once": lambda sandbox: sandbox.simulate.register("new.com", auth_code=CODE),
    "as a fixture would": lambda sandbox: sandbox.names.add("new.com", account="outside", auth_code=CODE),
    "at an instant": lambda sandbox: sandbox.simulate.when("P1D").register("new.com", auth_code=CODE),
    "after a request": lambda sandbox: sandbox.simulate.when(after="v3.*").register(
        "new.com", auth_code=CODE
    ),
}


def test_a_code_of_a_control_call_stays(subtests: pytest.Subtests) -> None:
    for case, give in GIVEN.items():
        with subtests.test(case):
            sandbox = Sandbox(REGISTRY)
            give(sandbox)
            _replays(sandbox)
            sandbox.client().get("/v3/balance")
            sandbox.clock.advance("P61D")
            _replays(sandbox)
            wish = {"domain": {"domainName": "new.com"}, "authCode": CODE}
            sandbox.client().post("/v3/domains/requestTransfer", json=wish)
            sandbox.clock.advance("P6D")
            _replays(sandbox)


def _replays(sandbox: Sandbox) -> None:
    found = replay(sandbox.recording.get().content)
    assert found.identical, found.difference


#: Where a fault and a scheduled action look for a secret of somebody else's: exactly, and by a pattern.
LOOKED_FOR: dict[str, Any] = {
    "a header like": {"headers": {"X-Other-Secret": "tr0ub*"}},
    "a scheme": {"headers": {"Authorization": "Bearer tr0ub4dor-3"}},
    "a user": {"headers": {"Referer": "https://mary:tr0ub4dor-3@shop.example/*"}},
    "the query": {"query": {"api_token": "tr0ub4dor-3"}},
    "the body": {"body": {"password": "tr0ub4dor-3"}},
}


def _statuses(sandbox: Sandbox) -> list[int]:
    """The statuses of requests of which some have a secret of LOOKED_FOR."""
    client, path = sandbox.client(), "/v3/domains/getDomain/active.com"
    headers = {"X-Other-Secret": "tr0ub4dor-3", "Authorization": "Bearer tr0ub4dor-3"}
    headers |= {"Referer": "https://mary:tr0ub4dor-3@shop.example/cart"}
    others = {name: value.replace("tr0ub4dor", "another") for name, value in headers.items()}
    return [
        client.get(path, headers=headers).status_code,
        client.get(path, headers=others).status_code,
        client.get(f"{path}?api_token=tr0ub4dor-3").status_code,
        client.post("/v3/domains/renewDomain/active.com", json={"password": "tr0ub4dor-3"}).status_code,
    ]


def test_a_match_for_a_secret_of_another_service_finds_the_same_requests(subtests: pytest.Subtests) -> None:
    """A replay leaves out the requests that the match may find. The recording does not have the secret."""
    for number, (case, match) in enumerate(LOOKED_FOR.items()):
        with subtests.test(case):
            sandbox = Sandbox(REGISTRY)
            sandbox.faults.add("error", status=599, match=match, when={"phase": "after"})
            sandbox.simulate.when(after=match).adjust_balance("other", by=1)
            if number % 2:
                sandbox.journal.clear()
            assert 599 in _statuses(sandbox)
            content = sandbox.recording.get().content
            assert b"tr0ub4dor" not in gzip.decompress(content)
            found = replay(content)
            assert found.identical, found.difference
            (again,) = found.sandbox.faults.list().faults
            assert (again.matched, again.applied) == (1, 1)
            (scheduled,) = found.sandbox.scheduled.list().scheduled
            assert scheduled.applied is not None
            assert found.sandbox.accounts["other"].balance == sandbox.accounts["other"].balance


def test_a_number_can_be_a_secret() -> None:
    """In any notation. A replay leaves out the request, because the mask is text."""
    for number in ("1e-7", "-5", "0", "123456789012345678901234567890"):
        sandbox, body = Sandbox(REGISTRY), f'{{"password": {number}}}'
        client, path = sandbox.client(), "/v3/domains/renewDomain/active.com"
        client.post(path, data=body, content_type="application/json")
        sandbox.faults.add("error", status=599, match={"body": {"password": json.loads(number)}})
        client.post(path, data=body, content_type="application/json")
        _replays(sandbox)


def test_secrets_of_the_sandbox_and_their_patterns_stay() -> None:
    """Records of the registry are test data, also if they look like secrets."""
    contact: Any = {"name": "Mary", "company": "https://mary:pa55word@shop.example/"}
    for token in ("main-*", "main-token"):
        sandbox = Sandbox(REGISTRY)
        sandbox.accounts.add("extra", key="extra-key", token="extra-token", contact=contact)
        sandbox.faults.add("error", status=599, match={"headers": {"X-Auth-Token": token}})
        headers = {"X-Auth-Token": sandbox.accounts["main"].token}
        assert sandbox.app.test_client().get("/V2.0/domain/active.com", headers=headers).status_code == 599
        _replays(sandbox)


def test_a_recording_has_no_secret_of_the_answer_of_a_fault() -> None:
    sandbox = Sandbox(REGISTRY)
    sandbox.faults.add("error", status=401, body={"token": "live-token-22"})
    assert sandbox.client().get("/v3/balance").json == {"token": "live-token-22"}
    content = sandbox.recording.get().content
    assert b"live-token-22" not in gzip.decompress(content)
    assert replay(content).identical


def test_a_masked_secret_is_no_trace_in_other_words() -> None:
    for secret in ("***", "-", "code", "ä", "0000", "aaaa", "Tr0ub4dor&3"):
        sandbox = Sandbox(REGISTRY)
        sandbox.app.test_client().get("/V2.0/domain/active.com", headers={"X-Auth-Token": secret})
        sandbox.client().delete("/v3/nothing", headers={"X-Other-Secret": secret})
        _replays(sandbox)
        *_, request = [
            step for step in lines(sandbox.recording.get().content) if step.get("step") == "request"
        ]
        assert dict(request["sent"]["headers"])["X-Other-Secret"] == "***"
