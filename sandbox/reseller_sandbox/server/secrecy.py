"""Detection and masking of secrets in values, texts and request targets.

A value is secret if its name is that of a secret, in any spelling, or if it looks like one: the user of an
address, the credentials of a scheme. In a text, the value that follows such a name is masked as well. The
setting ``secret_names`` adds names to the usual ones.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from urllib.parse import quote, unquote, unquote_plus

MASK = "***"

#: Endings of the names of secrets: the beginning of each ending, and a pattern for its rest. ``-apikey`` is
#: excluded, because the log shows a part of a v3 API key, so that people can distinguish keys.
_ENDS = {
    "secret": "",
    "token": "",
    "pass": r"(?:[\s_-]?(?:word|wd|phrase|code))?",
    "auth": r"(?:orization|(?:orization)?[\s_-]?(?:code|key|info)s?)",
    "epp": r"[\s_-]?(?:code|key|info)s?",
    "transfer": r"[\s_-]?(?:code|key|auth)s?",
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
#: Short names of secrets, which are also the ends of other words, such as ``spin``. They count alone, and as
#: the last word of a name (``user_pin``, ``userPin``). The names that a setting adds count in the same way.
_SHORT = {"auth": "", "epp": "", "otp": "", "pin": r"(?:[\s_-]?code)?", "pw": "", "pwd": ""}
#: The boundary between two words of a name: a hyphen, an underscore, a space, or a capital letter.
_BOUNDARY = re.compile(r"[\s_-]+|(?<=[a-z\d])(?=[A-Z])")
#: Brackets after or around a name in a form: ``password[0]``, ``customer[password]``.
_NESTED = r"(?:\[\w*\]|\])*"
_KEY_NAME = re.compile(r"-apikey$", re.IGNORECASE)
#: Minimum length of a key of which four characters can be shown.
_LONG_KEY = 8
#: Values that may follow the name of a secret in a text: a JSON string, a JSON string within a JSON string,
#: a string in single quotes, or other characters.
_VALUES = (r'"(?:\\.|[^"\\])*(?:"|\\?$)', r'\\++"(?:[^\\]|\\++(?!"))*+', r"'[^']*", r"[^&}\]|\n]+")
_DOMAIN = re.compile(r"[^\s.]+(?:\.[^\s.]+)+")
#: User and password in a URL.
_USER = re.compile(r"(?<=//)[^/\s\"'<>?#]*@")
_SCHEME = re.compile(r"\b(Bearer|Basic)( +)([\w.~+/=-]{6,})", re.IGNORECASE)


def key_masked(key: str) -> str:
    """Return a key or token as ``ab***yz``, with its first and last two characters."""
    return f"{key[:2]}{MASK}{key[-2:]}" if len(key) >= _LONG_KEY else MASK


def is_key(name: str) -> bool:
    """Whether a header carries a v3 API key: its name ends with ``-APIKEY``, in any case."""
    return _KEY_NAME.search(name) is not None


@dataclass(frozen=True)
class Secrecy:
    """Masks the values of secrets: of the usual names, and of ``names``."""

    names: tuple[str, ...] = ()

    @cached_property
    def _words(self) -> str:
        """A pattern that matches the end of the name of a secret."""
        usual, short = (map("".join, words.items()) for words in (_ENDS, _SHORT))
        added = (r"[\s_-]?".join(map(re.escape, _split(name))) for name in self.names)
        begins_word = r"(?:(?<![^\W\d_])|(?-i:(?<=[a-z\d])(?=[A-Z])))"
        return f"(?:{'|'.join(usual)}|{begins_word}(?:{'|'.join((*short, *added))}))"

    @cached_property
    def _name(self) -> re.Pattern[str]:
        return re.compile(rf"{self._words}{_NESTED}$", re.IGNORECASE)

    @cached_property
    def _in_text(self) -> re.Pattern[str]:
        pattern = rf"({self._words}{_NESTED}[\\\"']*\s*[:=>]\s*)(?:{'|'.join(_VALUES)})"
        return re.compile(pattern, re.IGNORECASE | re.DOTALL)

    @cached_property
    def _beginnings(self) -> tuple[str, ...]:
        return (*_ENDS, *_SHORT, *(_split(name)[0].lower() for name in self.names))

    def is_secret(self, name: str) -> bool:
        """Whether ``name`` is the name of a secret, such as ``password`` or ``authCode``."""
        return self._may_have_secret(name) and self._name.search(name) is not None

    def value_masked(self, name: str, value: str, own: Container[str] = ()) -> str:
        """Return ``value`` with its secrets masked: all of it if ``name`` is secret, none if in ``own``."""
        if value in own:
            return value
        if self.is_secret(name):
            return MASK
        return key_masked(value) if is_key(name) else self.text_masked(value)

    def text_masked(self, text: str, secrets: Iterable[str] = ()) -> str:
        """Return ``text`` with its secrets and each of ``secrets`` masked.

        If percent-encoding hides a secret, the text is decoded.
        """
        for secret in secrets:
            if secret in text:
                text = text.replace(secret, MASK)
        hidden = unquote(text) if "%" in text else text
        if hidden != text and (masked := self._masked(hidden)) != hidden:
            return masked
        return self._masked(text)

    def header_masked(self, name: str, value: str, own: Container[str] = ()) -> str:
        """Return the value of a header with its secrets masked. Values in ``own`` are not masked."""
        masked = self.value_masked(name, value, own)
        return host_masked(masked) if name.lower() == "host" else masked

    def target_masked(self, target: str, own: Container[str] = ()) -> str:
        """Return a request target with the secrets of its address and of its query masked.

        Secrets in ``own`` are not masked.
        """
        path, mark, query = target.partition("?")
        path = _USER.sub(f"{MASK}@", path) if "@" in path else path
        path = self._path_masked(path, own) if self._may_have_secret(path) else path
        elements = (self._element_masked(part, own) for part in query.split("&"))
        return path + mark + "&".join(elements) if mark else path

    def _path_masked(self, path: str, own: Container[str]) -> str:
        """Return a path with the segments after the name of a secret masked: ``/setAuthcode/***``.

        Domain names stay, because operations have them after such a name. So do the paths of the sandbox
        itself.
        """
        parts, follows = path.split("/"), False
        for at, part in enumerate(parts):
            shown = unquote(part)
            if follows and shown and not _DOMAIN.fullmatch(shown) and shown not in own:
                parts[at] = MASK
            elif "=" in part:
                parts[at] = self._element_masked(part, own)
            follows = follows or (self.is_secret(shown) and "_sandbox" not in parts)
        return "/".join(parts)

    def _element_masked(self, element: str, own: Container[str]) -> str:
        name, _, value = element.partition("=")
        shown = unquote_plus(value)
        hidden = self.value_masked(unquote_plus(name), shown, own) if shown else shown
        return element if hidden == shown else f"{name}={quote(hidden, safe='*/:@=,;')}"

    def _may_have_secret(self, text: str) -> bool:
        """Whether ``text`` may contain the name of a secret. It is a cheap test before a slow search."""
        if not text.isascii():  # Some letters of other alphabets match ASCII letters if case is ignored.
            return True
        text = text.lower()
        return any(begin in text for begin in self._beginnings)

    def _masked(self, text: str) -> str:
        if "//" in text:
            text = _USER.sub(f"{MASK}@", text)
        if any(mark in text for mark in ":=>") and self._may_have_secret(text):
            text = self._in_text.sub(rf"\g<1>{MASK}", text)
        return _SCHEME.sub(_without_credentials, text) if " " in text else text


def _split(name: str) -> list[str]:
    return [word for word in _BOUNDARY.split(name) if word]


@lru_cache
def secrecy_of(names: Sequence[str]) -> Secrecy:
    """Return the secrecy of the usual names of secrets and of ``names``."""
    return Secrecy(tuple(names))


#: The secrecy of texts that belong to no server, such as a mistake on the command line.
USUAL = Secrecy()


def host_masked(host: str) -> str:
    """Return the value of a Host header with its user masked (``***@host``)."""
    return f"{MASK}@{host.rpartition('@')[2]}" if "@" in host else host


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
