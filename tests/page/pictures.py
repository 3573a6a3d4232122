"""Takes the pictures of the page that the README shows: ``make pictures``.

They are of the walk that a test takes as well, in a real browser, so they show the page as it is.
"""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from reseller_sandbox import Sandbox
from tests.outfit import program
from tests.page.conftest import CHROMIUM, FLAGS
from tests.page.walk import prepare, walk
from tests.registry import REGISTRY

FOLDER = Path(__file__).parents[2] / ".github/pictures"


def take(folder: Path) -> None:
    """Write every picture."""
    folder.mkdir(parents=True, exist_ok=True)
    sandbox = Sandbox(REGISTRY)
    prepare(sandbox)
    with sandbox.serve() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program(*CHROMIUM), args=FLAGS)
        page = browser.new_page(viewport={"width": 1200, "height": 640}, reduced_motion="reduce")
        page.goto(server.url)

        def stop(name: str) -> None:
            page.evaluate("document.querySelector('page-notices').replaceChildren()")
            page.screenshot(path=folder / f"{name}.png")

        walk(sandbox, page, stop)
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER)
