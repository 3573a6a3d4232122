"""A sandbox on which a request is tried again and again: in any state, under any assumptions."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import unquote_to_bytes

import yaml
from msgspec import Struct
from msgspec.structs import replace
from werkzeug.test import run_wsgi_app

from reseller_sandbox import fixture
from reseller_sandbox.core.assumptions import Assumptions
from reseller_sandbox.core.clock import WorldClock
from reseller_sandbox.core.model import Account
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.server.wsgi import environ_key
from reseller_sandbox.settings import USUAL_URL
from reseller_sandbox.tools.calibrate.exchanges import ObservedExchange
from reseller_sandbox.tools.calibrate.values import UNSEEN, token_headers
from reseller_sandbox.v3.signing import sign
from reseller_sandbox.web.headers import ASSUMPTIONS
from reseller_sandbox.worlds import Moment

_HOST = USUAL_URL.partition("//")[2]

#: The account that all requests are taken to come from.
ACCOUNT: Mapping[str, Any] = {
    "client_id": 1001,
    "key": "calibrating-key",
    "secret": "calibrating-secret",
    "token": "calibrating-token",
    "balance": "1000000.00",
    "contact": {
        "name": "Ann Account",
        "address": "1 Main Street",
        "city": "Kyiv",
        "region": "Kyiv",
        "company": "Works",
        "zip": "01001",
        "country": "UA",
        "phone": "+380.441234567",
        "fax": "+380.441234568",
        "mail": "ann@example.com",
    },
    "nameservers": ["ns1.example.net", "ns2.example.net"],
}

_ACCOUNTS: Mapping[str, Any] = {"main": ACCOUNT}

#: What a request may come with: what lets it in, what does not, nothing.
RIGHT, WRONG, NONE = "right", "wrong", "none"


class TriedAnswer(Struct, frozen=True):
    """An answer of the sandbox, the assumptions that it rests on, and what it was about."""

    status: int
    answer: Any
    rests_on: Sequence[str]
    operation: str
    names: tuple[str, ...]


class Bench:
    """Tries requests, in scenes or, with a fixture to ``start`` with, in what becomes of that."""

    #: The moment that it starts with.
    begin: Moment

    def __init__(self, start: str = "") -> None:
        self._defaults = Assumptions()
        if start:
            self._sandbox = Sandbox(start, journal=1, frozen=True)
            self.begin = replace(self._sandbox.world.moment, assumptions=self._defaults)
        else:
            self._sandbox = Sandbox("empty", journal=1)
            moment = self.moment({"accounts": _ACCOUNTS}, self._sandbox.clock.now)
            assert moment is not None
            self._sandbox.world.moment = self.begin = moment
        known = sorted(self.begin.state.accounts.values(), key=lambda one: one.client_id)
        self._accounts = [one for one in known if one.key]  # the other registrars have none
        self._sandbox.world.when_credentials_change = None  # which all scenes share

    def moment(self, scene: Mapping[str, Any], at: datetime) -> Moment | None:
        """Return the moment that a scene, which is a fixture, describes; None where no world can be so."""
        try:
            seed = fixture.loads(scene, now=at)
        except fixture.FixtureError:
            return None
        return Moment(seed.state, WorldClock(seed.now), self._defaults)

    @property
    def moment_now(self) -> Moment:
        """The moment that the last request has led to."""
        return self._sandbox.world.moment

    def ask(
        self, one: ObservedExchange, moment: Moment, values: Mapping[str, Any], credentials: str = RIGHT
    ) -> TriedAnswer:
        """Return what the sandbox answers to the request of an exchange."""
        world = self._sandbox.world
        world.moment = replace(moment, assumptions=self._defaults.with_values(values))
        chunks, status, headers = run_wsgi_app(
            self._sandbox.app, _environment(one, credentials, self._who(one))
        )
        raw = b"".join(chunks)
        entry = world.journal.entries[-1]
        told = headers.get(ASSUMPTIONS, "")
        rests_on = [pair.partition("=")[0] for pair in told.split(", ") if pair]
        return TriedAnswer(
            int(status.partition(" ")[0]),
            json.loads(raw) if raw else None,
            [name for name in rests_on if name not in UNSEEN],
            entry.operation,
            entry.domains,
        )

    def _who(self, one: ObservedExchange) -> Account:
        """Return the account whose credential a request carries, if that tells, or else the first one."""
        sent = one.credentials
        return next(
            (each for each in self._accounts if each.key in sent or each.token in sent), self._accounts[0]
        )


def is_locked_out(one: ObservedExchange) -> bool:
    """Whether the service has not let a request in."""
    return isinstance(one.refusal, str) and one.refusal in _LOCKED_OUT


#: What says that a request was not let in, in either generation.
_LOCKED_OUT = frozenset(
    ("credentials_missing", "unknown_key", "signature_mismatch", "Token not found", "Authorization failed")
)


def _environment(one: ObservedExchange, credentials: str, account: Account) -> dict[str, Any]:
    path, _, query = one.target.partition("?")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": one.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
        "QUERY_STRING": query,
        "REQUEST_URI": one.target,
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": _HOST.rpartition(":")[2],
        "SERVER_PROTOCOL": "HTTP/1.1",
        "HTTP_HOST": _HOST,
        "CONTENT_TYPE": one.headers.get("content-type", "application/json" if one.body else ""),
        "CONTENT_LENGTH": str(len(one.body)),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(one.body),
        "wsgi.errors": io.StringIO(),
        "wsgi.multithread": False,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    for name, value in _credentials(one, credentials, account):
        environ[environ_key(name)] = value
    return environ


def _credentials(one: ObservedExchange, credentials: str, account: Account) -> Iterator[tuple[str, str]]:
    if credentials == NONE:
        return
    wrong = credentials == WRONG
    if one.target.startswith("/v3"):
        text = f"{account.key}{USUAL_URL}".encode() + one.target.encode("latin-1", "replace") + one.body
        yield "X-SVC-APIKEY", "somebody-else" if wrong else account.key
        yield "X-SVC-SIGNATURE", sign(account.secret, text).decode()
        return
    for name in token_headers(one) or ["X-Auth-Token"]:
        yield name, "somebody-elses" if wrong else account.token


def zones_of(name_or_path: str) -> dict[str, Any]:
    """Return the zones of a fixture as it writes them. Raise ``FixtureError``."""
    seed = fixture.load(fixture.find(name_or_path))
    zones: dict[str, Any] = yaml.safe_load(fixture.dumps(seed.state, seed.now))["zones"]
    return zones
