"""The log of the command line: for people, who see whose request it was and what about, and for programs."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterator
from http.client import HTTPConnection
from queue import Queue
from types import SimpleNamespace
from typing import cast

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.server.logwriter import LogWriter
from reseller_sandbox.server.requestlog import AsJson, LoggedRequest, as_json, as_text
from reseller_sandbox.server.server import Server
from reseller_sandbox.serving import log_line
from reseller_sandbox.v3.signing import signed_headers
from tests.registry import REGISTRY

AT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
CHECK = "/v3/domains/checkAvailability"


class Logged:
    """A server, and the lines that it logs."""

    def __init__(self, sandbox: Sandbox, server: Server) -> None:
        self.sandbox = sandbox
        self.lines = Queue[LoggedRequest]()
        server.log = self.lines.put
        self._port = server.port

    def ask(
        self, target: str, body: object = None, *, signed: bool = True, site: str | None = None
    ) -> LoggedRequest:
        """The line of one request of main's."""
        raw = b"" if body is None else json.dumps(body).encode()
        main = self.sandbox.account()
        url = f"http://127.0.0.1:{self._port}{target}"
        headers = signed_headers(main.key, main.secret, "X-SVC-", url, raw) if signed else {}
        if site is not None:
            headers["Sec-Fetch-Site"] = site
        connection = HTTPConnection("127.0.0.1", self._port, timeout=60)
        connection.request("GET" if body is None else "POST", target, raw, headers)
        connection.getresponse().read()
        connection.close()
        return self.lines.get(timeout=60)


@pytest.fixture(scope="module")
def logged() -> Iterator[Logged]:
    """A sandbox on a port."""
    from reseller_sandbox.assembly import server_of

    sandbox = Sandbox(REGISTRY)
    with server_of(sandbox.app, sandbox.settings, "127.0.0.1", 0) as server:
        told = Logged(sandbox, server)
        with server:
            yield told


def test_a_line_says_whose_request_it_was_and_what_about(logged: Logged) -> None:
    """The account, the names (a few of many) and the fault, beside the operation and what came of it."""
    assert logged.ask("/v3/domains/getDomain/active.com").note == "v3.getDomain ok (main; active.com)"
    many = [f"n{number}.com" for number in range(9)]
    assert logged.ask(CHECK, {"domainNames": many}).note.endswith("(main; n0.com, n1.com, n2.com and 6 more)")
    assert logged.ask("/v3/balance", signed=False).note.startswith("v3.balance credentials_missing: ")
    logged.sandbox.faults.add("error", error="internal_error", name="broken")
    assert logged.ask("/v3/balance").note == "v3.balance internal_error (main; fault broken)"
    logged.sandbox.faults.clear()


SAID = "active.com is registered already."


def test_a_line_says_why_a_request_was_refused(logged: Logged) -> None:
    """In the refusal's own words: of each interface, of control, and where no operation takes the request."""
    line = logged.ask("/v3/domains/createDomain", {"domain": {"domainName": "active.com"}})
    assert line.note == f"v3.createDomain name_taken (main; active.com): {SAID}"
    assert json.loads(as_json(line))["message"] == SAID
    for target, body, told in (
        ("/V2.0/domain/active.com", None, "v2.domain.info token_missing (active.com): "),
        ("/_sandbox/clock/advance", {"by": "soon"}, "control.clock.advance invalid_parameter: by must be "),
        ("/nothing", None, "- unknown_path: "),
    ):
        line = logged.ask(target, body)
        assert line.note.startswith(told)
        assert as_text(line).count("\n") == 0


def test_why_is_told_in_one_line_and_without_secrets(logged: Logged) -> None:
    """Whatever the request makes it say, and no more of it than fits."""
    line = logged.ask("/_sandbox/clock/advance", {"by": "a\n\x1b[31m" + "x" * 500})
    assert as_text(line).isprintable()
    assert len(as_text(line)) < 300
    assert "\n" not in as_json(line)
    secret = {"name": "one", "key": "word-1", "secret": ["word-2"], "token": "word-3", "nothing": "word-2"}
    line = logged.ask("/_sandbox/accounts/word-3", secret)
    assert (line.status, "word-2" in line.note, "word-2" in as_json(line)) == (400, False, False)
    line = logged.ask(
        "/v3/domains/createDomain", {"domain": {"domainName": "active.com"}, "more": "x" * 70_000}
    )
    assert line.note == "v3.createDomain name_taken (main; active.com)"


