"""Search in the sections of the manual, for the ``manual`` command and for the search box."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from reseller_sandbox.manual.pages import Manual, Page, unique_anchor

#: Points for a word: in the title of a page, in the heading of a section, at each place in the text.
TITLE, HEADING, TEXT = 8, 12, 1

#: Maximum number of occurrences of a word that count in the text of a section.
MOST = 5


#: A block of code, in which a line can look like a heading.
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


class Section(Struct, frozen=True):
    """A heading of a page, and the text up to the next heading. ``title`` is the title of the page."""

    page: str
    title: str
    heading: str
    anchor: str
    text: str


def sections(manual: Manual) -> list[Section]:
    """Return the sections of all pages, in the order of the manual."""
    return [section for page in manual.pages.values() for section in _sections_of(page)]


def find(manual: Manual, words: str) -> list[Section]:
    """Return the sections that contain all ``words``, the best first."""
    wanted = words.lower().split()
    scored = [(_score(section, wanted), section) for section in sections(manual)] if wanted else []
    return [section for score, section in sorted(scored, key=lambda pair: -pair[0]) if score]


def _score(section: Section, words: list[str]) -> int:
    """Return the points of a section, or 0 if a word is missing. ``search.js`` also has this rule."""
    title, heading, text = section.title.lower(), section.heading.lower(), section.text.lower()
    total = 0
    for word in words:
        score = TITLE * (word in title) + HEADING * (word in heading) + TEXT * min(MOST, text.count(word))
        if not score:
            return 0
        total += score
    return total


def _sections_of(page: Page) -> Iterator[Section]:
    """Yield the sections of a page, with the same anchors as in the rendered page."""
    taken: dict[str, int] = {}
    parts = re.split(r"(?m)^(#{1,4} .+)$", _FENCE.sub(_indent, page.text))
    for line, text in zip(parts[1::2], parts[2::2], strict=True):
        heading = line.lstrip("# ").replace("`", "")
        yield Section(page.name, page.title, heading, unique_anchor(heading, taken), text.strip())


def _indent(block: re.Match[str]) -> str:
    return block[0].replace("\n", "\n ")
