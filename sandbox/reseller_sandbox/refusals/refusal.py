"""Rules of refusal, the wording of interfaces, and the exception."""

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
    """A term that each interface names differently. The value is the plain word."""

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
    """An interface's words for terms and actions. The default is the plain word.

    ``lacks`` holds the actions for which the interface has no operation.
    """

    words: Mapping[StrEnum, str] = field(default_factory=dict)
    lacks: frozenset[StrEnum] = frozenset()

    def word(self, term: StrEnum) -> str:
        """Return the interface's word for ``term``."""
        return self.words.get(term, term.value)

    def with_words(self, sentence: str) -> str:
        """Return ``sentence`` with a word for each ``{TERM}``. Fact placeholders stay."""
        return _TERM.sub(lambda place: self.word(Term[place[1]]), sentence)

    def worded(self, fact: object) -> object:
        """Return ``fact`` in the words of the interface."""
        if isinstance(fact, Possible):
            possible = self.possible(fact.actions)
            only = (
                ("only " if possible else "nothing", fact.until)
                if fact.looks.issuperset(possible)
                else ("", "")
            )
            return only[0] + ", ".join(map(self.word, possible)) + only[1]
        return self.word(fact) if isinstance(fact, StrEnum) else fact

    def possible(self, actions: Iterable[_Action]) -> list[_Action]:
        """Return the ``actions`` that the interface has."""
        return [action for action in actions if action not in self.lacks]


class Possible(Struct, frozen=True):
    """The possible ``actions`` at a stage, as a fact. The actions in ``looks`` only read.

    ``until`` says when the stage ends, for a stage that allows only reading.
    """

    actions: tuple[StrEnum, ...]
    looks: frozenset[StrEnum]
    until: str


#: The plain words, without an interface.
PLAIN = Wording()


class Category(StrEnum):
    """The category of a refusal. The HTTP status follows from it."""

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

    def rule(self, sentence: str, remedy: str, synonyms: tuple[str, ...] = (), **default: object) -> Rule:
        """Return a rule of this category."""
        return Rule(self, sentence, remedy, default, synonyms)


@dataclass(slots=True, eq=False)  # compare by identity, because that makes lookups fast
class Rule:
    """A reason to refuse. ``sentence`` states the problem, ``remedy`` the solution.

    Both have a placeholder in lower case for each fact, and one in capitals for each ``Term``. ``default``
    holds the values of optional facts. ``synonyms`` are names of the error in other programs. ``code`` is the
    name of the rule in ``refusals``, which sets it.
    """

    category: Category
    sentence: str
    remedy: str
    default: Mapping[str, object]
    synonyms: tuple[str, ...] = ()
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
    """A refusal as a value. Unlike the exception, it holds no stack frames.

    ``wording`` is that of the interface that answers.
    """

    rule: Rule
    facts: Mapping[str, object]
    wording: Wording = PLAIN

    @property
    def message(self) -> str:
        """The rule's sentence with the facts filled in."""
        return self._filled(self.rule.sentence)

    @property
    def remedy(self) -> str:
        """The rule's remedy with the facts filled in."""
        return self._filled(self.rule.remedy)

    @property
    def worded_facts(self) -> dict[str, object]:
        """The facts in the words of the interface that answers."""
        return {name: self.wording.worded(fact) for name, fact in self.facts.items()}

    def _filled(self, sentence: str) -> str:
        filled = self.wording.with_words(sentence).format_map(_Places(self.worded_facts))
        # A suggestion at the end is a question, so the sentence needs no full stop.
        return filled.removesuffix(".") if filled.endswith("?.") else filled


#: Stands for an unknown fact, for example in an injected error.
UNKNOWN = "…"


class _Places(dict[str, object]):
    """The facts of a sentence. Unknown facts appear as ``UNKNOWN``."""

    def __missing__(self, name: str) -> str:
        return UNKNOWN


class Refused(Exception):
    """The exception for a request refused by ``rule``, with ``facts`` about it."""

    __module__ = "reseller_sandbox"  # the public import path, so that tracebacks show only that

    def __init__(self, rule: Rule, /, **facts: object) -> None:
        super().__init__(rule.code)
        self.refusal = Refusal(rule, {**rule.default, **facts})

    def __str__(self) -> str:
        return f"{self.rule.code}: {self.message}"

    def in_wording(self, wording: Wording) -> Refusal:
        """Apply the wording of an interface, and return the refusal as a value."""
        self.refusal = replace(self.refusal, wording=wording)
        return self.refusal

    @property
    def rule(self) -> Rule:
        """The rule that refuses."""
        return self.refusal.rule

    @property
    def facts(self) -> Mapping[str, object]:
        """The facts of the rule's sentence."""
        return self.refusal.facts

    @property
    def code(self) -> str:
        """The rule's code."""
        return self.rule.code

    @property
    def message(self) -> str:
        """The rule's sentence with the facts filled in."""
        return self.refusal.message

    @property
    def remedy(self) -> str:
        """The rule's remedy with the facts filled in."""
        return self.refusal.remedy
