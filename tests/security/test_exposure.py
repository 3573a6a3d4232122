"""On an address that others can reach, control wants a token or the explicit word that it needs none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reseller_sandbox import BadSetting, Sandbox
from tests.clients import Socket
from tests.registry import REGISTRY
from tests.security.conftest import TOKEN, Guarded, refusal, serving

LOOPBACK = (
    *("127.0.0.1", "127.1.2.3", "127.1", "2130706433", "0x7f000001", "::1", "::ffff:127.0.0.1"),
    *("localhost", "LocalHost"),
)


def test_an_address_of_this_machine_alone_needs_no_token() -> None:
    for host in LOOPBACK:
        with Sandbox(REGISTRY).serve(host=host) as server:
            assert server.port, host


def test_an_address_that_other_machines_reach_needs_a_token() -> None:
    for host in ("", "0.0.0.0", "::", "::ffff:0.0.0.0", "192.0.2.1", "128.0.0.1", "128.1", "3221225985"):
        refused = pytest.raises(
            BadSetting, match=r"reached from other machines.*--control-token.*--control-open"
        )
        with refused, Sandbox(REGISTRY).serve(host=host):
            pass


def test_control_is_guarded_on_a_public_address(guarded: Callable[..., Guarded]) -> None:
    at = guarded("0.0.0.0", control_token=TOKEN)
    assert at.send("GET", "/_sandbox/clock").status == 401
    assert at.send("GET", "/_sandbox/clock", X_Sandbox_Token=TOKEN).status == 200
    at = guarded("0.0.0.0", control_open=True)
    assert at.send("GET", "/_sandbox/clock").status == 200
    assert at.send("GET", "/_sandbox/clock", Host="build-7.our-company.net").status == 200
    assert at.send("GET", "/_sandbox/clock", Origin="http://evil.example").status == 403


def test_the_command_line_refuses_to_start_without_a_guard() -> None:
    for options, *words in (
        (["--host", "0.0.0.0"], "--control-token", "--control-open"),
        (["--host", "no.such.host.invalid"], "does not exist"),
        (["--control-token", "two words"], "printable ASCII"),
        (["--control-token", TOKEN, "--control-open"], "cannot be combined"),
    ):
        line = refusal("serve", "--port", "0", *options)
        assert all(word in line for word in words), line


@pytest.mark.slow
@pytest.mark.parametrize(("option", "status"), [(f"--control-token={TOKEN}", 401), ("--control-open", 200)])
def test_the_command_line_starts_with_a_guard_and_prints_no_token(option: str, status: int) -> None:
    with serving("--host", "0.0.0.0", "--port", "0", option) as text:
        socket = Socket(text.splitlines()[0].split()[-1])
        assert socket("GET", "/_sandbox/clock", [], b"").status == status
        socket.close()
