"""Refusals as clients and people see them."""

from __future__ import annotations

import json
import re

import pytest

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.documented import document
from tests.registry import edit_name


def test_a_refusal_uses_the_words_of_the_interface(sandbox: Sandbox, api: Api) -> None:
    edit_name(sandbox, "active.com", stage="redemption")
    answer = api.post("/v3/domains/lockUpdate/active.com")
    assert answer.error == "wrong_state"
    assert "where lockUpdate is not possible; possible there: " in answer.message
    why = sandbox.journal.why("r1")
    assert why is not None
    assert why.facts["action"] == "lockUpdate"


def test_an_injected_refusal_leaves_unknown_facts_open(sandbox: Sandbox, api: Api) -> None:
    sandbox.faults.add("error", error="price_mismatch")
    answer = api.post("/v3/domains/createDomain", {"domain": {"domainName": "new.com"}})
    assert answer.message == "purchaseCost is …, but the price of new.com is …."


def test_each_documented_v3_error_can_be_injected(subtests: pytest.Subtests, sandbox: Sandbox) -> None:
    documented = json.dumps(document("v3").content["paths"])
    codes = sorted(set(re.findall(r"\* `(\w+)`: ", documented)))
    assert len(codes) > 40
    client = sandbox.client()
    for code in codes:
        with subtests.test(code=code):
            sandbox.faults.clear()
            sandbox.faults.add("error", error=code)
            answer = client.get("/v3/balance")
            assert answer.status_code >= 400
            assert answer.get_json()["error"] == code
            assert re.search(r"[.…]$", answer.get_json()["message"])
