"""Damaged answers: the rest of what can happen to them is in ``tests/faults/test_connection.py``."""

from __future__ import annotations

from http.client import BadStatusLine
from time import monotonic
from typing import Any

import pytest

from reseller_sandbox import Sandbox
from tests.server.conftest import Served

CUTS: list[dict[str, Any]] = [
    {"kind": "reset"},
    {"kind": "close"},
    {"kind": "truncate", "keep": 3},
    {"kind": "truncate", "keep": 3, "reset": True},
    {"kind": "garbage", "text": "!"},
    {"kind": "hang", "seconds": 0},
]


@pytest.mark.parametrize("tls", [False, True])
def test_clients_that_leave_before_damaged_answers_leave_the_log_empty(
    served: Served, tls: bool, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    for rule in CUTS:
        with served.sandbox.faults.add(**rule):
            for _ in range(8):
                client = served.dial(tls=tls)
                client.send(served.signed("GET", "/v3/balance"))
                client.close()
    assert served.dial(tls=tls).ask().status == 200
    assert not caplog.records
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("tls", [False, True])
def test_a_reset_happens_after_half_of_a_large_answer(served: Served, tls: bool) -> None:
    """It overtakes no byte, and takes the place of the farewell under TLS."""
    long = {"kind": "mutate", "path": "[0].balance", "value": "x" * 10_000_000}
    served.sandbox.faults.replace([long, {"kind": "truncate", "reset": True}])
    client = served.dial(tls=tls)
    client.send(served.signed("GET", "/v3/balance"))
    half = int(client.head()[1]["content-length"]) // 2
    assert half >= 5_000_000
    while half > 0:
        half -= len(client.piece())
    assert half == 0
    with pytest.raises(ConnectionResetError):
        client.rest()


def test_without_a_server_a_damaged_answer_is_an_exception_or_shorter(sandbox: Sandbox, subtests) -> None:
    """The application of a sandbox can run under another WSGI server."""
    token = {"X-Auth-Token": sandbox.accounts["main"].token}

    def ask() -> Any:
        return sandbox.app.test_client().get("/V2.0/domain/active.com", headers=token)

    whole = ask().data
    for rule, error in (
        ({"kind": "reset"}, ConnectionResetError),
        ({"kind": "close"}, ConnectionAbortedError),
        ({"kind": "truncate", "reset": True}, ConnectionResetError),
        ({"kind": "garbage"}, BadStatusLine),
        ({"kind": "hang"}, TimeoutError),
    ):
        with subtests.test(rule=rule), sandbox.faults.add(**rule), pytest.raises(error):
            ask().get_data()
    with sandbox.faults.add("truncate", keep=3):
        cut = ask()
        assert (cut.data, cut.headers["Content-Length"]) == (whole[:3], str(len(whole)))
    began = monotonic()
    sandbox.faults.add("latency", seconds=0.02)
    sandbox.faults.add("drip", size=len(whole) // 2, pause=0.02)
    assert ask().data == whole
    assert monotonic() - began >= 0.04
