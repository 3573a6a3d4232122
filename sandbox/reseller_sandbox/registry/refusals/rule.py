"""Rules of refusal, the words of an interface for them, and the exception that carries one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

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


class Category(StrEnum):
    """What sort of refusal it is; statuses follow from that."""

    INVALID = "invalid"
    UNAUTHENTICATED = "unauthenticated"
    PAYMENT = "payment"
    FORBIDDEN = "forbidden"
    NOT_FOUND = "not found"
    WRONG_METHOD = "wrong method"
    CONFLICT = "conflict"
    TOO_LARGE = "too large"
    WRONG_FORMAT = "wrong format"
    LIMIT = "limit"
    INTERNAL = "internal"
    NOT_IMPLEMENTED = "not implemented"
    UNAVAILABLE = "unavailable"

    def rule(self, sentence: str, remedy: str, **default: object) -> Rule:
        """Return a rule of this sort."""
        return Rule(self, sentence, remedy, default)


@dataclass(slots=True, eq=False)  # each is itself alone, so looked up quickly
class Rule:
    """A reason to refuse. ``sentence`` says what is wrong, ``remedy`` what would do.

    Both have a place in small letters for each fact that they name, and one in capitals for each ``Term``.
    ``default`` are facts that may be left out, with what they are then. ``code`` is the name of the rule in
    ``refusals``, which gives it.
    """

    category: Category
    sentence: str
    remedy: str
    default: Mapping[str, object]
    code: str = ""


invalid = Category.INVALID.rule
unauthenticated = Category.UNAUTHENTICATED.rule
payment = Category.PAYMENT.rule
forbidden = Category.FORBIDDEN.rule
not_found = Category.NOT_FOUND.rule
wrong_method = Category.WRONG_METHOD.rule
conflict = Category.CONFLICT.rule
too_large = Category.TOO_LARGE.rule
wrong_format = Category.WRONG_FORMAT.rule
limit = Category.LIMIT.rule
internal = Category.INTERNAL.rule
not_implemented = Category.NOT_IMPLEMENTED.rule
unavailable = Category.UNAVAILABLE.rule


class Refusal(Struct, frozen=True):
    """Why a request was refused, as a value that can be kept: unlike the exception it holds no frames.

    ``wording`` is that of the interface that answers.
    """

    rule: Rule
    facts: Mapping[str, object]
    wording: Wording = PLAIN

    @property
    def message(self) -> str:
        """The rule's sentence with the facts in place."""
        return self._filled(self.rule.sentence)

    @property
    def remedy(self) -> str:
        """What would do, with the facts in place."""
        return self._filled(self.rule.remedy)

    @property
    def said(self) -> dict[str, object]:
        """The facts in the words of the interface that answers."""
        return {name: self.wording.said(fact) for name, fact in self.facts.items()}

    def _filled(self, sentence: str) -> str:
        return self.wording.spelt(sentence).format_map(_Places(self.said))


#: What stands for a fact that nobody knows, as in an injected error.
UNKNOWN = "…"


class _Places(dict[str, object]):
    """The facts of a sentence; what nobody knows is left open."""

    def __missing__(self, name: str) -> str:
        return UNKNOWN


class Refused(Exception):
    """A request was refused by ``rule``; ``facts`` say what of it and what would have been allowed."""

    __module__ = "reseller_sandbox"  # where it is imported from, so that a traceback says no more than that

    def __init__(self, rule: Rule, /, **facts: object) -> None:
        super().__init__(rule.code)
        self.refusal = Refusal(rule, {**rule.default, **facts})

    def __str__(self) -> str:
        return f"{self.rule.code}: {self.message}"

    def spoken_in(self, wording: Wording) -> Refusal:
        """Word the refusal as an interface does; return it as a value that can be kept."""
        self.refusal = replace(self.refusal, wording=wording)
        return self.refusal

    @property
    def rule(self) -> Rule:
        """The rule that refuses."""
        return self.refusal.rule

    @property
    def facts(self) -> Mapping[str, object]:
        """What the rule's sentence tells of."""
        return self.refusal.facts

    @property
    def code(self) -> str:
        """The rule's code."""
        return self.rule.code

    @property
    def message(self) -> str:
        """The rule's sentence with the facts in place."""
        return self.refusal.message

    @property
    def remedy(self) -> str:
        """What would do, with the facts in place."""
        return self.refusal.remedy
