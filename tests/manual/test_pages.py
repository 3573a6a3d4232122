"""The manual's pages: whatever they point at is there, and whatever is declared is in the reference."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from reseller_sandbox.core.assumptions import Assumptions
from reseller_sandbox.core.refusals import RULES
from reseller_sandbox.core.signatures import declared
from reseller_sandbox.faults import KINDS
from reseller_sandbox.faults.presets import PRESETS
from reseller_sandbox.fixture.schema import json_schema
from reseller_sandbox.manual.pages import FOLDER, INDEX, Manual, Written
from reseller_sandbox.manual.reference import REFERENCE, errors
from reseller_sandbox.manual.rendering import slug
from reseller_sandbox.powers.catalogue import POWERS
from reseller_sandbox.settings import ServerSettings
from reseller_sandbox.v2.interface import V2
from reseller_sandbox.v3.interface import V3
from tests.documents import blocks

MANUAL = Manual()
WRITTEN = {name: page.text for name, page in MANUAL.pages.items() if isinstance(page, Written)}

#: These pages show changes of the source, which another test makes.
OF_THE_SOURCE = {"explanation/architecture"}

#: Languages of blocks that are read and not run: data, and what has its own tests.
READ = {"text", "toml", "yaml", "json", "ini", "mermaid", "pycon", "diff", "py", "shell", "javascript"}

#: What a block of ``shell`` may show without being run: it installs, goes on until ended, or needs an engine.
SHELL = re.compile(
    r"(python3? -m venv|\.? ?\.venv/|pip install|make |docker |export |#"
    r"|reseller-sandbox (serve|wait|journal follow)).*"
)


@pytest.mark.parametrize("name", [name for name in WRITTEN if name not in OF_THE_SOURCE])
def test_no_block_is_left_out(name: str) -> None:
    """Each is run, is a file that a command uses, or is of a language that is read; a fence says which."""
    for one in blocks(WRITTEN[name]):
        if one.file:
            stem = Path(one.file).stem
            others = [other.content for other in blocks(WRITTEN[name]) if other != one]
            assert stem.startswith(("test_", "conftest")) or any(stem in other for other in others), one
        else:
            assert one.language in {"sh", "python", *READ}, one.language
        if one.language == "shell" and name != "how-to/sign":
            assert all(SHELL.fullmatch(line) for line in one.content.splitlines() if line), one.content
    assert len(re.findall(r"^```\w+$", WRITTEN[name], re.MULTILINE)) == sum(
        1 + bool(one.output) for one in blocks(WRITTEN[name])
    )


@pytest.mark.parametrize("name", MANUAL.pages)
def test_every_link_of_a_page_leads_somewhere(name: str) -> None:
    """To a page that is there, and to a heading that it has."""
    assert not [link for link in links(MANUAL.pages[name].text) if not leads(link, name)]


def links(text: str) -> Iterator[str]:
    """The targets of a page's links."""
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        for child in token.children or ():
            if child.type == "link_open":
                yield str(child.attrs["href"])


def leads(link: str, name: str) -> bool:
    """Whether a link of the page of that name leads to a page and a heading."""
    if "://" in link:
        return False  # the manual needs no network
    path, _, anchor = link.partition("#")
    file = (FOLDER / name).parent / path if path else FOLDER / f"{name}.md"
    page = MANUAL.pages.get(file.resolve().relative_to(FOLDER.resolve()).with_suffix("").as_posix())
    return page is not None and (not anchor or anchor in anchors(page.text))


@cache
def anchors(text: str) -> set[str]:
    """The anchors of a page's headings."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    return {
        slug("".join(child.content for child in tokens[at + 1].children or ()))
        for at, token in enumerate(tokens)
        if token.type == "heading_open"
    }


@pytest.mark.parametrize("name", MANUAL.pages)
def test_a_page_has_one_title_and_says_what_it_is_about(name: str) -> None:
    """A heading, and a sentence below it; no heading twice, so that each anchor is one."""
    page = MANUAL.pages[name]
    tokens = MarkdownIt("commonmark").parse(page.text)
    assert [token.tag for token in tokens if token.type == "heading_open"].count("h1") == 1
    assert page.text.startswith(f"# {page.title}\n\n{page.summary[:20]}")
    assert page.summary.endswith((".", ":"))
    headings = [tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open"]
    assert len({slug(one) for one in headings}) == len(headings)


def test_every_page_is_in_the_list() -> None:
    """Each once, the first one first."""
    listed = [page.name for _, pages in MANUAL.parts() for page in pages]
    files = {path.relative_to(FOLDER).with_suffix("").as_posix() for path in FOLDER.rglob("*.md")}
    assert listed[0] == INDEX
    assert sorted(listed) == sorted({*files, *(f"reference/{one.name}" for one in REFERENCE)})


def everything() -> Iterator[tuple[str, Any]]:
    """What each page of the reference has to name."""
    for row in (*V3.endpoints, *V2.endpoints):
        yield from (("operations", f"### {row.id}\n"), *(("operations", path) for path in row.paths))
    yield from (("errors", f"### {rule.code}\n") for rule in RULES.values())
    yield from (("errors", f"| `{one.message}` |") for one in errors.documented())
    yield from (("assumptions", f"| `{name}` |") for name in Assumptions().values())
    yield from (("settings", f"| `{one.name}` |") for one in declared(ServerSettings))
    yield from (("faults", f"### {name}\n") for name in (*KINDS, *PRESETS))
    yield from (("fixture", f"## {name}\n") for name in json_schema()["properties"])
    for power in POWERS.values():
        yield "powers", f"## {power.name}\n"
        yield "commands", f"## reseller-sandbox {power.name.replace('_', '-')}\n"
        yield from (("powers", f"### {one.id}\n") for one in power.operations())


def test_the_reference_names_whatever_is_declared() -> None:
    """Each operation, rule, documented error, assumption, setting, fault, section, power and command."""
    wanted = list(everything())
    missing = [told for page, told in wanted if told not in MANUAL.pages[f"reference/{page}"].text]
    assert len(wanted) > 400
    assert not missing


def test_every_result_is_told_with_its_fields() -> None:
    """By the names that Python and JSON have, each with what it is; records within others, too."""
    text = MANUAL.pages["reference/powers"].text
    told = text.partition("## Results\n")[2]
    for named in (
        "### Moved\n",
        "| `fired` | a list of [`Fired`](#fired) |",
        "### Fired\n",
        "| `at` | an instant |",
    ):
        assert named in told
    for power in POWERS.values():
        for one in power.operations():
            section = text.partition(f"### {one.id}\n")[2].partition("\n#")[0]
            assert re.search(r"^(Returns|Yields) \[`(\w+)`\]\(#\w+\)\.$", section, re.MULTILINE), one.id
