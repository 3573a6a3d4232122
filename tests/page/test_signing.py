"""What signs the console's requests: whom it serves, and what it tells."""

from __future__ import annotations

from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.registry import REGISTRY

PATH = "/_sandbox/signature"


def _signed(sandbox: Sandbox, **told: str) -> Any:
    asked = {"account": "main", "interface": "v3", "target": "/v3/balance", **told}
    return sandbox.app.test_client().post(PATH, json=asked).json


@pytest.mark.parametrize("endpoint", ["any", "url", "path", "path_no_query"])
@pytest.mark.parametrize("payload", ["any", "raw", "empty_object"])
@pytest.mark.parametrize("target", ["/v3/balance", "/v3/balance?a=1", "/_worlds/default/v3/balance"])
def test_what_it_signs_is_let_in(sandbox: Sandbox, endpoint: str, payload: str, target: str) -> None:
    """Whatever is assumed of the string that is signed; the string is told, and the secret is not."""
    sandbox.assumptions.set({"v3.signature.endpoint": endpoint, "v3.signature.payload": payload})
    told = _signed(sandbox, target=target)
    answer = sandbox.app.test_client().get(target, headers=told["headers"])
    assert answer.status_code == 200
    assert "".join(told["signed"]).startswith("main-key")
    assert "main-secret" not in str(told)


def test_the_other_generation_has_its_token(sandbox: Sandbox) -> None:
    """In the header that the assumptions name."""
    sandbox.assumptions.set({"v2.token_headers": ["X-Other"]})
    assert _signed(sandbox, interface="v2", target="/V2.0/customer") == {
        "headers": {"X-Other": "main-token"},
        "signed": [],
    }


def test_headers_have_the_prefix_of_the_server() -> None:
    """As clients of that server send them."""
    assert _signed(Sandbox(REGISTRY, header_prefix="X-OWN-"))["headers"].keys() == {
        "X-OWN-APIKEY",
        "X-OWN-SIGNATURE",
    }


@pytest.mark.parametrize(
    ("told", "error"),
    [
        ({"account": "nobody"}, "unknown_account"),
        ({"interface": "v4"}, "invalid_parameter"),
        ({"key": "x"}, "invalid_parameter"),
        ({"body": 7}, "invalid_parameter"),
    ],
)
def test_bad_input_is_refused(sandbox: Sandbox, told: Any, error: str) -> None:
    """With what is wrong."""
    assert _signed(sandbox, **told)["error"] == error


def test_it_serves_nobody_without_the_token() -> None:
    """It is control's as any power is, and no part of the page that everybody may load."""
    client = Sandbox(REGISTRY, control_token="secret").app.test_client()
    asked = {"account": "main", "interface": "v3", "target": "/v3/balance"}
    assert client.post(PATH, json=asked).json["error"] == "control_token_missing"
    elsewhere = {"Origin": "http://evil.example", "X-Sandbox-Token": "secret"}
    assert client.post(PATH, json=asked, headers=elsewhere).json["error"] == "cross_site"
