"""The pages of the manual: which there are, in which order, and what each says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import groupby
from pathlib import Path

from reseller_sandbox.core.texts import nearest

FOLDER = Path(__file__).parent

#: The pictures that pages show, by their paths, as pages have names.
PICTURES: Mapping[str, Path] = {
    path.relative_to(FOLDER).as_posix(): path for path in sorted(FOLDER.glob("pictures/*.webp"))
}

#: The first page.
INDEX = "index"

#: The parts of the manual by their folders, and the pages that have a place there: others follow by name.
PARTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "": ("Begin here", (INDEX, "tutorial")),
    "how-to": (
        "How to",
        (
            "v3",
            "v2",
            "sign",
            "life",
            "first-test",
            "other-languages",
            "pytest",
            "coverage",
            "elsewhere",
            "time",
            "faults",
            "sweep",
            "explore",
            "outside",
            "journal",
            "page",
            "worlds",
            "fixtures",
            "control",
            "command-line",
            "tls",
            "ci",
            "containers",
        ),
    ),
    "reference": (
        "Reference",
        (
            *(
                "operations",
                "errors",
                "headers",
                "lifecycle",
                "assumptions",
                "settings",
                "commands",
                "powers",
            ),
            *("faults", "fixture"),
        ),
    ),
    "explanation": (
        "Explanation",
        ("assumptions", "refusals", "determinism", "security", "performance", "architecture", "decisions"),
    ),
}


class UnknownPage(LookupError):
    """The manual has no such page; the message names the nearest."""


class Page:
    """A page in a file.

    Its name is its path without the ending, its summary the first sentence below its title, and its text the
    whole of it as Markdown.
    """

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

    @property
    def summary(self) -> str:
        """The first sentence below that."""
        paragraph = " ".join(self.text.split("\n\n")[1].split())
        return re.split(r"(?<=\.) ", paragraph)[0]


class First(Page):
    """The first page: what is written of it, and after that every other page with what it is about."""

    def __init__(self, manual: Manual) -> None:
        super().__init__(INDEX)
        self._manual = manual

    @cached_property
    def text(self) -> str:
        """Its file, and the list."""
        parts = (f"\n## {title}\n\n{self._listed(pages)}" for title, pages in self._manual.parts())
        return super().text + "".join(parts)

    def _listed(self, pages: Iterable[Page]) -> str:
        others = (page for page in pages if page is not self)
        return "".join(f"* [{page.title}]({page.name}.md): {page.summary}\n" for page in others)


class Manual:
    """The pages, in the order of reading."""

    def __init__(self) -> None:
        files = {path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.md")}
        known: list[Page] = [First(self), *map(Page, files - {INDEX})]
        self.pages = {page.name: page for page in sorted(known, key=lambda page: _place(page.name))}

    def page(self, name: str) -> Page:
        """Return the page of a name, or the first whose name ends so. Raise ``UnknownPage``."""
        wanted = name.strip("/").removesuffix(".md") or INDEX
        ending = (page for name, page in self.pages.items() if _last(name) == wanted)
        found = self.pages.get(wanted) or next(ending, None)
        if found is None:
            known = {*self.pages, *map(_last, self.pages)}
            raise UnknownPage(f"the manual has no page {name[:80]!r}{nearest(wanted, sorted(known))}")
        return found

    def parts(self) -> Iterator[tuple[str, list[Page]]]:
        """Yield each part of the manual: its title and its pages."""
        for folder, pages in groupby(self.pages.values(), key=lambda page: _folder(page.name)):
            yield PARTS[folder][0], list(pages)


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _place(name: str) -> tuple[int, int, str]:
    order = PARTS[_folder(name)][1]
    last = _last(name)
    return [*PARTS].index(_folder(name)), order.index(last) if last in order else len(order), last
