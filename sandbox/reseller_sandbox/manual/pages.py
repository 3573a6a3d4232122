"""The pages of the manual: Markdown files in the order of the index page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from reseller_sandbox.values.text_checks import nearest

FOLDER = Path(__file__).parent

#: The pictures of the pages, by path below the folder of the manual.
PICTURES: Mapping[str, Path] = {
    path.relative_to(FOLDER).as_posix(): path for path in sorted(FOLDER.glob("pictures/*.webp"))
}

#: The first page, which lists the other pages by part.
INDEX = "index"

#: A list item of the index page that links to another page.
LISTED = re.compile(r"^\* \[.+\]\((.+)\.md\)", re.MULTILINE)


class UnknownPage(LookupError):
    """Error for a page that the manual does not have. The message suggests a similar name."""


class Page:
    """A page of the manual. Its name is the path of its file without the suffix ``.md``."""

    def __init__(self, name: str) -> None:
        self.name = name

    @cached_property
    def text(self) -> str:
        """The Markdown text of the page."""
        return (FOLDER / f"{self.name}.md").read_text("utf-8")

    @property
    def title(self) -> str:
        """The title of the page, which is its first heading."""
        return self.text.partition("\n")[0].removeprefix("# ")


class Manual:
    """All pages of the manual: by part in ``parts``, and by name in ``pages``."""

    def __init__(self) -> None:
        index = Page(INDEX)
        self.parts: dict[str, list[Page]] = {}
        for part in re.split("\n##+ ", index.text)[1:]:
            if names := LISTED.findall(part):
                self.parts[part.partition("\n")[0]] = [Page(name) for name in names]
        next(iter(self.parts.values())).insert(0, index)
        self.pages = {page.name: page for pages in self.parts.values() for page in pages}

    def page(self, name: str) -> Page:
        """Return a page by its name or by the last segment of its name. Raise ``UnknownPage``."""
        page_name = name.strip("/").removesuffix(".md") or INDEX
        by_last = {name.rpartition("/")[2]: page for name, page in reversed(self.pages.items())}
        pages = {**by_last, **self.pages}
        if page_name not in pages:
            raise UnknownPage(f"the manual has no page {name[:80]!r}{nearest(page_name, sorted(pages))}")
        return pages[page_name]


def slug(words: str) -> str:
    """Return the anchor of a heading: lower-case letters, digits, and hyphens for spaces."""
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", words.lower()).strip())


def unique_anchor(words: str, taken: dict[str, int]) -> str:
    """Return the anchor of a heading, with a number if ``taken`` has the anchor. Count it in ``taken``."""
    anchor = slug(words)
    taken[anchor] = taken.get(anchor, -1) + 1
    return f"{anchor}-{taken[anchor]}" if taken[anchor] else anchor
