"""Comparison of a service's answer with an answer of the sandbox.

Names, dates, amounts, ids and messages differ between services, so only their form is compared. Status words,
booleans, codes and the set of keys are compared exactly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

#: The keys whose words and numbers are compared exactly.
_EXACT = frozenset({"status", "error", "avail", "code", "transfer_status"})

#: The messages of v2.0 with a variable part, up to the beginning of that part.
_OPEN = re.compile(
    r"(Object not found|Not the correct IPv[46]:|Not the correct ns:|Unknown ip type :"
    r"|Not the correct (?=X-)).*",
    re.DOTALL,
)
#: The keys of names, of which only the form is compared, and the pattern of a name.
_NAMES = frozenset({"domainName", "domain", "hostname", "name", "zone", "sdn", "tld"})

#: The keys of terms, which are 0 for a name that is not for sale.
_TERMS = frozenset({"periodMin", "periodMax"})
_TELLING = _NAMES | _TERMS | {"msg"}
_HOST = re.compile(r"[^\s@:/]+")
_DATES = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
_MONEY = re.compile(r"cost|paid|price|balance", re.IGNORECASE)
_AMOUNT = re.compile(r"-?\d+\.(\d+)")

#: The most elements of an array that are compared.
_MOST = 200


class Unlikeness(NamedTuple):
    """One difference: its path, the service's value and the sandbox's value.

    ``hard`` is whether the difference can depend on an assumption. A difference of form alone is soft.
    """

    where: str
    told: Any
    made: Any
    hard: bool = True


#: The placeholder for a missing value.
LACKING = object()


def pairs(told: Any, made: Any, key: str = "") -> Iterator[tuple[str, Any, Any]]:
    """Yield the values that two answers have in the same place, after their key."""
    if isinstance(told, Mapping) and isinstance(made, Mapping):
        for one in filter(made.__contains__, told):
            yield from pairs(told[one], made[one], str(one))
    elif isinstance(told, list) and isinstance(made, list):
        for one, other in zip(told, made, strict=False):
            yield from pairs(one, other, key)
    else:
        yield key, told, made


def amounts(told: Any, made: Any) -> Iterator[Unlikeness]:
    """Yield the prices that differ between two answers, without the balance."""
    for key, one, other in pairs(told, made):
        if _MONEY.search(key) and key != "balance" and amount(one) != amount(other):
            yield Unlikeness(key, one, other)


def amount(value: Any) -> Decimal | None:
    """Return the number that a value represents, None if it represents none."""
    try:
        return None if isinstance(value, bool) or value is None else Decimal(str(value))
    except InvalidOperation:
        return None


def differences(told: Any, made: Any, where: str = "", key: str = "") -> Iterator[Unlikeness]:
    """Yield the differences between a service's answer and the sandbox's."""
    if isinstance(told, Mapping) and isinstance(made, Mapping):
        for one in dict.fromkeys((*made, *told)):
            path = f"{where}.{one}".removeprefix(".")
            if one not in told or one not in made:
                yield Unlikeness(path, told.get(one, LACKING), made.get(one, LACKING))
            else:
                yield from differences(told[one], made[one], path, one)
    elif isinstance(told, list) and isinstance(made, list):
        yield from _of_lists(told, made, where, key)
    elif (difference := _of_values(told, made, key)) is not None:
        yield Unlikeness(where or "the body", told, made, difference)


def _of_lists(told: Sequence[Any], made: Sequence[Any], where: str, key: str) -> Iterator[Unlikeness]:
    """Yield the differences of each service element from the most similar of ours."""
    if not made:
        if any(isinstance(one, Mapping) for one in told):
            yield Unlikeness(where or "the body", told, made)
        return
    others = {_skeleton(one, key): one for one in made[:_MOST]}
    kinds = {_skeleton(one, key): (at, one) for at, one in reversed([*enumerate(told[:_MOST])])}
    for skeleton, (at, one) in kinds.items():
        if skeleton not in others:
            found = [list(differences(one, other, f"{where}[{at}]", key)) for other in others.values()]
            yield from min(found, key=len)


def _skeleton(value: Any, key: str) -> str:
    """Return the compared part of a value as a string.

    Values with the same string are alike.
    """
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{one}:{_skeleton(value[one], one)}" for one in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(sorted({_skeleton(one, key) for one in value})) + "]"
    if key in _EXACT or isinstance(value, bool) or value is None:
        return repr(value)
    return _form(value, key) if isinstance(value, str) else "number"


def _of_values(told: Any, made: Any, key: str) -> bool | None:
    """Return None for values that are alike, otherwise whether the difference is hard."""
    if _skeleton(told, key) == _skeleton(made, key):
        return None
    both_texts = isinstance(told, str) and isinstance(made, str) and key not in _EXACT
    if both_texts and not (told and made) and key != "msg":
        return None
    return not both_texts or key in _TELLING


def _form(text: str, key: str) -> str:
    """Return the compared part of a string."""
    if key == "msg":
        return _OPEN.sub(r"\1", text)
    if key in _TERMS:
        return "no term" if text == "0" else "a term"
    if (
        key in _NAMES and _HOST.fullmatch(text) and (key != "name" or "." in text)
    ):  # because contacts have a name, too
        return f"name {'xn--' in text.lower()} {text.isascii()}"
    if _DATES.fullmatch(text):
        return re.sub(r"\d", "0", text)
    number = _AMOUNT.fullmatch(text) if _MONEY.search(key) else None
    return f"amount with {len(number[1])} digits" if number is not None else "text"
