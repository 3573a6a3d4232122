"""The log of ``serve``: lines for people, and JSON for programs."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

import pytest

from reseller_sandbox import connect
from tests.clients import signature
from tests.command import PROGRAM
from tests.registry import REGISTRY
from tests.security.conftest import TOKEN, serving

CHECK = "/v3/domains/checkAvailability"
CREATE = "/v3/domains/createDomain"
ACTIVE, NOBODYS = "/v3/domains/getDomain/active.com", "/v3/domains/getDomain/nobodys.com"


class LogRecord:
    """A server, and the lines that it logs."""

    def __init__(self, form: str) -> None:
        command = [PROGRAM, "serve", "--port", "0", "--fixture", str(REGISTRY), "--frozen", "--log", form]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        if form == "json":
            self.started = json.loads(self.line())
            self.url = self.started["url"]
        else:
            self.url = self.process.stdout.readline().split()[-1]
        self.sandbox = connect(self.url)
        self.account = self.sandbox.accounts["main"]
        assert "accounts" in self.line()

    def line(self) -> str:
        """Wait for the next line and return it."""
        assert self.process.stderr is not None
        return self.process.stderr.readline().rstrip("\n")

    def ask(self, target: str, body: Any = None, *, signed: bool = True, site: str = "") -> str:
        """Send a request of main's, and return the next line."""
        self.send(target, body, signed=signed, site=site)
        return self.line()

    def send(self, target: str, body: Any = None, *, signed: bool = True, site: str = "") -> None:
        raw = b"" if body is None else json.dumps(body).encode()
        headers = {"Sec-Fetch-Site": site} if site else {}
        if signed:
            words = signature(self.account.secret, self.account.key, f"{self.url}{target}", raw)
            headers |= {"X-SVC-APIKEY": self.account.key, "X-SVC-SIGNATURE": words}
        connection = HTTPConnection(str(urlsplit(self.url).hostname), urlsplit(self.url).port, timeout=60)
        connection.request("GET" if body is None else "POST", target, raw, headers)
        with suppress(OSError, HTTPException):
            connection.getresponse().read()
        connection.close()

    @contextmanager
    def fault(self, kind: str, **rule: Any) -> Iterator[None]:
        """Place a fault for the time of the context."""
        self.sandbox.faults.add(kind, **rule)
        assert "control.faults" in self.line()
        yield
        self.sandbox.faults.clear()
        assert "control.faults" in self.line()


def _served(form: str) -> Iterator[LogRecord]:
    logged = LogRecord(form)
    yield logged
    logged.sandbox.close()
    logged.process.send_signal(signal.SIGTERM)
    logged.process.communicate(timeout=60)


@pytest.fixture(scope="module")
def text() -> Iterator[LogRecord]:
    """A server that logs lines for people."""
    yield from _served("text")


@pytest.fixture(scope="module")
def programs() -> Iterator[LogRecord]:
    """A server that logs JSON."""
    yield from _served("json")


def test_a_log_line_has_the_account_the_domains_and_the_outcome_of_a_request(text: LogRecord) -> None:
    line = text.ask(f"/v3/balance?x={'y' * 500}")
    assert re.fullmatch(
        r"\d\d:\d\d:\d\d  200  GET /v3/balance\?x=y+…  v3\.balance ok \(main\)  \d+\.\d ms", line
    )
    assert len(line) < 300
    assert "  v3.getDomain ok (main; active.com)  " in text.ask(ACTIVE)
    line = text.ask(CHECK, {"domainNames": [f"n{number}.com" for number in range(9)]})
    assert "(main; n0.com, n1.com, n2.com and 6 more)" in line
    assert "v3.balance credentials_missing: " in text.ask("/v3/balance", signed=False)
    for phase, status in (("before", "---"), ("after", "200")):
        with text.fault("reset", when={"phase": phase, "times": 1}):
            line = text.ask("/v3/balance")
        assert f"  {status}  GET /v3/balance  v3.balance fault (main; fault reset)" in line


