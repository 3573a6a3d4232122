"""A capsule keeps the sandbox's own secrets, without which nothing replays, and no others."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest

from reseller_sandbox import Sandbox, replay
from reseller_sandbox.capsule.secrets import stand_in
from tests.registry import REGISTRY

#: Secrets of somebody else, each where a client could have put it.
OTHERS = {
    "authorization": "Bearer eyJhbGciOiJIUzI1NiJ9.somebody",
    "cookie": "session=cafe-babe-4711",
    "x-sandbox-token": "control-token-9",
    "x-other-secret": "tr0ub4dor&3",
    "referer": "https://mary:pa55word@shop.example.com/",
}


@pytest.fixture(scope="module")
def sandbox() -> Sandbox:
    """A sandbox that was sent what it should not have been sent."""
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


def test_secrets_of_others_are_not_in_it(sandbox: Sandbox) -> None:
    """In headers, queries and bodies, nor in the answers that repeat them."""
    text = gzip.decompress(sandbox.capsule.get().content).decode()
    found = (
        *("eyJhbGci", "cafe-babe", "control-token-9", "tr0ub4dor", "pa55word", "live-key-0815"),
        *("live-token-0816", "query-secret-17", "not-the-code-18", "broken-json-19"),
    )
    assert [one for one in found if one in text] == []


def test_what_stands_for_them_gives_the_same_answers(sandbox: Sandbox) -> None:
    """All of it replays, signed anew where what was signed has changed, but for a body that is not JSON."""
    found = replay(sandbox.capsule.get().content)
    assert found.difference is None
    assert found.beyond == {"r7": "a secret was taken out of its body, which is not JSON"}
    again = {one.id: one.status for one in found.sandbox.world.journal}
    assert again == {one.id: one.status for one in sandbox.world.journal if one.id != "r7"}


def test_its_own_stay(sandbox: Sandbox) -> None:
    """Credentials of its accounts, and the codes of names that a request shows."""
    text = gzip.decompress(sandbox.capsule.get().content).decode()
    assert "main-key" in text
    assert "let-me-in" in text


CODE = "Given-Code-21"

#: How somebody at the controls lets another registrar hold a name under a code of their choice.
GIVEN: dict[str, Callable[[Sandbox], object]] = {
    "at once": lambda sandbox: sandbox.outside.register("new.com", auth_code=CODE),
    "as a fixture would": lambda sandbox: sandbox.names.add("new.com", account="outside", auth_code=CODE),
    "at an instant": lambda sandbox: sandbox.outside.when("P1D").register("new.com", auth_code=CODE),
    "after a request": lambda sandbox: sandbox.outside.when(after="v3.*").register("new.com", auth_code=CODE),
    "in vain": lambda sandbox: sandbox.outside.when("P1D").register("active.com", auth_code=CODE),
}


@pytest.mark.parametrize("give", GIVEN.values(), ids=GIVEN)
def test_a_code_given_at_the_controls_is_its_own(give: Callable[[Sandbox], object]) -> None:
    """While it waits in a plan, while a name has it, and when the name has gone and got another one."""
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
    found = replay(sandbox.capsule.get().content)
    assert found.identical, found.difference


#: Where a fault and a plan look for a secret of somebody else's: exactly, and by a pattern.
LOOKED_FOR: dict[str, Any] = {
    "a header": {"headers": {"X-Other-Secret": "tr0ub4dor-3"}},
    "a header like": {"headers": {"X-Other-Secret": "tr0ub*"}},
    "a scheme": {"headers": {"Authorization": "Bearer tr0ub4dor-3"}},
    "a scheme like": {"headers": {"authorization": "Bearer tr?ub4dor-*"}},
    "a user": {"headers": {"Referer": "https://mary:tr0ub4dor-3@shop.example/*"}},
    "the query": {"query": {"api_token": "tr0ub4dor-3"}},
    "the body": {"body": {"password": "tr0ub4dor-3"}},
    "deep in the body": {"body": {"customer": {"password": "tr0ub4*"}}},
}


def _looked_for(sandbox: Sandbox) -> list[int]:
    """The statuses of requests of which some have what is looked for."""
    client, path = sandbox.client(), "/v3/domains/getDomain/active.com"
    headers = {
        "X-Other-Secret": "tr0ub4dor-3",
        "Authorization": "Bearer tr0ub4dor-3",
        "Referer": "https://mary:tr0ub4dor-3@shop.example/cart",
    }
    others = {name: value.replace("tr0ub4dor", "another") for name, value in headers.items()}
    body = {"password": "tr0ub4dor-3", "customer": {"password": "tr0ub4dor-3"}}
    return [
        client.get(path, headers=headers).status_code,
        client.get(path, headers=others).status_code,
        client.get(f"{path}?api_token=tr0ub4dor-3").status_code,
        client.post("/v3/domains/renewDomain/active.com", json=body).status_code,
    ]


@pytest.mark.parametrize("match", LOOKED_FOR.values(), ids=LOOKED_FOR)
@pytest.mark.parametrize("late", [False, True], ids=["from the beginning", "later on"])
def test_what_looks_for_a_secret_of_others_finds_the_same_requests(match: Any, late: bool) -> None:
    """The capsule has neither the secret nor a difference, whether it has the call or the state after it."""
    sandbox = Sandbox(REGISTRY)
    sandbox.faults.add("error", status=599, match=match, when={"phase": "after"})
    sandbox.outside.when(after=match).adjust_balance("other", by=1)
    if late:
        sandbox.journal.clear()
    assert 599 in _looked_for(sandbox)
    content = sandbox.capsule.get().content
    assert b"tr0ub4dor" not in gzip.decompress(content)
    found = replay(content)
    assert found.identical, found.difference
    (again,) = found.sandbox.faults.list().faults
    assert (again.matched, again.struck) == (1, 1)
    (plan,) = found.sandbox.plans.list().plans
    assert plan.struck is not None
    assert found.sandbox.accounts["other"].balance == sandbox.accounts["other"].balance


@pytest.mark.parametrize("number", ["1e-7", "1e30", "-5", "12.50", "0", "123456789012345678901234567890"])
def test_a_number_may_pass_for_a_secret(number: str) -> None:
    """Another number stands for it, whatever it is written like."""
    sandbox, body = Sandbox(REGISTRY), f'{{"password": {number}}}'
    sandbox.client().post("/v3/domains/renewDomain/active.com", data=body, content_type="application/json")
    sandbox.faults.add("error", status=599, match={"body": {"password": json.loads(number)}})
    sandbox.client().post("/v3/domains/renewDomain/active.com", data=body, content_type="application/json")
    _replays(sandbox)


def test_what_the_registry_is_told_stays_whatever_it_looks_like() -> None:
    """It is test data, as all that is in the registry."""
    sandbox = Sandbox(REGISTRY)
    contact: Any = {"name": "Mary", "company": "https://mary:pa55word@shop.example/"}
    sandbox.accounts.add("extra", key="extra-key", token="extra-token", contact=contact)
    _replays(sandbox)


@pytest.mark.parametrize("token", ["*", "main-*", "main-token"])
def test_a_pattern_of_its_own_secrets_stays(token: str) -> None:
    """It says nothing of anybody else's."""
    sandbox = Sandbox(REGISTRY)
    sandbox.faults.add("error", status=599, match={"headers": {"X-Auth-Token": token}})
    own = sandbox.account("main").token
    answer = sandbox.app.test_client().get("/V2.0/domain/active.com", headers={"X-Auth-Token": own})
    assert answer.status_code == 599
    _replays(sandbox)


