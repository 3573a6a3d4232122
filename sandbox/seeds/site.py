"""What the builders of a world share: the file, its time, what stands already, and the mistakes so far."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sandbox.core import hosts, names
from sandbox.core.model import OUTSIDE, Account, Card, Contact, Customer, LedgerEntry, Order, Record
from sandbox.core.refusals import ZONE_NOT_SUPPORTED, Refused
from sandbox.core.state import State, filled
from sandbox.core.zones import zone_of
from sandbox.seeds.fields import When
from sandbox.seeds.problems import Place, Problem, nearest, problem, shown
from sandbox.seeds.reader import Node, Rows, Scalar, Tree

Path = tuple[object, ...]

OUTSIDE_CONTACT = Contact(
    handle="OUTSIDE", account=OUTSIDE, card=Card(name="Another Registrar", country="ZZ")
)


@dataclass
class Site:
    """A world being built.

    The indexes of what a fixture may refer to hold None for an entry that is there but has mistakes
    of its own, so that nobody who refers to it is blamed.
    """

    tree: Tree
    shape: dict[str, Any]
    now: datetime
    state: State
    processing: timedelta
    problems: list[Problem] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    unsound_zones: set[str] = field(default_factory=set)
    accounts: dict[str, Account | None] = field(default_factory=dict)
    contacts: dict[str, Contact | None] = field(default_factory=dict)
    customers: dict[int, Customer | None] = field(default_factory=dict)
    ledger: dict[int, LedgerEntry | None] = field(default_factory=dict)
    orders: dict[str, Order | None] = field(default_factory=dict)

    def section(self, name: str) -> dict[Any, Any]:
        """The sound entries of a section."""
        found: dict[Any, Any] = self.shape.get(name) or {}
        return found

    def written(self, section: str) -> list[str]:
        """The keys of a section as the file has them, those with mistakes too."""
        node = self.tree.get(section)
        keys: Iterable[Node] = node if isinstance(node, Tree | Rows) else []
        return list(dict.fromkeys(str(key) for key in keys if isinstance(key, Scalar)))

    def report(self, path: Path, message: str, *, key: bool = False) -> None:
        """Note a mistake about the value at ``path``, or about the last key of it."""
        self.problems.append(problem(self.place(path, key=key), message))

    def place(self, path: Path, *, key: bool = False) -> Place:
        """Where the value at ``path`` stands, or its key, or the nearest thing around it that is there."""
        node: Node = self.tree
        place = node.place
        for step in path:
            name = str(step)
            if isinstance(node, Tree) and name in node:
                place = node.place_of(name) if key and step is path[-1] else node[name].place
                node = node[name]
            elif isinstance(node, Rows) and isinstance(step, int) and step < len(node):
                node = node[step]
                place = node.place
            elif isinstance(node, Rows) and step in node:
                place = next(row.place for row in node if row == step)
        return place

    def date(self, when: When | None, default: datetime) -> datetime:
        """The instant meant by ``when``, or ``default`` where nothing is given."""
        if when is None:
            return default
        try:
            return when.at(self.now)
        except ValueError as reason:
            self.problems.append(problem(when.place, str(reason)))
            return default

    def name(self, path: Path, text: str) -> str | None:
        """``text`` in the registry's spelling, or None when it is no name in one of the zones."""
        try:
            name = names.normalise(text)
        except names.BadName as reason:
            self.report(path, f"{shown(text)} is not a name: {reason}", key=True)
            return None
        if name in self.state.zones:
            self.report(path, f"{shown(text)} is a zone, and cannot be held as a name", key=True)
            return None
        try:
            zone_of(self.state, name)
        except Refused as refused:
            if not self.unsound_zones.intersection(names.suffixes(name)):
                unknown = refused.rule is ZONE_NOT_SUPPORTED
                close = nearest(names.suffixes(name)[0], sorted(self.state.zones)) if unknown else ""
                self.report(path, refused.message.rstrip(".") + close, key=True)
            return None
        return name

    def account(self, path: Path, word: str | None) -> Account | None:
        """The account called ``word``, or the first one; None, and a mistake, when there is none."""
        if word is None and not self.written("accounts"):
            self.report(path, "there is no account that this could belong to")
            return None
        if word is None:
            word = self.written("accounts")[0]
        if word not in self.accounts:
            self.report(path, f"unknown account {shown(word)}{nearest(word, self.accounts)}")
            return None
        return self.accounts[word]

    def spelled(self, path: Path, text: str) -> str:
        """``text``, a name that need not be held or have a zone any more, in the registry's spelling."""
        try:
            return names.normalise(text) if text else ""
        except names.BadName as reason:
            self.report(path, f"{shown(text)} is not a name: {reason}")
            return text

    def entries(self, path: Path, given: Sequence[int]) -> tuple[int, ...]:
        """The ledger entries that something at ``path`` refers to."""
        for at, number in enumerate(given):
            if number not in self.ledger:
                self.report((*path, at), f"there is no ledger entry {number}")
        return tuple(given)

    def nameservers(self, path: Path, servers: Sequence[str]) -> tuple[str, ...]:
        """``servers`` in the registry's spelling, each once."""
        if len(servers) > hosts.MOST_NAMESERVERS:
            self.report(path, f"{len(servers)} name servers; a name has at most {hosts.MOST_NAMESERVERS}")
        found: list[str] = []
        for at, server in enumerate(servers):
            try:
                found += [self._once((*path, at), server, names.normalise(server), found)]
            except names.BadName as reason:
                self.report((*path, at), f"{shown(server)} is not a host name: {reason}")
        return tuple(found)

    def addresses(self, path: Path, texts: Sequence[str]) -> tuple[str, ...]:
        """``texts`` as IP addresses in their canonical spelling, each once, at least one."""
        if not 1 <= len(texts) <= hosts.MOST_ADDRESSES:
            self.report(path, f"{len(texts)} addresses; a host has 1 to {hosts.MOST_ADDRESSES}")
        found: list[str] = []
        for at, text in enumerate(texts):
            try:
                found += [self._once((*path, at), text, hosts.parse_address(text), found)]
            except Refused:
                self.report((*path, at), f"{shown(text)} is not an IP address")
        return tuple(found)

    def _once(self, path: Path, text: str, value: str, earlier: Iterable[str]) -> str:
        if value in earlier:
            self.report(path, f"{shown(text)} is there twice")
        return value

    def put(self, records: Iterable[Record]) -> None:
        """Write ``records`` into the state."""
        self.state = filled(self.state, records)
