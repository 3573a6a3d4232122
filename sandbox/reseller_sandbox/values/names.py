"""Domain and host names: one canonical form, and errors for malformed names.

Inside the registry, a name is in lower case, in ASCII form and without a trailing dot. Internationalised
names go through the ``idna`` library (IDNA 2008 with the UTS 46 mapping), which is loaded on first use.
"""

from __future__ import annotations

import re
from functools import lru_cache

LONGEST = 253
_DOTS = re.compile(r"[.\u3002\uff0e\uff61]")
_LABEL = re.compile(r"(?!-)[a-z0-9-]{1,63}(?<!-)")


class BadName(ValueError):
    """The error for text that is not a domain name. The message says why (``the name is empty``)."""


@lru_cache(maxsize=4096)
def normalise(text: str) -> str:
    """Return ``text`` in canonical form: ``xn--espaa-rta.com`` for ``España.com.``.

    Raise ``BadName`` unless the text has two or more well-formed labels.
    """
    if len(text) > LONGEST * 4:
        raise BadName(f"the name has {len(text)} characters; the maximum is {LONGEST}")
    name = text.lower() if text.isascii() else text
    if name.endswith("."):
        name = name[:-1]
    if not name:
        raise BadName("the name is empty")
    if not name.isascii() or "xn--" in name:
        name = _through_idna(name)
    if len(name) > LONGEST:
        raise BadName(f"the name has {len(name)} characters; the maximum is {LONGEST}")
    labels = name.split(".")
    for label in labels:
        if not label:
            raise BadName("the name has an empty label")
        if len(label) > 63:
            raise BadName(f"the label {label[:20]}… has {len(label)} characters; the maximum is 63")
        if not _LABEL.fullmatch(label):
            raise BadName(f"the label {label!r} must have only letters, digits and inner hyphens")
        if label[2:4] == "--" and not label.startswith("xn--"):
            raise BadName(f"the label {label!r} has hyphens as third and fourth character")
    if len(labels) < 2:
        raise BadName("the name has no zone")
    if labels[-1].isdigit():
        raise BadName("the last label is a number")
    return name


def normalise_zone(text: str) -> str:
    """Return a zone, or a host that may have one label, in canonical form. Raise ``BadName``."""
    return normalise(f"x.{text}").removeprefix("x.")


def normalise_label(text: str) -> str:
    """Return the label of a name in canonical form. Raise ``BadName``."""
    if "." in text:
        raise BadName("a label has no dots")
    return normalise(f"{text}.example").removesuffix(".example")


def well_formed(text: str) -> str | None:
    """Return ``text`` in canonical form, or None if the text is not a domain name."""
    try:
        return normalise(text)
    except BadName:
        return None


def _through_idna(name: str) -> str:
    import idna

    try:
        return idna.encode(name, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError) as error:
        problem = str(error).rstrip(".") or "not a valid internationalised name"
        raise BadName(f"IDNA rejects the name ({problem})") from None


def to_unicode(name: str) -> str:
    """Return the name in Unicode: ``españa.com`` for ``xn--espaa-rta.com``."""
    return _decoded(name) if "xn--" in name else name


@lru_cache(maxsize=1 << 15)  # a search in a world with 100,000 names decodes about this many
def _decoded(name: str) -> str:
    import idna

    try:
        return idna.decode(name)
    except (idna.IDNAError, UnicodeError):
        return name


class NameText(str):
    """A text with internationalised names, which ``rewritten`` writes in another form.

    Facts of refusals are such texts, because each interface has its own form of names.
    """

    __slots__ = ("_names", "_pattern")

    def __new__(cls, pattern: str, names: tuple[str, ...], form: str, asked: str | None = None) -> NameText:
        """Return ``pattern`` with ``names`` in its places (``{}``), in a form (see ``written``)."""
        text = super().__new__(cls, pattern.format(*[written(name, form, asked) for name in names]))
        text._pattern, text._names = pattern, names
        return text

    _pattern: str
    _names: tuple[str, ...]

    def rewritten(self, form: str, asked: str | None = None) -> NameText:
        """Return the text with its names in a form (see ``written``)."""
        return NameText(self._pattern, self._names, form, asked)


def shown(*names: str, pattern: str = "") -> str:
    """Return names for a message, in the places (``{}``) of ``pattern``, or separated by commas.

    If a name is internationalised, the result is a ``NameText``.
    """
    pattern = pattern or ", ".join(["{}"] * len(names))
    if any("xn--" in name for name in names):
        return NameText(pattern, names, "unicode")
    return pattern.format(*names)


def below(name: str, parent: str) -> bool:
    """Whether ``name`` lies below ``parent``."""
    return name.endswith("." + parent)


def dotted(text: str) -> bool:
    """Whether ``text`` contains a dot, or a character that IDNA converts to a dot."""
    return _DOTS.search(text) is not None


def suffixes(name: str) -> list[str]:
    """Return the possible zones of a domain name, the longest first.

    For ``example.com.ua``, these are ``com.ua`` and ``ua``.
    """
    labels = name.split(".")
    return [".".join(labels[at:]) for at in range(1, len(labels))]


def written(name: str, form: str, asked: str | None = None) -> str:
    """Return a domain name for a response. ``form`` is ``unicode``, ``ascii`` or ``as_asked``.

    ``asked`` is the name as the request wrote it, or None if the request did not name it.
    """
    if form == "ascii" or (form == "as_asked" and asked is not None and asked.isascii()):
        return name
    return to_unicode(name)