def test_what_a_fault_answers_with_is_not_told_as_the_refusal(logged: Logged) -> None:
    """The client is told the fault's error, and never learns why its request would have been refused."""
    with logged.sandbox.faults.add("error", error="internal_error", when={"phase": "after"}):
        line = logged.ask("/v3/domains/getDomain/nobodys.com")
    assert line.note == "v3.getDomain internal_error (main; nobodys.com; fault error)"
    assert "message" not in json.loads(as_json(line))


def test_a_line_for_people_fits_a_line(logged: Logged) -> None:
    """Time, status, request, what came of it, and how long it took."""
    line = as_text(logged.ask(f"/v3/balance?x={'y' * 500}"))
    assert re.fullmatch(
        r"\d\d:\d\d:\d\d  200  GET /v3/balance\?x=y+…  v3\.balance ok \(main\)  \d+\.\d ms", line
    )
    assert len(line) < 300


@pytest.mark.parametrize("phase", ["before", "after"])
def test_a_line_tells_no_status_where_there_was_no_answer(logged: Logged, phase: str) -> None:
    """What was answered and then lost on its way is told as it was answered."""
    rule = logged.sandbox.faults.add("reset", when={"phase": phase, "times": 1})
    with rule, pytest.raises(ConnectionResetError):
        logged.ask("/v3/balance")
    line = logged.lines.get(timeout=60)
    assert line.status == (0 if phase == "before" else 200)
    told = "---" if phase == "before" else "200"
    assert f"  {told}  GET /v3/balance  v3.balance fault (main; fault reset)" in as_text(line)


def test_a_line_for_programs_is_json(logged: Logged) -> None:
    """With the same facts by their names, and those that are not there left out."""
    told = json.loads(as_json(logged.ask("/v3/domains/getDomain/active.com")))
    assert AT.fullmatch(told.pop("at"))
    assert told.pop("duration_ms") > 0
    assert told.pop("size") > 100
    assert told.pop("request").startswith("r")
    assert told == {
        "level": "info",
        "method": "GET",
        "target": "/v3/domains/getDomain/active.com",
        "status": 200,
        "operation": "v3.getDomain",
        "outcome": "ok",
        "world": "default",
        "account": "main",
        "domains": ["active.com"],
    }


def test_whatever_else_is_logged_is_json_then() -> None:
    """What loggers say, with its level and trace, and that lines were lost."""
    reading, writing = os.pipe()
    with open(writing, "wb", buffering=0) as file, open(reading, "rb") as told:
        writer = LogWriter(file, form=AsJson())
        record = logging.makeLogRecord({"levelname": "ERROR", "msg": "it %s", "args": ("failed\nbadly",)})
        writer.emit(record)
        writer._lost = 3
        writer.end(5)
        file.close()
        said = [json.loads(line) for line in told]
    assert [(one["level"], one["message"]) for one in said] == [
        ("error", "it failed\nbadly"),
        ("warning", "3 lines of this log could not be written."),
    ]


@pytest.mark.parametrize(
    ("method", "path", "site", "told"),
    [
        ("GET", "/_sandbox/clock", "same-origin", False),
        ("GET", "/_sandbox/page/style.css", "same-origin", False),
        ("GET", "/_sandbox/clock", None, True),
        ("GET", "/", "none", True),
        ("GET", "/_worlds/default@now/v3/balance", "same-origin", False),
        ("POST", "/_sandbox/clock/freeze", "same-origin", True),
        ("GET", "/v3/balance", "same-origin", True),
    ],
)
def test_what_the_page_looks_at_is_no_line_for_people(
    logged: Logged, method: str, path: str, site: str | None, told: bool
) -> None:
    """Each request of a client would drown in what an open page asks for after it; programs get all lines."""
    written: dict[bool, list[str]] = {True: [], False: []}
    line = logged.ask(path, {} if method == "POST" else None, site=site)
    for in_json, lines in written.items():
        log_line(cast(LogWriter, SimpleNamespace(write=lines.append)), in_json, line)
    assert (len(written[False]), len(written[True])) == (told, 1)