def test_a_secret_that_a_fault_answers_with_is_not_in_it() -> None:
    """Nor in the answers that clients got."""
    sandbox = Sandbox(REGISTRY)
    sandbox.faults.add("error", status=401, body={"token": "live-token-22"})
    assert sandbox.client().get("/v3/balance").json == {"token": "live-token-22"}
    content = sandbox.capsule.get().content
    assert b"live-token-22" not in gzip.decompress(content)
    assert replay(content).identical


@pytest.mark.parametrize("token", ["***", "-", "wrong", "code", "ä", "token"])
def test_whatever_passes_for_a_secret_replays(token: str) -> None:
    """What is hidden already stays so, and a word that answers have in other words is no trace of it."""
    sandbox = Sandbox(REGISTRY)
    sandbox.app.test_client().get("/V2.0/domain/active.com", headers={"X-Auth-Token": token})
    sandbox.client().delete("/v3/nothing", headers={"X-Other-Secret": token})
    _replays(sandbox)


@pytest.mark.parametrize("secret", ["hunter2", "Tr0ub4dor&3", "0000", "aaaa", "žluťoučký-kůň", "ä", ""])
def test_a_stand_in_is_like_the_secret(secret: str) -> None:
    """Of the same length, with the same kinds of characters, and another one."""
    made = stand_in(secret) if secret else ""
    assert len(made) == len(secret)
    assert [one.isdigit() for one in made] == [one.isdigit() for one in secret]
    assert [one.isalpha() for one in made] == [one.isalpha() for one in secret]
    assert not secret or made != secret
