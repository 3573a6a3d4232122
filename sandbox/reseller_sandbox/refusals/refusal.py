"""The classes of refusals: rules, the wording of each interface, and the exception."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import replace

_TERM = re.compile(r"\{([A-Z_]+)\}")


class Term(StrEnum):
    """A term that each interface names differently (``YEARS``: ``period`` or ``years``)."""

    YEARS = "the term in years"
    EXPIRY = "the expected expiry date"
    END = "the expected end"
    AGREED_PRICE = "the agreed price"
    NAMESERVERS = "the name servers"
    ADDRESSES = "the addresses"
    HOST = "the host name"
    AUTH_CODE = "the authorization code"
    TRANSFER_REQUEST = "a transfer request"
    REGISTRANT = "the registrant"
    ADMIN = "the administrative contact"
    TECH = "the technical contact"
    BILLING = "the billing contact"
    CONTACT = "the contact"
    CUSTOMER = "the customer"
    MAIL = "the mail"


class Wording(Struct, frozen=True):
    """An interface's words for terms and actions. A term without a word keeps its value."""

    words: Mapping[StrEnum, str] = field(default_factory=dict)

    def word(self, term: StrEnum) -> str:
        """Return the interface's word for a term or an action."""
        return self.words.get(term, term.value)

    def with_words(self, sentence: str) -> str:
        """Return ``sentence`` with each ``{TERM}`` replaced. The placeholders for facts remain."""
        return _TERM.sub(lambda place: self.word(Term[place[1]]), sentence)

    def worded(self, fact: object) -> object:
        """Return ``fact`` with terms and actions in the words of the interface."""
        if isinstance(fact, Possible):
            only = (
                ("only " if fact.actions else "nothing", fact.until)
                if fact.reading.issuperset(fact.actions)
                else ("", "")
            )
            return only[0] + ", ".join(map(self.word, fact.actions)) + only[1]
        return self.word(fact) if isinstance(fact, StrEnum) else fact


class Possible(Struct, frozen=True):
    """A fact of a refusal: the possible ``actions`` at a stage.

    The actions in ``reading`` only read. ``until`` says when the stage ends, if it allows only reading.
    """

    actions: tuple[StrEnum, ...]
    reading: frozenset[StrEnum]
    until: str


#: The wording without an interface: each term keeps its value.
PLAIN = Wording()


class Category(StrEnum):
    """The category of a refusal, which decides the HTTP status."""

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

    def rule(
        self,
        sentence: str,
        remedy: str,
        synonyms: tuple[str, ...] = (),
        correction: tuple[Term, str] | None = None,
        **default: object,
    ) -> Rule:
        """Return a new rule of this category."""
        return Rule(self, sentence, remedy, default, synonyms, correction)


@dataclass(slots=True, eq=False)  # comparing identities is faster than comparing fields
class Rule:
    """A reason to refuse. ``sentence`` states the problem, and ``remedy`` the solution.

    Both have a placeholder in lower case for each fact, and one in capitals for each ``Term``. ``default``
    holds the values of optional facts. ``synonyms`` are names of the error in other programs. ``correction``
    is the term of the request and the fact with its accepted value, if the remedy is to send that value.
    ``code`` is the name of the rule in ``refusals``, which sets it.
    """

    category: Category
    sentence: str
    remedy: str
    default: Mapping[str, object]
    synonyms: tuple[str, ...] = ()
    correction: tuple[Term, str] | None = None
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
    """The rule and facts of a refusal. Unlike the exception, it holds no stack frames.

    ``wording`` holds the words of the interface that answers the request.
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
    def correction(self) -> dict[str, object]:
        """The parameter with its accepted value. It is empty if the remedy names no value."""
        if self.rule.correction is None:
            return {}
        term, fact = self.rule.correction
        accepted = self.facts.get(fact)  # a maximum of 0 years accepts nothing
        return {self.wording.word(term): accepted} if accepted else {}

    @property
    def worded_facts(self) -> dict[str, object]:
        """The facts in the words of the interface that answers."""
        return {name: self.wording.worded(fact) for name, fact in self.facts.items()}

    def reworded(self, reword: Callable[[object], object]) -> Refusal:
        """Return the refusal with each fact converted by ``reword``."""
        return replace(self, facts={name: reword(fact) for name, fact in self.facts.items()})

    def _filled(self, sentence: str) -> str:
        filled = self.wording.with_words(sentence).format_map(_Places(self.worded_facts))
        # A sentence that ends with a suggestion is a question and needs no full stop.
        return filled.removesuffix(".") if filled.endswith("?.") else filled


#: Replaces a missing fact in a sentence, for example in an injected error.
UNKNOWN = "…"


class _Places(dict[str, object]):
    """The facts to fill into a sentence. A missing fact becomes ``UNKNOWN``."""

    def __missing__(self, name: str) -> str:
        return UNKNOWN


class Refused(Exception):
    """Exception for a refused request, with the ``rule`` of the refusal and the ``facts`` of the message."""

    __module__ = "reseller_sandbox"  # tracebacks then show the public import path

    def __init__(self, rule: Rule, /, **facts: object) -> None:
        super().__init__(rule.code)
        self.refusal = Refusal(rule, {**rule.default, **facts})

    def __str__(self) -> str:
        return f"{self.rule.code}: {self.message}"

    def in_wording(self, wording: Wording, reword: Callable[[object], object] | None = None) -> Refusal:
        """Apply the words of an interface, and return the refusal without the exception.

        ``reword`` converts each fact.
        """
        refusal = self.refusal if reword is None else self.refusal.reworded(reword)
        self.refusal = replace(refusal, wording=wording)
        return self.refusal

    @property
    def rule(self) -> Rule:
        """The rule that refuses the request."""
        return self.refusal.rule

    @property
    def facts(self) -> Mapping[str, object]:
        """The values of the placeholders in the rule's sentence, by name."""
        return self.refusal.facts

    @property
    def code(self) -> str:
        """The code of the rule, such as ``name_taken``."""
        return self.rule.code

    @property
    def message(self) -> str:
        """The rule's sentence with the facts filled in."""
        return self.refusal.message

    @property
    def remedy(self) -> str:
        """The rule's remedy with the facts filled in."""
        return self.refusal.remedy