def test_a_log_line_has_the_message_of_a_refusal_and_no_secret(text: LogRecord, programs: LogRecord) -> None:
    message, body = "active.com is already registered.", {"domain": {"domainName": "active.com"}}
    assert f"v3.createDomain name_taken (main; active.com): {message}" in text.ask(CREATE, body)
    assert json.loads(programs.ask(CREATE, body))["message"] == message
    for target, sent, part in (
        ("/V2.0/domain/active.com", None, "v2.domain.info token_missing (active.com): "),
        ("/_sandbox/clock/advance", {"by": "soon"}, "control.clock.advance invalid_parameter: by must be "),
        ("/nothing", None, "- unknown_path: "),
        ("/_sandbox/clock/advance", {"by": "a\n\x1b[31m" + "x" * 500}, "control.clock.advance"),
    ):
        line = text.ask(target, sent)
        assert part in line
        assert line.isprintable()
        assert len(line) < 300
    secret = {"name": "one", "key": "word-1", "secret": ["word-2"], "token": "word-3", "nothing": "word-2"}
    for logged in (text, programs):
        line = logged.ask("/_sandbox/accounts/word-3", secret)
        assert "400" in line
        assert "word-2" not in line


def test_a_log_line_has_the_fault_but_not_the_refusal_that_the_fault_hides(
    text: LogRecord, programs: LogRecord
) -> None:
    """The client never learns why its request would have been refused."""
    for logged in (text, programs):
        with logged.fault("error", error="internal_error", when={"phase": "after"}, name="broken"):
            line = logged.ask(NOBODYS)
        assert "internal_error" in line
        assert "domain_not_found" not in line
        assert "not held" not in line
        assert '"message"' not in line
        assert logged is programs or "v3.getDomain internal_error (main; nobodys.com; fault broken)" in line


def test_a_json_log_line_has_the_fields_of_a_text_line(programs: LogRecord) -> None:
    line = json.loads(programs.ask(ACTIVE))
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line.pop("at"))
    assert line.pop("duration_ms") > 0
    assert line.pop("size") > 100
    assert line.pop("request").startswith("r")
    assert line == {
        **{"level": "info", "method": "GET", "target": ACTIVE, "status": 200, "domains": ["active.com"]},
        **{"operation": "v3.getDomain", "outcome": "ok", "world": "default", "account": "main"},
    }


def test_a_server_with_a_json_log_prints_only_json_from_start_to_stop() -> None:
    logged = LogRecord("json")
    assert logged.started.pop("at")
    assert logged.started == {
        **{"level": "info", "event": "started", "url": logged.url, "tls_url": None, "state_file": None},
        "fixture": str(REGISTRY),
    }
    logged.sandbox.close()
    logged.process.send_signal(signal.SIGTERM)
    out, err = logged.process.communicate(timeout=60)
    assert out == ""
    assert json.loads(err.splitlines()[-1])["event"] == "stopped"


def test_a_server_that_other_machines_can_reach_prints_no_secret() -> None:
    options = ("--port", "0", "--host", "0.0.0.0", "--control-token", TOKEN, "--fixture", str(REGISTRY))
    with serving(*options) as shown:
        assert "Credentials are not shown, because other machines can reach this server." in shown
        assert "main     1001       10000.00 USD" in shown
        for word in ("main-key", "main-secret", "main-token"):
            assert word not in shown


def test_the_text_log_omits_read_requests_of_the_page(text: LogRecord, programs: LogRecord) -> None:
    """They would drown the requests of clients."""
    for method, path, site, shown in (
        ("GET", "/_sandbox/clock", "same-origin", False),
        ("GET", "/_sandbox/page/style.css", "same-origin", False),
        ("GET", "/_sandbox/clock", "", True),
        ("GET", "/", "none", True),
        ("GET", "/_worlds/default@now/v3/balance", "same-origin", False),
        ("POST", "/_sandbox/clock/freeze", "same-origin", True),
        ("GET", "/v3/balance", "same-origin", True),
    ):
        body: Any = {} if method == "POST" else None
        text.send(path, body, site=site)
        line = text.ask("/v3/marker")
        assert (f"{method} {path}  " in line) is shown, line
        if shown:
            assert "/v3/marker" in text.line()
        assert json.loads(programs.ask(path, body, site=site))["target"] == path
