"""``python -m manual_reference`` writes the pages; with ``--check`` it says which are out of date."""

from __future__ import annotations

import argparse
import re
import sys

from manual_reference.pages import REFERENCE
from reseller_sandbox.control.catalogue import RESOURCES
from reseller_sandbox.manual.pages import FOLDER, INDEX, LISTED, Page


def main() -> None:
    """Write or check the pages."""
    parser = argparse.ArgumentParser(prog="python -m manual_reference", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="change nothing, and fail if a page would change"
    )
    check = parser.parse_args().check
    stale = []
    for page in REFERENCE:
        file, text = FOLDER / "reference" / f"{page.name}.md", page.text(RESOURCES)
        if check and (not file.exists() or file.read_text("utf-8") != text):
            stale.append(page.name)
        elif not check:
            file.parent.mkdir(exist_ok=True)
            file.write_text(text, "utf-8")
    index = FOLDER / f"{INDEX}.md"
    listed = re.sub(f"{LISTED.pattern}.*", _line, index.read_text("utf-8"), flags=re.MULTILINE)
    if check and listed != index.read_text("utf-8"):
        stale.append(INDEX)
    elif not check:
        index.write_text(listed, "utf-8")
    if stale:
        sys.exit(f"out of date: {', '.join(stale)}; run make reference")


def _line(found: re.Match[str]) -> str:
    """Return the line of a page in the list of all pages: its title, and its first sentence."""
    page = Page(found[1])
    paragraph = " ".join(page.text.split("\n\n")[1].split())
    summary = re.split(r"(?<=\.) ", paragraph)[0]
    return f"* [{page.title}]({page.name}.md): {summary}"


if __name__ == "__main__":
    main()
