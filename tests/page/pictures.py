"""Takes the pictures of the page that the README and the manual show: ``make pictures``.

They are of the walk that a test takes as well, in a real browser, so they show the page as it is.
"""

from __future__ import annotations

import re
import sys
from base64 import b64encode
from pathlib import Path

from playwright.sync_api import sync_playwright

from reseller_sandbox import Sandbox
from tests.outfit import program
from tests.page.conftest import CHROMIUM, FLAGS
from tests.page.walk import prepare, walk
from tests.registry import REGISTRY

README = Path(__file__).parents[2] / "README.md"


def shown(page: Path) -> list[Path]:
    """Return the pictures that a page of Markdown shows."""
    return [
        (page.parent / link).resolve() for link in re.findall(r"!\[.+?\]\((.+?)\)", page.read_text("utf-8"))
    ]


#: Makes a picture of the page a small one: the browser knows how.
_SMALL = """async (png) => {
  const drawn = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
  const canvas = new OffscreenCanvas(drawn.width, drawn.height);
  canvas.getContext("2d").drawImage(drawn, 0, 0);
  const small = await canvas.convertToBlob({ type: "image/webp", quality: 0.85 });
  return [...new Uint8Array(await small.arrayBuffer())];
}"""


def take(folder: Path) -> None:
    """Write every picture."""
    folder.mkdir(parents=True, exist_ok=True)
    sandbox = Sandbox(REGISTRY)
    prepare(sandbox)
    with sandbox.serve() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program(*CHROMIUM), args=FLAGS)
        page = browser.new_page(viewport={"width": 1200, "height": 640}, reduced_motion="reduce")
        page.goto(server.url)
        maker = browser.new_page()

        def stop(name: str) -> None:
            page.evaluate("document.querySelector('page-notices').replaceChildren()")
            picture = b64encode(page.screenshot()).decode()
            (folder / f"{name}.webp").write_bytes(bytes(maker.evaluate(_SMALL, picture)))

        walk(sandbox, page, stop)
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]) if len(sys.argv) > 1 else shown(README)[0].parent)
