"""``python -m manual_reference`` writes the reference pages. ``--check`` lists outdated pages instead."""

from __future__ import annotations

import argparse
import re
import sys

from manual_reference.pages import REFERENCE, text_of
from reseller_sandbox.control.catalogue import RESOURCES
from reseller_sandbox.manual.pages import FOLDER, INDEX, LISTED, Page

#: The lines of the index page that link to the pages of the resources.
_RESOURCES = re.compile(r"(?:^\* \[.+\]\(reference/control-(?!operations).+\n)+", re.MULTILINE)


def main() -> None:
    """Write the reference pages and the index page, or check them."""
    parser = argparse.ArgumentParser(prog="python -m manual_reference", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="change nothing, and fail if a page would change"
    )
    check = parser.parse_args().check
    texts = {f"reference/{name}": text_of(name) for name in REFERENCE}
    stale = [name for name, text in texts.items() if not _is_current(name, text, check)]
    resources = "".join(f"* [{name}](reference/control-{name}.md)\n" for name in RESOURCES)
    index = _RESOURCES.sub(resources, Page(INDEX).text)
    index = re.sub(f"{LISTED.pattern}.*", _line, index, flags=re.MULTILINE)
    if not _is_current(INDEX, index, check):
        stale.append(INDEX)
    if stale:
        sys.exit(f"out of date: {', '.join(stale)}; run make reference")


def _is_current(name: str, text: str, check: bool) -> bool:
    """Whether a page has this ``text``. Unless ``check`` is true, write the page."""
    file = FOLDER / f"{name}.md"
    if not check:
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
    return file.exists() and file.read_text("utf-8") == text


def _line(listed: re.Match[str]) -> str:
    """Return the line for a page in the index: the page's title and its first sentence."""
    page = Page(listed[1])
    paragraph = " ".join(page.text.split("\n\n")[1].split())
    summary = re.split(r"(?<=\.) ", paragraph)[0]
    return f"* [{page.title}]({page.name}.md): {summary}"


if __name__ == "__main__":
    main()
