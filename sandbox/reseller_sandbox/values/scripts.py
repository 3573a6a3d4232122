"""Scripts of letters, such as Latin and Cyrillic, as Unicode defines them.

Digits, hyphens and combining marks belong to every script.
"""

from __future__ import annotations

import unicodedata
from functools import cache, lru_cache
from typing import Any

#: The scripts that registries accept in names.
SCRIPTS = (
    "latin",
    "greek",
    "cyrillic",
    "armenian",
    "georgian",
    "hebrew",
    "arabic",
    "syriac",
    "thaana",
    "devanagari",
    "bengali",
    "gurmukhi",
    "gujarati",
    "oriya",
    "tamil",
    "telugu",
    "kannada",
    "malayalam",
    "sinhala",
    "thai",
    "lao",
    "tibetan",
    "myanmar",
    "khmer",
    "mongolian",
    "ethiopic",
    "cherokee",
    "han",
    "hiragana",
    "katakana",
    "hangul",
    "bopomofo",
)

#: The scripts of one language: Japanese, Korean, Chinese with Bopomofo. They do not count as mixed, also
#: with Latin letters: registries accept these in the three languages, as the *highly restrictive* level of
#: Unicode's UTS 39 does.
_TOGETHER = (
    frozenset({"han", "hiragana", "katakana"}),
    frozenset({"han", "hangul"}),
    frozenset({"han", "bopomofo"}),
)


@lru_cache(maxsize=4096)
def script_of(letter: str) -> str:
    """Return the script of a letter, such as ``latin``.

    Return an empty string for a character that belongs to every script.
    """
    if _of("Common").match(letter) or _of("Inherited").match(letter):
        return ""
    script = next((script for script in SCRIPTS if _of(script.capitalize()).match(letter)), "")
    return script or unicodedata.name(letter, "unknown").partition(" ")[0].lower()


@cache
def _of(name: str) -> Any:
    import re2  # imported on first use, because few zones have rules about scripts

    return re2.compile(rf"\p{{{name}}}")


def letters_by_script(label: str) -> dict[str, str]:
    """Return the scripts of a label in Unicode, each with its first letter."""
    scripts: dict[str, str] = {}
    for letter in label:
        scripts.setdefault(script_of(letter), letter)
    scripts.pop("", None)
    return scripts


def are_mixed(scripts: dict[str, str]) -> bool:
    """Whether several ``scripts`` are mixed that no language uses together."""
    return len(scripts) > 1 and not any(scripts.keys() <= {"latin", *together} for together in _TOGETHER)
