"""The manual's pages point at what is there, and the reference names whatever is declared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from reseller_sandbox import Sandbox
from tests.documents import blocks
from tests.manual import FOLDER, command, pages

#: This page shows changes of the source, which another test makes.
OF_THE_SOURCE = "explanation/architecture"

#: Languages of blocks that are read and not run.
READ = {"text", "toml", "yaml", "json", "ini", "mermaid", "pycon", "diff", "py", "shell", "javascript"}

#: The lines that a block of ``shell`` may show without being run: they install, run on, or need an engine.
SHELL = re.compile(
    r"(python3? -m venv|\.? ?\.venv/|pip install|make |docker |export |#"
    r"|reseller-sandbox (serve|wait|journal follow)).*"
)


def test_no_block_is_left_out(subtests: pytest.Subtests) -> None:
    """Each is run, is a file that a command uses, or is of a language that is read."""
    for name, text in pages().items():
        if name == OF_THE_SOURCE or not (FOLDER / f"{name}.md").exists():
            continue
        with subtests.test(name):
            found = blocks(text)
            for one in found:
                if one.file:
                    stem = Path(one.file).stem
                    uses = [other.content for other in found if other != one and stem in other.content]
                    assert stem.startswith(("test_", "conftest")) or uses, one
                else:
                    assert one.language in {"sh", "python", *READ}, one.language
                if one.language == "shell" and name != "how-to/sign":
                    assert not [
                        line for line in one.content.splitlines() if line and not SHELL.fullmatch(line)
                    ]
            fences = re.findall(r"^```\w+$", text, re.MULTILINE)
            assert len(fences) == sum(1 + bool(one.output) for one in found)


def test_every_link_leads_to_a_page_and_a_heading(subtests: pytest.Subtests) -> None:
    for name in pages():
        with subtests.test(name):
            assert not [link for link in links(pages()[name]) if not leads(link, name)]


def links(text: str) -> Iterator[str]:
    """Yield the targets of a page's links."""
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
    text = pages().get(file.resolve().relative_to(FOLDER.resolve()).with_suffix("").as_posix())
    return text is not None and (not anchor or anchor in headings(text))


@cache
def headings(text: str) -> list[str]:
    """Return the anchors of a page's headings."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    found = [tokens[at + 1] for at, token in enumerate(tokens) if token.type == "heading_open"]
    words = ["".join(child.content for child in one.children or ()) for one in found]
    return [re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in words]


def test_a_page_has_a_title_and_a_sentence_below_it(subtests: pytest.Subtests) -> None:
    for name, text in pages().items():
        with subtests.test(name):
            title, empty, summary = text.split("\n", 2)
            assert title.startswith("# ")
            assert not empty
            assert summary.partition("\n\n")[0].endswith((".", ":"))
            assert len({*headings(text)}) == len(headings(text))
            for token in MarkdownIt("commonmark").enable("table").parse(text):
                kinds = {child.type for child in token.children or ()} | {token.type}
                assert not kinds & {"html_inline", "html_block"}, token.content


#: Paths of control that show files, and belong to no resource.
WITHOUT_A_RESOURCE = tuple(
    f"/_sandbox/{name}" for name in ("openapi", "manual", "page", "reader", "session", "sign")
)


def everything() -> Iterator[tuple[str, Any]]:
    """Yield what each page of the reference has to name."""
    client = Sandbox().client()
    for interface in ("v3", "v2", "control"):
        page = "powers" if interface == "control" else "operations"
        for path, row in client.get(f"/_sandbox/openapi/{interface}.json").json["paths"].items():
            if not path.startswith(WITHOUT_A_RESOURCE):
                yield from ((page, f"`{method.upper()} {path}`") for method in row)
    for name, rule in re.findall(r"\[`(\w+)`\]\(errors\.md#(\w+)\)", pages()["reference/operations"]):
        assert name == rule
        yield "errors", f"### {rule}\n"
    yield from (("assumptions", f"| `{one.name}` |") for one in Sandbox().assumptions.list().assumptions)
    yield from (("faults", f"### {one.kind}\n") for one in Sandbox().faults.kinds().kinds)
    yield from (
        ("settings", name) for name in re.findall(r"(?m)^  (--[a-z-]+) ", command("serve", "--help").output)
    )
    helped = command("--help").output
    for name in re.findall(r"(?m)^  ([a-z][a-z-]+) {2,}", helped):
        yield "commands", f"## reseller-sandbox {name}\n"
    schema = command("fixture", "schema").output
    yield from (("fixture", f"## {name}\n") for name in re.findall(r'(?m)^    "(\w+)": \{$', schema))


def test_the_reference_names_whatever_is_declared() -> None:
    wanted = [row for row in everything() if row != ("settings", "--help")]
    missing = [(page, words) for page, words in wanted if words not in pages()[f"reference/{page}"]]
    assert len(wanted) > 300
    assert not missing


def test_every_result_is_described_with_its_fields() -> None:
    results = pages()["reference/powers"].partition("## Results\n")[2]
    for words in (
        "### Moved\n",
        "| `fired` | a list of [`Fired`](#fired) |",
        "### Fired\n",
        "| `at` | an instant |",
    ):
        assert words in results
