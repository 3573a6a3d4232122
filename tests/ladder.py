"""Ladders: requests that are corrected step by step, so that each check refuses them in its order.

A ladder begins with a request that is wrong in every way that its operation can refuse. A rung is a tuple:
the expected refusal, which changes nothing, and the corrections after which the next check refuses. Other
steps are corrections. At the top the request succeeds.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import reseller_sandbox
from reseller_sandbox import Sandbox
from tests.clients import Answer, InProcess, Transport
from tests.registry import contents, edit, edit_name

BIG = b"x" * ((1 << 20) + 1)
PREMIUM = {"registration": "500.00", "renewal": "300.00", "transfer": "200.00"}
LEAVING = {"to": "other", "requested": "-1d"}

Correction = Any

REFERENCE = Path(reseller_sandbox.__file__).parent / "manual" / "reference"

#: The refusals of every operation.
COMMON = {
    *("invalid_host", "body_too_large", "unknown_world", "credentials_missing", "unknown_key"),
    *("signature_mismatch", "version_not_served", "token_missing", "unknown_token", "unsupported_encoding"),
}


@cache
def declared(interface: str) -> dict[str, list[str]]:
    """Return the refusals of each operation, in the order in which the reference declares its checks."""
    page = REFERENCE / f"operations-{interface}.md"
    sections = re.split(r"^## ", page.read_text("utf-8"), flags=re.MULTILINE)[1:]
    rows = [
        (section, re.search(r"^This operation can refuse with .*$", section, re.M)) for section in sections
    ]
    return {
        section.partition("\n")[0]: re.findall(r"\(errors\.md#(\w+)\)", row[0]) if row else []
        for section, row in rows
    }


def in_declared_order(visited: Iterable[str], operation: str) -> None:
    """Assert that a climb met each refusal that the operation declares, at its declared place."""
    expected = declared(operation.partition(".")[0])[operation]
    met = list(dict.fromkeys(rule for rule in visited if rule not in COMMON))
    missing, more = set(expected) - set(met), set(met) - set(expected)
    remedy = f"give each a rung in the ladder of {operation}, at the place of its check"
    assert met == expected, f"not on the ladder: {missing} ({remedy}); not declared: {more}"


class Climb(ABC):
    """A request that is corrected step by step, and the rules of the refusals that it has met."""

    #: How many items of a rung say which refusal is expected.
    expects: ClassVar[int]
    #: What stands before the name in a path.
    before_name: ClassVar[str]

    def __init__(self, sandbox: Sandbox, method: str, path: str, *, has_body: bool) -> None:
        self.sandbox = sandbox
        self.wire: Transport = InProcess(sandbox.app)
        self.method, self.path, self.has_body = method, path, has_body
        self.prefix, self.host = "/_worlds/nowhere", "no host"
        self.body: Any = {}
        self.raw: bytes | None = BIG
        self.encoding = "br"
        self.visited: list[str] = []

    @abstractmethod
    def send(self) -> Answer: ...

    @abstractmethod
    def met(self, answer: Answer) -> tuple[str, ...]:
        """Return which refusal an answer is."""

    def climb(self, steps: Iterable[Any]) -> None:
        for step in steps:
            rung = isinstance(step, tuple)
            if rung:
                before = contents(self.sandbox)
                met = self.met(self.send())
                assert met == step[: self.expects], f"after {self.visited}: {met}"
                assert contents(self.sandbox) == before
                self.visited.append(met[0])
            for correction in step[self.expects :] if rung else [step]:
                self.correct(correction)

    def correct(self, correction: Correction) -> None:
        """Set the path, the name in the path, or the raw body, or change the fixture or anything else."""
        if isinstance(correction, bytes):
            self.raw = correction
        elif isinstance(correction, dict):
            edit(self.sandbox, correction)
        elif callable(correction):
            correction(self)
        elif correction.startswith("/"):
            self.path = correction
        else:
            self.path = re.sub(rf"^({self.before_name})[^/]+", rf"\g<1>{correction}", self.path)


def request(**attributes: Any) -> Correction:
    """Set attributes of the request."""
    return lambda climb: climb.__dict__.update(deepcopy(attributes))


def body(**changes: Any) -> Correction:
    """Change keys of the body, or of the domain in it that has them. None removes a key."""

    def correct(climb: Climb) -> None:
        domain = climb.body.get("domain")
        for key, value in changes.items():
            changed = domain if isinstance(domain, dict) and key in domain else climb.body
            changed[key] = value
            if value is None:
                del changed[key]

    return correct


def host(label: str) -> Correction:
    """Ask about another host."""
    return lambda climb: setattr(
        climb, "path", re.sub("(glueRecords/[^/]+|/host)/[^/]+", rf"\g<1>/{label}", climb.path)
    )


def name(domain: str, **changes: Any) -> Correction:
    """Change keys of a name's fixture entry."""
    return lambda climb: edit_name(climb.sandbox, domain, **changes)


def balance(amount: str) -> Correction:
    return lambda climb: climb.sandbox.accounts.set_balance("main", amount)


def assume(assumption: str, value: str) -> Correction:
    return lambda climb: climb.sandbox.assumptions.set({assumption: value})


def zone(suffix: str, **changes: Any) -> Correction:
    """Change keys of a zone's fixture entry. None removes a key."""
    return {"zones": {suffix: changes}}


def transfer(domain: str, transfer: dict[str, str] | None = None) -> Correction:
    """Begin a transfer of a name, or end it."""
    return {"transfers": {domain: transfer}}
