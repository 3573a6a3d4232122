"""The control token: the operations that require it, and where it never shows."""

from __future__ import annotations

import pytest

from reseller_sandbox import BadSetting, Sandbox
from tests.clients import Api
from tests.registry import REGISTRY
from tests.security.conftest import TOKEN, Guarded, closed, digest, filled


def test_every_operation_but_health_requires_the_token(tokened: Guarded, subtests) -> None:
    before = digest(tokened.sandbox)
    for method, path in closed():
        if path == "/_sandbox/health":
            continue
        with subtests.test(method=method, path=path):
            missing = tokened.send(method, filled(path))
            assert (missing.status, missing.error) == (401, "control_token_missing")
            assert "X-Sandbox-Token" in missing.message
            wrong = tokened.send(method, filled(path), X_Sandbox_Token="another")
            assert (wrong.status, wrong.error) == (403, "control_token_wrong")
    assert digest(tokened.sandbox) == before
    assert tokened.send("GET", "/_sandbox/health").json["status"] == "ok"
    assert tokened.send("GET", "/_worlds/default/_sandbox/health").status == 401
    assert tokened.send("GET", "/_worlds/default/_sandbox/health", X_Sandbox_Token=TOKEN).status == 200
    assert tokened.send("POST", "/_sandbox/clock/freeze", X_Sandbox_Token=TOKEN).status == 200


def test_other_tokens_and_credentials_of_accounts_give_no_access(tokened: Guarded) -> None:
    for token in ("", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "töken", f"{TOKEN},{TOKEN}"):
        assert tokened.send("POST", "/_sandbox/history/reset", X_Sandbox_Token=token).status in (401, 403)
    account = tokened.sandbox.accounts["main"]
    api = Api(tokened.socket, tokened.url, account.key, account.secret)
    assert api.get("/v3/balance").status == 200
    answer = api.call("POST", "/_sandbox/clock/advance", {"by": "P1D"}, [("X-Auth-Token", account.token)])
    assert (answer.status, answer.error) == (401, "control_token_missing")
    for secret in (account.secret, account.token, account.key):
        assert tokened.send("GET", "/_sandbox/clock", X_Sandbox_Token=secret).status == 403
    assert tokened.send("GET", "/v3/balance", X_Sandbox_Token=TOKEN).error == "credentials_missing"


def test_the_token_shows_nowhere(
    tokened: Guarded, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    answers = [
        tokened.send("GET", path, X_Sandbox_Token=token)
        for path in ("/_sandbox/health", "/_sandbox/assumptions", "/_sandbox/advice", "/_sandbox/nothing")
        for token in (TOKEN, "another")
    ]
    assert not any(TOKEN in answer.raw.decode() or TOKEN in str(answer.headers) for answer in answers)
    assert TOKEN not in repr(tokened.sandbox.settings) + repr(tokened.sandbox)
    assert TOKEN not in caplog.text + "".join(capfd.readouterr())


def test_a_token_that_no_header_can_carry_is_refused() -> None:
    for token in ("", "two words", "line\nbreak", "töken"):
        with pytest.raises(BadSetting, match="printable ASCII"):
            Sandbox(REGISTRY, control_token=token)
    with pytest.raises(BadSetting, match="cannot be combined"):
        Sandbox(REGISTRY, control_token=TOKEN, control_open=True)
