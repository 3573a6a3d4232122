"""Limits of orders, generated auth codes, and the facts and words of refusals."""

from __future__ import annotations

from datetime import timedelta

import pytest

from reseller_sandbox import Refused, Sandbox
from tests.clients import Api
from tests.registry import edit, edit_name


def test_transfer_adds_a_year_beyond_the_longest_term(sandbox: Sandbox, api: Api) -> None:
    body = {"domain": {"domainName": "far.com"}, "authCode": "let-me-in"}
    assert api.post("/v3/domains/requestTransfer", {**body, "years": 2}).error == "period_too_long"
    why = sandbox.journal.why("r1")
    assert why is not None
    assert why.facts["limit"] == 1
    assert api.post("/v3/domains/requestTransfer", {**body, "years": 1}).json["status"] == "pending"


def test_a_third_party_action_can_be_scheduled_for_now_but_not_for_the_past(sandbox: Sandbox) -> None:
    now = sandbox.clock.now
    with pytest.raises(Refused, match="already"):
        sandbox.simulate.when(at=now - timedelta(seconds=1)).register("planned.com")
    assert sandbox.simulate.when(at=now).register("planned.com").scheduled is not None
    first = sandbox.clock.advance(until="next").events[0]
    assert (first.at, first.event) == (now, "register")


def generated_codes(sandbox: Sandbox, seed: str) -> list[str]:
    """Register ten names in a world with ``seed``. Return their auth codes."""
    sandbox.reset(original=True)
    edit(sandbox, {"seed": seed})
    for number in range(10):
        body = {"domain": {"domainName": f"n{number}.com"}}
        sandbox.client().post("/v3/domains/createDomain", json=body)
    return [sandbox.names[f"n{number}.com"].auth_code for number in range(10)]


def test_auth_codes_are_equal_for_equal_seeds_and_differ_otherwise(sandbox: Sandbox) -> None:
    codes = generated_codes(sandbox, "one")
    assert codes == generated_codes(sandbox, "one")
    assert not set(codes) & set(generated_codes(sandbox, "two"))
    assert len(set(codes)) == 10


def test_refusal_uses_the_words_of_the_interface(sandbox: Sandbox, api: Api) -> None:
    edit_name(sandbox, "active.com", stage="redemption")
    answer = api.post("/v3/domains/lockUpdate/active.com")
    assert answer.error == "wrong_state"
    assert "where lockUpdate is not possible. Possible actions: " in answer.message
    why = sandbox.journal.why("r1")
    assert why is not None
    assert why.facts["action"] == "lockUpdate"
    sandbox.faults.add("error", error="price_mismatch")
    answer = api.post("/v3/domains/createDomain", {"domain": {"domainName": "new.com"}})
    assert answer.message == "purchaseCost is …, but the price of new.com is …."
