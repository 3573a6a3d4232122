"""On an address that others can reach, control wants a token or the explicit word that it needs none."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from click.testing import CliRunner

from reseller_sandbox import BadSetting, Sandbox
from reseller_sandbox.cli import main
from tests.clients import Socket
from tests.registry import REGISTRY
from tests.security.conftest import TOKEN, Guarded

LOOPBACK = (
    *("127.0.0.1", "127.1.2.3", "127.1", "2130706433", "0x7f000001", "::1", "::ffff:127.0.0.1"),
    *("localhost", "LocalHost"),
)


def test_an_address_of_this_machine_alone_needs_no_token() -> None:
    """In every spelling of it that the system takes."""
    for host in LOOPBACK:
        with Sandbox(REGISTRY).serve(host=host) as server:
            assert server.port, host


def test_an_address_that_others_can_reach_needs_one() -> None:
    """Also where the address belongs to nobody here."""
    for host in ("", "0.0.0.0", "::", "::ffff:0.0.0.0", "192.0.2.1", "128.0.0.1", "128.1", "3221225985"):
        refused = pytest.raises(BadSetting, match="can be reached from other machines: set a token")
        with refused, Sandbox(REGISTRY).serve(host=host):
            pass


def test_a_host_that_is_none_is_said_to_be_none() -> None:
    """With and without a token."""
    for settings in ([], ["--control-token", "a-long-enough-token"], ["--control-open"]):
        done = CliRunner().invoke(main, ["serve", "--port", "0", "--host", "no.such.host.invalid", *settings])
        assert (done.exit_code, "there is no" in done.output) == (2, True), done.output
        assert "other machines" not in done.output


class TestInPython:
    """``Sandbox.serve``."""

    @pytest.mark.parametrize("host", ["0.0.0.0", ""])
    def test_it_is_refused(self, host: str) -> None:
        """With the two ways out."""
        sandbox = Sandbox(REGISTRY)
        with pytest.raises(BadSetting, match=r"--control-token.*--control-open"), sandbox.serve(host):
            pass

    def test_with_a_token(self, guarded: Callable[..., Guarded]) -> None:
        """Control wants it."""
        at = guarded("0.0.0.0", control_token=TOKEN)
        assert at.send("GET", "/_sandbox/clock").status == 401
        assert at.send("GET", "/_sandbox/clock", X_Sandbox_Token=TOKEN).status == 200

    def test_with_the_word(self, guarded: Callable[..., Guarded]) -> None:
        """Whoever reaches it comes in, by any name; pages of other sites do not."""
        at = guarded("0.0.0.0", control_open=True)
        assert at.send("GET", "/_sandbox/clock").status == 200
        assert at.send("GET", "/_sandbox/clock", Host="build-7.our-company.net").status == 200
        assert at.send("GET", "/_sandbox/clock", Origin="http://evil.example").status == 403


class TestOnTheCommandLine:
    """``reseller-sandbox serve``."""

    def test_it_does_not_start(self) -> None:
        """One line, both ways out, exit status 2."""
        result = CliRunner().invoke(main, ["serve", "--host", "0.0.0.0", "--port", "0"])
        assert result.exit_code == 2
        (line,) = result.stderr.splitlines()
        assert "--control-token" in line
        assert "--control-open" in line
        assert result.stdout == ""

    @pytest.mark.parametrize(
        ("options", "word"),
        [
            (["--control-token", ""], "printable ASCII"),
            (["--control-token", "two words"], "printable ASCII"),
            (["--control-token", TOKEN, "--control-open"], "not both"),
        ],
    )
    def test_a_token_that_makes_no_sense(self, options: list[str], word: str) -> None:
        """Is refused in the same way, on any address."""
        result = CliRunner().invoke(main, ["serve", "--port", "0", *options])
        assert result.exit_code == 2
        (line,) = result.stderr.splitlines()
        assert word in line

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("options", "environment"),
        [
            (["--control-token", TOKEN], {}),
            ([], {"RESELLER_SANDBOX_CONTROL_TOKEN": TOKEN}),
            (["--control-open"], {}),
            ([], {"RESELLER_SANDBOX_CONTROL_OPEN": "1"}),
        ],
    )
    def test_it_starts_with_either(self, options: list[str], environment: dict[str, str]) -> None:
        """By option or by environment; nothing it prints holds the token."""
        command = [
            sys.executable,
            "-m",
            "reseller_sandbox.cli",
            "serve",
            "--host",
            "0.0.0.0",
            "--port",
            "0",
            *options,
        ]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        ) as server:
            assert server.stdout is not None
            first = server.stdout.readline()
            socket = Socket(first.split()[-1])
            locked = socket("GET", "/_sandbox/clock", [], b"").status
            socket.close()
            server.terminate()
            rest, log = server.communicate(timeout=60)
        assert locked == (200 if "OPEN" in str(environment) or "--control-open" in options else 401)
        assert server.returncode == 0
        assert TOKEN not in first + rest + log
