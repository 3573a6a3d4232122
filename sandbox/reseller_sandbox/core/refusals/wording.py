"""How an interface speaks of the registry: its words for what the domain calls otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import TypeVar

from msgspec import Struct, field

_Action = TypeVar("_Action", bound=StrEnum)
_TERM = re.compile(r"\{([A-Z_]+)\}")


class Term(StrEnum):
    """What each interface spells in its own way; the value is the plain word."""

    YEARS = "the term in years"
    AGREED_PRICE = "the agreed price"
    NAMESERVERS = "the name servers"
    ADDRESSES = "the addresses"
    HOST = "the host name"
    AUTH_CODE = "the authorization code"
    REGISTRANT = "the registrant"
    ADMIN = "the administrative contact"
    TECH = "the technical contact"
    BILLING = "the billing contact"
    CONTACT = "the contact"
    CUSTOMER = "the customer"
    MAIL = "the mail"


class Wording(Struct, frozen=True):
    """The words of an interface for terms and actions; what it has no word for, it calls as the domain does.

    ``lacks`` are the actions that it has no operation for.
    """

    words: Mapping[StrEnum, str] = field(default_factory=dict)
    lacks: frozenset[StrEnum] = frozenset()

    def word(self, term: StrEnum) -> str:
        """Return the interface's word for ``term``."""
        return self.words.get(term, term.value)

    def spelt(self, sentence: str) -> str:
        """Return ``sentence`` with a word for each ``{TERM}``; the places of facts stay."""
        return _TERM.sub(lambda found: self.word(Term[found[1]]), sentence)

    def said(self, fact: object) -> object:
        """Return ``fact`` as the interface says it."""
        if isinstance(fact, Possible):
            found = self.possible(fact.actions)
            only = ("only " if found else "nothing", fact.until) if fact.looks.issuperset(found) else ("", "")
            return only[0] + ", ".join(map(self.word, found)) + only[1]
        return self.word(fact) if isinstance(fact, StrEnum) else fact

    def possible(self, actions: Iterable[_Action]) -> list[_Action]:
        """Return those of ``actions`` that the interface has."""
        return [action for action in actions if action not in self.lacks]


class Possible(Struct, frozen=True):
    """What is possible at a stage, as a fact: ``actions``, of which ``looks`` change nothing.

    ``until`` says how long that is all, where no other action is possible.
    """

    actions: tuple[StrEnum, ...]
    looks: frozenset[StrEnum]
    until: str


#: The words of the domain itself.
PLAIN = Wording()
