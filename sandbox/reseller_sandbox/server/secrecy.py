"""Detection and masking of secrets in values, texts and request targets.

A value is secret if its name is that of a secret, in any spelling, or if it looks like one: the user of an
address, the credentials of a scheme. In a text, the value that follows such a name is masked as well.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Container, Iterable
from urllib.parse import quote, unquote, unquote_plus

MASK = "***"

#: Endings of the names of secrets: the beginning of each ending, and a pattern for its rest. ``-apikey`` is
#: excluded, because the log shows a part of a v3 API key, so that people can distinguish keys.
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
#: Brackets after or around a name in a form: ``password[0]``, ``customer[password]``.
_NESTED = r"(?:\[\w*\]|\])*"
_KEY_NAME = re.compile(r"-apikey$", re.IGNORECASE)
#: Minimum length of a key of which four characters can be shown.
_LONG_KEY = 8
_SECRET_NAME = re.compile(rf"{_WORDS}{_NESTED}$", re.IGNORECASE)
#: Values that may follow the name of a secret in a text: a JSON string, a JSON string within a JSON string,
#: a string in single quotes, or other characters.
_VALUES = (r'"(?:\\.|[^"\\])*(?:"|\\?$)', r'\\+"(?:(?!\\+").)*', r"'[^']*", r"[^&}\]|\n]+")
_SECRET_IN_TEXT = re.compile(
    rf"({_WORDS}{_NESTED}[\\\"']*\s*[:=]\s*)(?:{'|'.join(_VALUES)})", re.IGNORECASE | re.DOTALL
)
#: User and password in a URL.
_USER = re.compile(r"(?<=//)[^/\s\"'<>?#]*@")
_SCHEME = re.compile(r"\b(Bearer|Basic)( +)([\w.~+/=-]{6,})", re.IGNORECASE)


def is_secret(name: str) -> bool:
    """Whether ``name`` is the name of a secret, such as ``password`` or ``authCode``."""
    return _may_have_secret(name) and _SECRET_NAME.search(name) is not None


def key_masked(key: str) -> str:
    """Return a key or token as ``ab***yz``, with its first and last two characters."""
    return f"{key[:2]}{MASK}{key[-2:]}" if len(key) >= _LONG_KEY else MASK


def is_key(name: str) -> bool:
    """Whether a header carries a v3 API key: its name ends with ``-APIKEY``, in any case."""
    return _KEY_NAME.search(name) is not None


def value_masked(name: str, value: str, own: Container[str] = ()) -> str:
    """Return ``value`` with its secrets masked. If ``name`` is secret, mask all. Skip values in ``own``."""
    if value in own:
        return value
    if is_secret(name):
        return MASK
    return key_masked(value) if is_key(name) else text_masked(value)


def _may_have_secret(text: str) -> bool:
    """Whether ``text`` may contain the name of a secret. It is a cheap test before a slow search."""
    if not text.isascii():  # Some letters of other alphabets match ASCII letters if case is ignored.
        return True
    text = text.lower()
    return any(begin in text for begin in _ENDS)


def text_masked(text: str, secrets: Iterable[str] = ()) -> str:
    """Return ``text`` with its secrets and each of ``secrets`` masked.

    If percent-encoding hides a secret, the text is decoded.
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


def _without_credentials(match: re.Match[str]) -> str:
    """Return an authentication scheme with its credentials masked (``Bearer ***``).

    ``Basic`` before an ordinary word is not a scheme, and stays.
    """
    scheme, space, credentials = match.groups()
    if scheme.lower() == "basic" and not _is_a_pair(credentials):
        return match[0]
    return f"{scheme}{space}{MASK}"


def _is_a_pair(credentials: str) -> bool:
    """Whether ``credentials`` are a user and a password in Base64."""
    try:
        return b":" in b64decode(credentials + "=" * (-len(credentials) % 4), validate=True)
    except ValueError:
        return False


def host_masked(host: str) -> str:
    """Return the value of a Host header with its user masked (``***@host``)."""
    return f"{MASK}@{host.rpartition('@')[2]}" if "@" in host else host


def header_masked(name: str, value: str, own: Container[str] = ()) -> str:
    """Return the value of a header with its secrets masked. Values in ``own`` are not masked."""
    masked = value_masked(name, value, own)
    return host_masked(masked) if name.lower() == "host" else masked


def target_masked(target: str, own: Container[str] = ()) -> str:
    """Return a request target with the secrets of its address and of its query masked.

    Secrets in ``own`` are not masked.
    """
    path, mark, query = target.partition("?")
    path = _USER.sub(f"{MASK}@", path) if "@" in path else path
    return path + mark + "&".join(_element_masked(part, own) for part in query.split("&")) if mark else path


def query_elements(target: str) -> list[tuple[str, str]]:
    """Return the decoded name and value of each query parameter of a request target."""
    pairs = [part.partition("=") for part in target.partition("?")[2].split("&")]
    return [(unquote_plus(name), unquote_plus(value)) for name, _, value in pairs]


def _element_masked(element: str, own: Container[str]) -> str:
    name, _, value = element.partition("=")
    shown = unquote_plus(value)
    hidden = value_masked(unquote_plus(name), shown, own) if shown else shown
    return element if hidden == shown else f"{name}={quote(hidden, safe='*/:@=,;')}"
