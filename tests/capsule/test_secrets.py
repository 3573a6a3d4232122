"""A capsule keeps the sandbox's own secrets, without which nothing replays, and no others."""

from __future__ import annotations

import gzip
from collections.abc import Callable

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


@pytest.mark.parametrize("secret", ["hunter2", "Tr0ub4dor&3", "0000", "aaaa", "žluťoučký-kůň", ""])
def test_a_stand_in_is_like_the_secret(secret: str) -> None:
    """Of the same length, with the same kinds of characters, and another one."""
    made = stand_in(secret) if secret else ""
    assert len(made) == len(secret)
    assert [one.isdigit() for one in made] == [one.isdigit() for one in secret]
    assert [one.isalpha() for one in made] == [one.isalpha() for one in secret]
    assert not secret or made != secret
