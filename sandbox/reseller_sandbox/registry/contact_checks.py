"""Checks of contact details that registries make: countries, telephone numbers and mail addresses."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from reseller_sandbox.values import names
from reseller_sandbox.values.text_checks import cut

#: An extension at the end of a telephone number, such as ``x12`` or ``ext. 12``.
_EXTENSION = re.compile(r"[0-9)]\s*(x|ext\.?|#|;ext=)\s*[0-9]{1,8}\s*$", re.IGNORECASE)

#: The part of a mail address before the ``@``: words and dots, with letters of any script.
_LOCAL_PART = re.compile(r"(?!\.)(?:[\w!#$%&'*+/=?^`{|}~-]|\.(?!\.|$))+")
_LONGEST_LOCAL_PART = 64
_LONGEST_MAIL = 254

#: The lengths of a number in digits, if nothing says of which country it is.
_LENGTHS = range(5, 16)


def country_problem(code: str) -> str:
    """Return the problem of a country code, or an empty string for a code of ISO 3166."""
    return "" if code.upper() in _countries() else "is not the code of a country in ISO 3166"


@cache
def _countries() -> frozenset[str]:
    table = files("tzdata.zoneinfo").joinpath("iso3166.tab").read_text("utf-8")
    return frozenset(line.partition("\t")[0] for line in table.splitlines() if not line.startswith("#"))


def has_extension(number: str) -> bool:
    """Whether a text is a telephone number with an extension, which contacts do not have."""
    return _EXTENSION.search(number) is not None


def phone_problem(number: str, country: str, *, any_form: bool) -> str:
    """Return the problem of a telephone number, or an empty string for a possible number.

    A number has a country code, as in ``380.441234567``. With ``any_form``, a number without a ``+`` can also
    be a number of the contact's ``country``.
    """
    import phonenumbers  # imported on first use, because the import takes 45 ms

    code, dot, _ = number.removeprefix("+").partition(".")
    digits = re.sub("[^0-9]", "", number)
    is_dotted = dot and code.isdigit()
    if is_dotted and (code[0] == "0" or int(code) not in phonenumbers.COUNTRY_CODE_TO_REGION_CODE):
        problem = f"has the country code {code}, which no country has"
    else:
        problem = _impossible(f"+{digits}", None)
    if not problem or not any_form or number.startswith("+") or (is_dotted and code[0] != "0"):
        return problem
    is_possible = not _impossible(number, country.upper()) if country else len(digits) in _LENGTHS
    return "" if is_possible else problem


def _impossible(number: str, region: str | None) -> str:
    import phonenumbers as phones

    try:
        parsed = phones.parse(number, region)
    except phones.NumberParseException:
        return "has no country code that exists"
    # A local number, without its area code, is too short.
    result = phones.is_possible_number_with_reason(parsed)
    if result == phones.ValidationResult.IS_POSSIBLE:
        return ""
    is_long = result == phones.ValidationResult.TOO_LONG
    return f"is too {'long' if is_long else 'short'} for a number of the country code {parsed.country_code}"


def mail_problem(address: str) -> str:
    """Return the problem of a mail address, or an empty string for a well-formed address."""
    local_part, _, domain = address.rpartition("@")
    if len(local_part.encode()) > _LONGEST_LOCAL_PART:
        return f"has more than {_LONGEST_LOCAL_PART} characters before the @"
    if len(address) > _LONGEST_MAIL:
        return f"has more than {_LONGEST_MAIL} characters"
    if not _LOCAL_PART.fullmatch(local_part):
        return f"is not an e-mail address: {cut(local_part, 20)!r} is not a valid name before the @"
    try:
        names.normalise(domain)
    except names.BadName as problem:
        return f"is not an e-mail address: {problem}"
    return ""
