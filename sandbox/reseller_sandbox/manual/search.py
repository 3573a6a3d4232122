"""Search in the sections of the manual, for the ``manual`` command and for the search box."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import yaml
from msgspec import Struct

from reseller_sandbox.manual.pages import FOLDER, Manual, Page, UnknownPage, unique_anchor
from reseller_sandbox.values.text_checks import nearest

#: Points for a word: in the title of a page, in the heading of a section, in the words that the section is
#: also found by, at each place in the text.
TITLE, HEADING, ALSO, TEXT = 8, 12, 20, 1

#: Maximum number of occurrences of a word that count in the text of a section.
MOST = 5

#: Words that do not count, unless a search has no others.
_IGNORED = {
    *("a", "an", "and", "are", "can", "do", "does", "for", "how", "i", "in", "is", "it", "my", "of", "on"),
    *("or", "the", "to", "what", "when", "where", "why", "with"),
}

#: A block of code, in which a line can look like a heading.
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


class Section(Struct, frozen=True):
    """A heading of a page, and the text up to the next heading.

    ``title`` is the title of the page. ``also`` has words that users search for and that the text does not
    have, such as "add funds" for a credit.
    """

    page: str
    title: str
    heading: str
    anchor: str
    text: str
    also: str


def sections(manual: Manual) -> list[Section]:
    """Return the sections of all pages, in the order of the manual."""
    also: Mapping[str, str] = yaml.safe_load((FOLDER / "words.yaml").read_text("utf-8"))
    return [section for page in manual.pages.values() for section in _sections_of(page, also)]


def section(manual: Manual, page: str, anchor: str) -> str:
    """Return the text of a section of a page, with its heading. Raise ``UnknownPage``."""
    own = {each.anchor: each for each in sections(manual) if each.page == page}
    if anchor not in own:
        raise UnknownPage(f"the page {page} has no section {anchor[:80]!r}{nearest(anchor, own)}")
    return f"## {own[anchor].heading}\n\n{own[anchor].text}"


def find(words: str, sections: Iterable[Section]) -> list[Section]:
    """Return the sections that have at least half of ``words``, the best first."""
    every = words.lower().split()
    wanted = [word for word in every if word not in _IGNORED] or every
    scored = [(_score(section, wanted), section) for section in sections]
    return [section for score, section in sorted(scored, key=lambda pair: -pair[0]) if score]


def _score(section: Section, words: list[str]) -> float:
    """Return the points of a section, or 0 if more than half of the words are missing."""
    title, heading, text = section.title.lower(), section.heading.lower(), section.text.lower()
    points = [
        TITLE * (word in title)
        + HEADING * (word in heading)
        + ALSO * (word in section.also)
        + TEXT * min(MOST, text.count(word))
        for word in (word[:-1] if len(word) > 3 and word.endswith("s") else word for word in words)
    ]
    matched = sum(map(bool, points))
    return sum(points) * matched / len(points) if 2 * matched >= len(points) > 0 else 0


def _sections_of(page: Page, also: Mapping[str, str]) -> Iterator[Section]:
    """Yield the sections of a page, with the same anchors as in the rendered page."""
    taken: dict[str, int] = {}
    without_code = _FENCE.sub(lambda block: block[0].replace("\n", "\n "), page.text)
    parts = re.split(r"(?m)^(#{1,4} .+)$", without_code)
    for line, text in zip(parts[1::2], parts[2::2], strict=True):
        heading = line.lstrip("# ").replace("`", "")
        anchor = unique_anchor(heading, taken)
        place = page.name if heading == page.title else f"{page.name}#{anchor}"
        yield Section(page.name, page.title, heading, anchor, text.strip(), also.get(place, "").lower())
