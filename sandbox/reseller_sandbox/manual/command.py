"""The command ``reseller-sandbox manual``: it lists the pages, prints one, or writes all of them."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from reseller_sandbox.console import give_up, say
from reseller_sandbox.manual.pages import INDEX, Manual, UnknownPage

#: The widest line that is easy to read.
_WIDEST = 100


def listed() -> None:
    """Print the names of all pages, with their titles."""
    manual = Manual()
    width = max(map(len, manual.pages))
    for title, pages in manual.parts():
        click.secho(title, bold=True)
        for page in pages:
            click.echo(f"  {click.style(page.name.ljust(width), fg='cyan')}  {page.title}")
        click.echo()
    click.echo("Read one with: reseller-sandbox manual PAGE")


def printed(name: str) -> None:
    """Print a page: set in type on a terminal, as Markdown elsewhere."""
    try:
        text = Manual().page(name).text
    except UnknownPage as problem:
        give_up(f"{problem}; reseller-sandbox manual lists the pages")
    if not sys.stdout.isatty():
        say(text.rstrip("\n"))
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console(highlight=False)
    console.print(Markdown(text, hyperlinks=False), width=min(console.width, _WIDEST))


def written(folder: Path) -> None:
    """Write every page below ``folder`` as a file; the first one gets the list of them that Sphinx wants."""
    manual = Manual()
    for page in manual.pages.values():
        path = folder / f"{page.name}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page.text + (_lists(manual) if page.name == INDEX else ""), "utf-8")


def _lists(manual: Manual) -> str:
    parts = (
        "\n".join(
            [
                f"\n```{{toctree}}\n:caption: {title}\n",
                *(page.name for page in pages if page.name != INDEX),
                "```\n",
            ]
        )
        for title, pages in manual.parts()
    )
    return "".join(parts)
