"""Command ``manual``, which lists the pages, prints one, or writes all of them."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from reseller_sandbox.cli.base import FOLDER, REFUSED, Command, give_up
from reseller_sandbox.manual.pages import INDEX, PICTURES, Manual, UnknownPage
from reseller_sandbox.manual.search import find, section, sections

#: Maximum line width in columns, because longer lines are hard to read.
_WIDEST = 100

#: Maximum number of sections that a search prints.
_FOUND = 12


@click.command(cls=Command)
@click.argument("words", nargs=-1, metavar="[PAGE]")
@click.option("--write", type=FOLDER, help="Folder to write all pages to, as the source of a Sphinx site.")
@click.option("--search", metavar="WORDS", help="List the sections that fit these words, the best first.")
def manual(words: tuple[str, ...], write: Path | None, search: str | None) -> None:
    """Print a page of the manual, or the list of its pages.

    PAGE can end with a section: how-to/sign#php. With --search, all further words belong to the search.
    """
    if search is not None:
        print_found(" ".join([search, *words]))
    elif len(words) > 1:
        raise click.UsageError(f"one page only. To search, write --search {' '.join(words)}")
    elif write is not None:
        write_pages(write)
    elif not words:
        print_list()
    else:
        print_page(words[0])


def print_list() -> None:
    """Print the names of all pages, with their titles."""
    all_pages = Manual()
    width = max(map(len, all_pages.pages))
    for title, pages in all_pages.parts.items():
        click.secho(title, bold=True)
        for page in pages:
            click.echo(f"  {click.style(page.name.ljust(width), fg='cyan')}  {page.title}")
        click.echo()
    click.echo("Read a page with: reseller-sandbox manual PAGE")


def print_found(words: str) -> None:
    """Print the sections that fit the words, the best first, each with a line of its text."""
    found = find(words, sections(Manual()))
    if not found:
        give_up(f"the manual has no section with {words[:80]!r}", REFUSED)
    for hit in found[:_FOUND]:
        place = hit.page if hit.heading == hit.title else f"{hit.page}#{hit.anchor}"
        click.echo(f"{click.style(place, fg='cyan')}  {hit.heading}")
        lines = (line for line in hit.text.splitlines() if words.split()[0].lower() in line.lower())
        if line := next(lines, ""):
            click.echo(f"    {line.strip()[:_WIDEST]}")
    if len(found) > _FOUND:
        click.echo(f"… and {len(found) - _FOUND} more. Give more words.")


def print_page(name: str) -> None:
    """Print a page or a section: formatted if the output is a terminal, otherwise as Markdown."""
    page_name, _, anchor = name.partition("#")
    pages = Manual()
    try:
        text = pages.page(page_name).text
        if anchor:
            text = section(pages, pages.page(page_name).name, anchor)
    except UnknownPage as problem:
        stop = "" if str(problem).endswith("?") else "."
        give_up(f"{problem}{stop} List the pages with: reseller-sandbox manual")
    if not sys.stdout.isatty():
        click.echo(text.rstrip("\n"))
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(highlight=False)
    console.print(Markdown(text, hyperlinks=False), width=min(console.width, _WIDEST))


#: The Sphinx configuration (``conf.py``) beside the written pages.
_CONF = """\
project = html_title = "reseller-sandbox"
extensions = ["myst_parser"]
myst_heading_anchors = 4
html_theme = "furo"
html_show_sphinx = html_show_copyright = html_copy_source = False
"""


def write_pages(folder: Path) -> None:
    """Write every page below ``folder``, as the source of a Sphinx site."""
    pages = Manual()
    texts = {f"{page.name}.md": page.text for page in pages.pages.values()}
    for title, part in pages.parts.items():
        names = "\n".join(page.name for page in part if page.name != INDEX)
        texts[f"{INDEX}.md"] += f"\n```{{toctree}}\n:hidden:\n:caption: {title}\n\n{names}\n```\n"
    for name, text in {**texts, "conf.py": _CONF}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    for name, picture in PICTURES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(picture.read_bytes())
