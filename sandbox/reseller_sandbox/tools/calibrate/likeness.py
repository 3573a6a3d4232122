"""Comparison of an answer of the service with an answer of the sandbox.

The form of names, dates, amounts, ids and messages is compared, because their values differ between services.
Status words, booleans, codes and the set of keys are compared exactly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from reseller_sandbox.tools.calibrate.hints import hints

_HOST = re.compile(r"[^\s@:/]+")
_DATES = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?")
_MONEY = re.compile(r"cost|paid|price|balance", re.IGNORECASE)
_AMOUNT = re.compile(r"-?\d+\.(\d+)")

#: Maximum number of elements of an array that are compared.
_MOST = 200


class Difference(NamedTuple):
    """A difference between two answers: its path, the value of the service, and that of the sandbox.

    ``hard`` is false for the form of a text on which no assumption depends.
    """

    where: str
    service: Any
    sandbox: Any
    hard: bool = True


#: The placeholder for a value that an answer does not have.
ABSENT = object()


def pairs(service: object, sandbox: object, key: str = "") -> Iterator[tuple[str, object, object]]:
    """Yield the key and both values of each place that two answers have in common."""
    if isinstance(service, Mapping) and isinstance(sandbox, Mapping):
        for inner in filter(sandbox.__contains__, service):
            yield from pairs(service[inner], sandbox[inner], str(inner))
    elif isinstance(service, list) and isinstance(sandbox, list):
        for theirs, ours in zip(service, sandbox, strict=False):
            yield from pairs(theirs, ours, key)
    else:
        yield key, service, sandbox


def amounts(service: object, sandbox: object) -> Iterator[Difference]:
    """Yield the prices that differ between two answers, except the balance."""
    for key, theirs, ours in pairs(service, sandbox):
        if _MONEY.search(key) and key != "balance" and amount(theirs) != amount(ours):
            yield Difference(key, theirs, ours)


def amount(value: object) -> Decimal | None:
    """Return the number that a value represents, None if it represents none."""
    try:
        return None if isinstance(value, bool) or value is None else Decimal(str(value))
    except InvalidOperation:
        return None


def differences(service: object, sandbox: object, where: str = "", key: str = "") -> Iterator[Difference]:
    """Yield the differences between an answer of the service and one of the sandbox."""
    if isinstance(service, Mapping) and isinstance(sandbox, Mapping):
        for inner in dict.fromkeys((*sandbox, *service)):
            path = f"{where}.{inner}".removeprefix(".")
            if inner not in service or inner not in sandbox:
                yield Difference(path, service.get(inner, ABSENT), sandbox.get(inner, ABSENT))
            else:
                yield from differences(service[inner], sandbox[inner], path, inner)
    elif isinstance(service, list) and isinstance(sandbox, list):
        yield from _of_lists(service, sandbox, where, key)
    elif (difference := _of_values(service, sandbox, key)) is not None:
        yield Difference(where or "the body", service, sandbox, difference)


def _of_lists(
    service: Sequence[object], sandbox: Sequence[object], where: str, key: str
) -> Iterator[Difference]:
    """Compare each element of the service's list with the most similar element of the sandbox's list."""
    if not sandbox:
        if any(isinstance(element, Mapping) for element in service):
            yield Difference(where or "the body", service, sandbox)
        return
    ours = {_skeleton(element, key): element for element in sandbox[:_MOST]}
    theirs = {
        _skeleton(element, key): (at, element) for at, element in reversed([*enumerate(service[:_MOST])])
    }
    for skeleton, (at, element) in theirs.items():
        if skeleton not in ours:
            each = [list(differences(element, other, f"{where}[{at}]", key)) for other in ours.values()]
            yield from min(each, key=len)


def _skeleton(value: object, key: str) -> str:
    """Return a normal form of a JSON value. Values that count as equal have the same normal form."""
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{inner}:{_skeleton(value[inner], inner)}" for inner in sorted(value)) + "}"
    if isinstance(value, list):
        return "[" + ",".join(sorted({_skeleton(element, key) for element in value})) + "]"
    if key in hints().exact or isinstance(value, bool) or value is None:
        return repr(value)
    return _form(value, key) if isinstance(value, str) else "number"


def _of_values(service: object, sandbox: object, key: str) -> bool | None:
    """Return None if two values count as equal, otherwise the value for ``Difference.hard``."""
    if _skeleton(service, key) == _skeleton(sandbox, key):
        return None
    both_texts = isinstance(service, str) and isinstance(sandbox, str) and key not in hints().exact
    if both_texts and not (service and sandbox) and key not in hints().messages:
        return None
    return not both_texts or key in (*hints().names, *hints().terms, *hints().messages)


def _form(text: str, key: str) -> str:
    """Return a normal form of a string. Strings that count as equal have the same normal form."""
    if key in hints().messages:
        beginnings = (re.match(pattern, text) for pattern in hints().open_messages)
        return next((match[0] for match in beginnings if match), text)
    # The number of years is 0 if the name is not for sale.
    if key in hints().terms:
        return "no term" if text == "0" else "a term"
    # A "name" without a dot is the name of a contact, not of a domain.
    if key in hints().names and _HOST.fullmatch(text) and (key != "name" or "." in text):
        return f"name {'xn--' in text.lower()} {text.isascii()}"
    if _DATES.fullmatch(text):
        return re.sub(r"\d", "0", text)
    number = _AMOUNT.fullmatch(text) if _MONEY.search(key) else None
    return f"amount with {len(number[1])} digits" if number is not None else "text"
