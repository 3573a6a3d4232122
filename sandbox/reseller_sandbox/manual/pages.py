"""The pages of the manual: Markdown files, in the order in which the first one lists them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from reseller_sandbox.values.text_checks import nearest

FOLDER = Path(__file__).parent

#: The pictures that pages show, by their paths, as pages have names.
PICTURES: Mapping[str, Path] = {
    path.relative_to(FOLDER).as_posix(): path for path in sorted(FOLDER.glob("pictures/*.webp"))
}

#: The first page, which lists all others by parts.
INDEX = "index"

#: A page in that list, up to its name.
LISTED = re.compile(r"^\* \[.+\]\((.+)\.md\)", re.MULTILINE)


class UnknownPage(LookupError):
    """The manual has no such page; the message names the nearest."""


class Page:
    """A page in a file. Its name is the path without suffix."""

    def __init__(self, name: str) -> None:
        self.name = name

    @cached_property
    def text(self) -> str:
        """Its file."""
        return (FOLDER / f"{self.name}.md").read_text("utf-8")

    @property
    def title(self) -> str:
        """Its first heading."""
        return self.text.partition("\n")[0].removeprefix("# ")


class Manual:
    """The parts of the manual by their titles, each with its pages; and all pages by name."""

    def __init__(self) -> None:
        index = Page(INDEX)
        self.parts: dict[str, list[Page]] = {}
        for part in index.text.split("\n## ")[1:]:
            self.parts[part.partition("\n")[0]] = [Page(name) for name in LISTED.findall(part)]
        next(iter(self.parts.values())).insert(0, index)
        self.pages = {page.name: page for pages in self.parts.values() for page in pages}

    def page(self, name: str) -> Page:
        """Return the page of a name, or the first whose name ends so. Raise ``UnknownPage``."""
        page_name = name.strip("/").removesuffix(".md") or INDEX
        by_last = {name.rpartition("/")[2]: page for name, page in reversed(self.pages.items())}
        pages = {**by_last, **self.pages}
        if page_name not in pages:
            raise UnknownPage(f"the manual has no page {name[:80]!r}{nearest(page_name, sorted(pages))}")
        return pages[page_name]
