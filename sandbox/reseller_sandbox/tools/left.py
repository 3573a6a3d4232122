"""What a run has left in its world: names, money, requests and advice, for invariants to look at; a file."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from reseller_sandbox.advice.finding import Severity
from reseller_sandbox.core.names import normalise
from reseller_sandbox.core.refusals import Refused
from reseller_sandbox.settings import BadSetting

if TYPE_CHECKING:
    from reseller_sandbox.advice.finding import Finding
    from reseller_sandbox.powers.journal import RequestRecord
    from reseller_sandbox.powers.registry import NameRecord
    from reseller_sandbox.sandbox import Sandbox
    from reseller_sandbox.tools.running import Ended

#: What is paid once and not again: a year of a name, in the words of the ledger.
PURPOSES = ("registration", "renewal", "restore", "transfer")

#: The most of each that is read of a world.
MOST = 10_000


class Paid(NamedTuple):
    """What was paid for: an account's registration of a name, say."""

    account: str
    name: str
    purpose: str

    def __str__(self) -> str:
        """Return it in words."""
        return f"the {self.purpose} of {self.name}"


class Holding(Struct, frozen=True):
    """A name as an account has it."""

    stage: str
    expires: datetime
    autorenew: bool
    privacy: bool
    flags: tuple[str, ...]
    nameservers: tuple[str, ...]


class Left(Struct, frozen=True):
    """What a run has left: each name that it was about, what it paid and did not get back, what it asked.

    ``names`` are by account and name, and None where the account has no such name.
    """

    ended: Ended
    requests: tuple[RequestRecord, ...]
    names: Mapping[tuple[str, str], Holding | None]
    paid: Mapping[Paid, tuple[Decimal, ...]]
    findings: tuple[Finding, ...]

    @property
    def of_money(self) -> list[Finding]:
        """What advice says of money."""
        return [one for one in self.findings if one.severity == Severity.MONEY]


def in_a_line(finding: Finding) -> str:
    """Return a finding as reports tell it."""
    return f"{finding.rule}: {finding.summary}"


def left_in(world: Sandbox, ended: Ended) -> Left:
    """Return what a run that has ``ended`` has left in its world."""
    requests = world.journal.find(limit=MOST).requests
    about = {
        (one.account, normalise(name)) for one in requests if one.account is not None for name in one.domains
    }
    names = {key: _holding(world, *key) for key in sorted(about)}
    return Left(
        ended, requests, names, _paid(world, {one.id for one in requests}), world.advice.list().findings
    )


def _holding(world: Sandbox, account: str, name: str) -> Holding | None:
    try:
        found: NameRecord = world.names.get(name, account=account)
    except Refused:
        return None
    return Holding(
        stage=str(found.stage),
        expires=found.expires,
        autorenew=found.autorenew,
        privacy=found.privacy,
        flags=tuple(sorted(map(str, found.flags))),
        nameservers=tuple(sorted(found.nameservers)),
    )


def _paid(world: Sandbox, requests: Collection[str]) -> dict[Paid, tuple[Decimal, ...]]:
    """Return the charges of these requests that were not refunded."""
    movements = world.ledger.find(limit=MOST).entries
    refunded = {one.refunds for one in movements}
    paid: dict[Paid, tuple[Decimal, ...]] = {}
    for one in movements:
        kept = one.kind == "charge" and one.request in requests and one.id not in refunded
        if kept and one.domain and one.purpose in PURPOSES:
            key = Paid(one.account, normalise(one.domain), one.purpose)
            paid[key] = (*paid.get(key, ()), -one.amount)
    return paid


def kept(world: Sandbox, folder: Path, name: str) -> str:
    """Write a world's capsule under a name; return the file. Raise ``BadSetting`` where that cannot be."""
    file = folder / re.sub(r"[^\w.=-]+", "_", f"{name}.capsule")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        world.capsule.write(file)
    except OSError as problem:
        raise BadSetting(f"{file}: {problem.strerror}") from None
    return str(file)
