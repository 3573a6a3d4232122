"""What is a secret, and texts without theirs.

A value is secret by the name it goes under, whatever the spelling, or by what it looks like: the user of an
address, the credentials of a scheme. In a text, what follows such a name is masked as well.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Container, Iterable
from urllib.parse import quote, unquote, unquote_plus

MASK = "***"

#: How names of secrets end: how such an end begins, and how it may go on. The header of the v3 key ends with
#: ``-APIKEY``; some of the key is shown, so that people can tell keys apart.
_ENDS = {
    "secret": "",
    "token": "",
    "pass": r"(?:[\s_-]?(?:word|wd|phrase))?",
    "auth": r"(?:orization|[\s_-]?(?:code|key))",
    "transfer": r"[\s_-]?(?:code|key)",
    "sig": "(?:nature)?",
    "credential": "s?",
    "cookie": "",
    "session": r"(?:[\s_-]?id)?",
    "jwt": "",
    "bearer": "",
    "private": r"[\s_-]?key",
    "access": r"[\s_-]?key",
    "api": r"(?:[\s_-]key|(?<!-api)key)",
}
_WORDS = f"(?:{'|'.join(begin + rest for begin, rest in _ENDS.items())})"
#: How the elements of a form go on that are nested: ``customer[password]``, ``password[0]``.
_NESTED = r"(?:\[\w*\]|\])*"
_KEY_NAME = re.compile(r"-apikey$", re.IGNORECASE)
#: How long a key is of which four characters can be shown.
_LONG_KEY = 8
_SECRET_NAME = re.compile(rf"{_WORDS}{_NESTED}$", re.IGNORECASE)
#: What may follow such a name in a text: a JSON string, one within a JSON string, or anything else.
_VALUES = (r'"(?:\\.|[^"\\])*(?:"|\\?$)', r'\\+"(?:(?!\\+").)*', r"'[^']*", r"[^&}\]|\n]+")
_SECRET_IN_TEXT = re.compile(
    rf"({_WORDS}{_NESTED}[\\\"']*\s*[:=]\s*)(?:{'|'.join(_VALUES)})", re.IGNORECASE | re.DOTALL
)
#: The user in an address, and the password.
_USER = re.compile(r"(?<=//)[^/\s\"'<>?#]*@")
_SCHEME = re.compile(r"\b(Bearer|Basic)( +)([\w.~+/=-]{6,})", re.IGNORECASE)


def is_secret(name: str) -> bool:
    """Whether what goes under ``name`` is a secret."""
    return _may_have_secret(name) and _SECRET_NAME.search(name) is not None


def key_masked(key: str) -> str:
    """Return the first and last two characters of an API key or token."""
    return f"{key[:2]}{MASK}{key[-2:]}" if len(key) >= _LONG_KEY else MASK


def is_key(name: str) -> bool:
    """Whether ``name`` is that of the v3 key."""
    return _KEY_NAME.search(name) is not None


def value_masked(name: str, value: str, own: Container[str] = ()) -> str:
    """Return what stands under a name, without what is secret by that name or by its looks; ``own`` stays."""
    if value in own:
        return value
    if is_secret(name):
        return MASK
    return key_masked(value) if is_key(name) else text_masked(value)


def _may_have_secret(text: str) -> bool:
    """Whether it is worth looking for the name of a secret in ``text``, which takes long."""
    if not text.isascii():  # letters of other alphabets that are the same without their case
        return True
    text = text.lower()
    return any(begin in text for begin in _ENDS)


def text_masked(text: str, secrets: Iterable[str] = ()) -> str:
    """Return ``text`` without what is secret by its name or its looks, and without ``secrets``.

    Where percent signs hide something of that, they are resolved.
    """
    for secret in secrets:
        if secret in text:
            text = text.replace(secret, MASK)
    hidden = unquote(text) if "%" in text else text
    if hidden != text and (masked := _masked(hidden)) != hidden:
        return masked
    return _masked(text)


def _masked(text: str) -> str:
    if "//" in text:
        text = _USER.sub(f"{MASK}@", text)
    if (":" in text or "=" in text) and _may_have_secret(text):
        text = _SECRET_IN_TEXT.sub(rf"\g<1>{MASK}", text)
    return _SCHEME.sub(_without_credentials, text) if " " in text else text


def _without_credentials(found: re.Match[str]) -> str:
    """Return what stands for the credentials of a scheme; ``Basic`` before any other word is left alone."""
    scheme, space, told = found.groups()
    return found[0] if scheme.lower() == "basic" and not _is_a_pair(told) else f"{scheme}{space}{MASK}"


def _is_a_pair(told: str) -> bool:
    """Whether this is a user with a password, in Base64."""
    try:
        return b":" in b64decode(told + "=" * (-len(told) % 4), validate=True)
    except ValueError:
        return False


def host_masked(host: str) -> str:
    """Return what a Host header says, without a user in it."""
    return f"{MASK}@{host.rpartition('@')[2]}" if "@" in host else host


def target_masked(target: str, own: Container[str] = ()) -> str:
    """Return a request target without what is secret in its address and in the elements of its query.

    The secrets in ``own`` stay.
    """
    path, mark, query = target.partition("?")
    path = _USER.sub(f"{MASK}@", path) if "@" in path else path
    return path + mark + "&".join(_element_masked(one, own) for one in query.split("&")) if mark else path


def query_elements(target: str) -> list[tuple[str, str]]:
    """Return the names and the values in the query of a request target."""
    pairs = [one.partition("=") for one in target.partition("?")[2].split("&")]
    return [(unquote_plus(name), unquote_plus(value)) for name, _, value in pairs]


def _element_masked(element: str, own: Container[str]) -> str:
    name, _, value = element.partition("=")
    shown = unquote_plus(value)
    hidden = value_masked(unquote_plus(name), shown, own) if shown else shown
    return element if hidden == shown else f"{name}={quote(hidden, safe='*/:@=,;')}"
