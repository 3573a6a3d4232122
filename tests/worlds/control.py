"""The control interface as the tests of worlds and journals use it: over a socket, or in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

from reseller_sandbox import Sandbox
from tests.clients import JSON, Answer, Api, InProcess, Socket, Transport, encoded
from tests.documented import document
from tests.registry import connect


class Control:
    """Calls under ``/_sandbox`` of the ``world``. All but ``call`` and ``refused`` must succeed."""

    def __init__(self, transport: Transport, world: str = "") -> None:
        self.transport = transport
        self.prefix = f"/_worlds/{world}" if world else ""

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        target = f"{self.prefix}/_sandbox/{path}"
        answer = self.transport(method, target, [JSON], encoded(body))
        document("control").check(method, target, answer)
        return answer

    def get(self, path: str, /, **query: object) -> Any:
        return self._good(self.call("GET", path + ("?" + urlencode(query) if query else "")))

    def post(self, path: str, body: Any = None) -> Any:
        return self._good(self.call("POST", path, body))

    def delete(self, path: str) -> Any:
        return self._good(self.call("DELETE", path))

    @staticmethod
    def _good(answer: Answer) -> Any:
        assert answer.status in (200, 201), answer.raw
        return answer.json

    def refused(self, method: str, path: str, body: Any = None) -> tuple[int, str, str]:
        """Status, error and message of a call that must be refused."""
        answer = self.call(method, path, body)
        assert answer.status >= 400, answer.raw
        return answer.status, str(answer.error), answer.message


def control(sandbox: Sandbox, world: str = "") -> Control:
    return Control(InProcess(sandbox.app), world)


def enter(transport: Transport, base: str, world: dict[str, Any], account: str = "main") -> Api:
    """The v3 client of an account of a world as control has shown it."""
    held = next(row for row in world["accounts"] if row["name"] == account)
    return Api(transport, base, held["key"], held["secret"])


#: An account's v3 client of a sandbox, or of a fork of one, in this process.
inside = partial(connect, checked=False)


@contextmanager
def over_socket(sandbox: Sandbox) -> Iterator[tuple[str, Socket]]:
    """A sandbox on a real port, and a connection to it."""
    with sandbox.serve() as server:
        socket = Socket(server.url)
        try:
            yield server.url, socket
        finally:
            socket.close()


def whole(sandbox: Sandbox) -> list[Any]:
    """Everything that a change of a world would change."""
    history = sandbox.snapshots.list(), sandbox.branches.list(), sandbox.faults.list()
    return [sandbox.export(), sandbox.journal.list(), sandbox.events.list(), *history]


def holds(api: Api, name: str) -> bool:
    return api.get(f"/v3/domains/getDomain/{name}").status == 200


def register(api: Api, name: str, years: int = 1) -> Answer:
    return api.post("/v3/domains/createDomain", {"domain": {"domainName": name}, "years": years})


def renew(api: Api, name: str, years: int = 1) -> Answer:
    return api.post(f"/v3/domains/renewDomain/{name}", {"years": years})


def money_of(api: Api) -> str:
    """An account's balance as the wire shows it."""
    return str(api.get("/v3/balance").json[0]["balance"])


#: The actions of third parties whose path names an account.
ON_ACCOUNTS = ("credit", "debit", "set_balance")


def _acting(action: str, parameters: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the path and the body that carry out an action of a third party."""
    if action not in ON_ACCOUNTS:
        return f"simulate/{action}", parameters
    body = dict(parameters)
    return f"accounts/{quote(body.pop('account'))}/{action}", body


class Player(Control):
    def act(self, action: str, **parameters: Any) -> Any:
        return self.post(*_acting(action, parameters))

    def failure(self, action: str, **parameters: Any) -> str:
        """Return the error of an action that must be refused."""
        return self.refused("POST", *_acting(action, parameters))[1]

    def advance(self, **parameters: Any) -> Any:
        return self.post("clock/advance", parameters)

    def scheduled(self) -> list[Any]:
        return list(self.get("scheduled")["scheduled"])
