"""The control token: what wants it, what does not, and where it never shows."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reseller_sandbox import BadSetting, Sandbox
from tests.clients import Api
from tests.registry import REGISTRY
from tests.security.conftest import TOKEN, Guarded, closed
from tests.security.test_browsers import filled

CLOSED = [row for row in closed() if row != ("GET", "/_sandbox/health")]


@pytest.mark.parametrize(("method", "path"), CLOSED)
def test_every_operation_wants_it(tokened: Guarded, method: str, path: str) -> None:
    """Without it 401, with another 403; the world stays as it is."""
    moment = tokened.sandbox.world.moment
    missing = tokened.send(method, filled(path))
    assert (missing.status, missing.error) == (401, "control_token_missing")
    assert "X-Sandbox-Token" in missing.message
    wrong = tokened.send(method, filled(path), X_Sandbox_Token="another")
    assert (wrong.status, wrong.error) == (403, "control_token_wrong")
    assert tokened.sandbox.world.moment == moment


@pytest.mark.parametrize("token", ["", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "töken", f"{TOKEN},{TOKEN}"])
def test_nothing_near_it_will_do(tokened: Guarded, token: str) -> None:
    """Nor nothing at all."""
    assert tokened.send("POST", "/_sandbox/history/reset", X_Sandbox_Token=token).status in (401, 403)


def test_it_opens_everything(tokened: Guarded) -> None:
    """Also a world by its path."""
    assert tokened.send("POST", "/_sandbox/clock/freeze", X_Sandbox_Token=TOKEN).status == 200
    assert tokened.send("GET", "/_worlds/default/_sandbox/health", X_Sandbox_Token=TOKEN).status == 200


def test_health_is_open_to_whoever_watches(tokened: Guarded) -> None:
    """That of the server, not that of a world somebody might guess at."""
    assert tokened.send("GET", "/_sandbox/health").json["status"] == "ok"
    assert tokened.send("GET", "/_worlds/default/_sandbox/health").status == 401


def test_credentials_of_a_world_give_no_access(tokened: Guarded) -> None:
    """An account may spend its money, not move its clock."""
    held = tokened.sandbox.account()
    api = Api(tokened.socket, tokened.url, held.key, held.secret)
    assert api.get("/v3/balance").status == 200
    answer = api.call("POST", "/_sandbox/clock/advance", {"by": "P1D"}, [("X-Auth-Token", held.token)])
    assert (answer.status, answer.error) == (401, "control_token_missing")
    for secret in (held.secret, held.token, held.key):
        assert tokened.send("GET", "/_sandbox/clock", X_Sandbox_Token=secret).status == 403


def test_it_is_not_wanted_elsewhere(tokened: Guarded) -> None:
    """The API has its own credentials, and does not care for this one."""
    answer = tokened.send("GET", "/v3/balance", X_Sandbox_Token=TOKEN)
    assert answer.error == "credentials_missing"


def test_it_shows_nowhere(
    tokened: Guarded, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Not in answers, not in the settings as they are printed, not in what is logged."""
    answers = [
        tokened.send("GET", path, X_Sandbox_Token=token)
        for path in ("/_sandbox/health", "/_sandbox/assumptions", "/_sandbox/advice", "/_sandbox/nothing")
        for token in (TOKEN, "another")
    ]
    assert not any(TOKEN in answer.raw.decode() or TOKEN in str(answer.headers) for answer in answers)
    assert TOKEN not in repr(tokened.sandbox.settings)
    assert TOKEN not in caplog.text + "".join(capfd.readouterr())


@pytest.mark.parametrize("token", ["", "two words", "line\nbreak", "töken"])
def test_what_no_header_could_carry_is_no_token(token: str) -> None:
    """One would never get in."""
    with pytest.raises(BadSetting, match="printable ASCII"):
        Sandbox(REGISTRY, control_token=token)


def test_a_token_and_the_word_that_none_is_needed(guarded: Callable[..., Guarded]) -> None:
    """Contradict each other."""
    with pytest.raises(BadSetting, match="not both"):
        Sandbox(REGISTRY, control_token=TOKEN, control_open=True)
