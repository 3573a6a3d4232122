"""The signature of the console's requests: it is correct, and only authenticated callers get it."""

from __future__ import annotations

from itertools import product
from typing import Any

from reseller_sandbox import Sandbox
from tests.registry import REGISTRY

PATH = "/_sandbox/signature"
BALANCE = {"account": "main", "interface": "v3", "target": "/v3/balance"}


def signed(sandbox: Sandbox, **parameters: Any) -> Any:
    return sandbox.app.test_client().post(PATH, json={**BALANCE, **parameters}).json


def test_a_signature_is_correct_by_every_assumption_and_has_no_secret(sandbox: Sandbox) -> None:
    targets = ("/v3/balance?a=1", "/_worlds/default/v3/balance")
    endpoints = ("any", "url", "path", "path_no_query")
    for endpoint, payload, target in product(endpoints, ("any", "raw", "empty_object"), targets):
        sandbox.assumptions.set({"v3.signature.endpoint": endpoint, "v3.signature.payload": payload})
        made = signed(sandbox, target=target)
        answer = sandbox.app.test_client().get(target, headers=made["headers"])
        assert answer.status_code == 200, (endpoint, payload, target)
        assert "".join(made["signed"]).startswith("main-key")
        assert "main-secret" not in str(made)


def test_headers_follow_the_settings(sandbox: Sandbox) -> None:
    sandbox.assumptions.set({"v2.token_headers": ["X-Other"]})
    v2 = signed(sandbox, interface="v2", target="/V2.0/customer")
    assert v2 == {"headers": {"X-Other": "main-token"}, "signed": []}
    v3 = signed(Sandbox(REGISTRY, header_prefix="X-OWN-"))
    assert v3["headers"].keys() == {"X-OWN-APIKEY", "X-OWN-SIGNATURE"}


def test_wrong_input_and_callers_without_the_token_are_refused(sandbox: Sandbox) -> None:
    assert signed(sandbox, account="nobody")["error"] == "unknown_account"
    for wrong in ({"interface": "v4"}, {"key": "x"}, {"body": 7}):
        assert signed(sandbox, **wrong)["error"] == "invalid_parameter", wrong
    client = Sandbox(REGISTRY, control_token="secret").app.test_client()
    assert client.post(PATH, json=BALANCE).json["error"] == "control_token_missing"
    elsewhere = {"Origin": "http://evil.example", "X-Sandbox-Token": "secret"}
    assert client.post(PATH, json=BALANCE, headers=elsewhere).json["error"] == "cross_site"
