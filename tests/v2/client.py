"""The v2.0 interface as one account sees it; each answer is held against the served document."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reseller_sandbox import Sandbox
from tests.clients import JSON, Answer, InProcess, Transport, encoded
from tests.documented import UNMATCHED, document

REGISTRY = Path(__file__).parent / "registry.yaml"

_VERSION = re.compile(r"^.*?/[Vv][0-9]+\.[0-9]+/")

FORM = ("Content-Type", "application/x-www-form-urlencoded")


@dataclass
class Client:
    """Sends requests with an account's token; paths are without their version."""

    transport: Transport
    token: str
    version: str = "V2.0"
    prefix: str = ""
    own: list[tuple[str, str]] = field(default_factory=lambda: [JSON])
    checked: bool = True

    def call(
        self, method: str, path: str, body: Any = None, headers: Iterable[tuple[str, str]] | None = None
    ) -> Answer:
        """Send a request; ``headers`` stand in place of the token and the content type."""
        sent = [("X-Auth-Token", self.token), *self.own] if headers is None else list(headers)
        target = f"{self.prefix}/{self.version}{path}"
        answer = self.transport(method, target, sent, encoded(body))
        if self.checked:
            check(method, target, answer)
        return answer

    def get(self, path: str) -> Answer:
        return self.call("GET", path)

    def post(self, path: str, body: Any = None) -> Answer:
        return self.call("POST", path, body)

    def put(self, path: str, body: Any = None) -> Answer:
        return self.call("PUT", path, body)

    def delete(self, path: str) -> Answer:
        return self.call("DELETE", path)


def connect(sandbox: Sandbox, account: str = "main") -> Client:
    return Client(InProcess(sandbox.app), sandbox.accounts[account].token)


def check(method: str, target: str, answer: Answer) -> None:
    """Assert the answer's content type, and that the document knows its status and its shape under that."""
    assert answer.headers["content-type"] == "application/json; charset=utf-8", answer.headers
    path = _VERSION.sub("/{version}/", target.partition("?")[0])
    served = document("v2", answer)
    operation = served.operation(method, path)
    if operation is None or method == "HEAD" or _rule(answer) in UNMATCHED:
        return
    assert str(answer.status) in operation["responses"], f"{path} does not document {answer.raw!r}"
    served.validate(operation, answer.status, answer.json)


def _rule(answer: Answer) -> str:
    """The name of the rule (or of the fault) behind a refusal."""
    explanation = answer.headers.get("x-sandbox-fault") or answer.headers.get("x-sandbox-refusal", "")
    return explanation.partition(":")[0]


def refusal(answer: Answer) -> tuple[int, str, str]:
    """A refusal's code and message, and the name of the rule (or of the fault) behind it."""
    body = answer.json
    assert set(body) == {"code", "msg", "status"}, body
    assert answer.status == body["code"]
    rule = _rule(answer)
    assert body["status"] is (rule == "customer_has_orders")
    return body["code"], body["msg"], rule


def done(answer: Answer) -> Any:
    """The answer's body, which must be a success."""
    assert answer.status == 200, answer.raw
    assert answer.json.get("status") is not False, answer.raw
    return answer.json
