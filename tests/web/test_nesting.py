"""Bodies nested too deeply: refused by every interface, and harmless in the journal of a world."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from reseller_sandbox import Sandbox
from tests.clients import JSON, Answer, InProcess
from tests.registry import assert_replays, connect

MOST = 64
DEPTHS = [MOST, MOST + 1, 300, 500, 950, 20_000]


def nested(levels: int, *, key: str = "") -> bytes:
    """An object of so many levels, with arrays or objects inside."""
    opening, closing = (b'{"%s":' % key.encode(), b"}") if key else (b"[", b"]")
    return b'{"a":' + opening * (levels - 1) + b"1" + closing * (levels - 1) + b"}"


@pytest.mark.parametrize("key", ["", "authCode"])
@pytest.mark.parametrize("levels", DEPTHS)
def test_json_has_at_most_64_levels(sandbox: Sandbox, levels: int, key: str) -> None:
    body, call = nested(levels, key=key), InProcess(sandbox.app)
    v3, v2 = connect(sandbox, checked=False), [("X-Auth-Token", sandbox.accounts["main"].token), JSON]
    bad = [
        v3.call("POST", "/v3/domains/createDomain", body),
        call("PUT", "/V2.0/customer/1", v2, body),
        *(
            call("POST", f"/_sandbox/{path}", [JSON], body)
            for path in ("faults", "clock/advance", "answers", "history/load", "simulate/register")
        ),
    ]
    nowhere = [call("POST", path, [JSON], body) for path in ("/nowhere", "/v3/nowhere", "/_sandbox/nowhere")]
    unsigned = call("POST", "/v3/domains/createDomain", [("X-SVC-APIKEY", "test"), JSON], body)
    query = call("GET", f"/_sandbox/journal?limit={quote(body[5:4000])}", [], b"")
    assert {answer.status for answer in nowhere} == {404}
    assert all(400 <= answer.status < 500 for answer in (*bad, query))
    assert unsigned.status in (400, 401, 403)
    assert all((f"{MOST} levels" in message(answer)) == (levels > MOST) for answer in bad)
    for path in ("journal?limit=100", "history/export", "recording", "advice"):
        assert call("GET", f"/_sandbox/{path}", [], b"").status == 200, path
    assert_replays(sandbox)


def message(answer: Answer) -> str:
    return str(answer.json.get("message") or answer.json["msg"])
