"""Takes the pictures in the README and the manual: ``make pictures``. A test takes the same walk."""

from __future__ import annotations

import json
import re
import sys
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from reseller_sandbox import Sandbox
from tests.command import program
from tests.page.conftest import CHROMIUM, FLAGS, press
from tests.registry import REGISTRY, connect

README = Path(__file__).parents[2] / "README.md"
PAGE = README.parent / "sandbox/reseller_sandbox/manual/how-to/page.md"


def shown(page: Path) -> list[Path]:
    links = re.findall(r"!\[.+?\]\((.+?)\)", page.read_text("utf-8"))
    return [(page.parent / link).resolve() for link in links]


CREATE = {"domain": {"domainName": "new.com"}}


def prepare(sandbox: Sandbox) -> None:
    """Send some requests, of which one is refused and two meet faults. Let a name be about to expire."""
    sandbox.names.add("soon.com", account="main", expires="2026-03-20")
    sandbox.faults.add("error", error="internal_error", match={"operation": "v3.balance"}, when={"times": 1})
    sandbox.faults.add("latency", seconds=0.2, match={"operation": "v3.getDomain"}, when={"times": 1})
    main = connect(sandbox, "main")
    for _ in range(2):
        main.get("/v3/balance")
        main.post("/v3/domains/checkAvailability", {"domainNames": ["shop.com", "shop.net"]})
        main.post("/v3/domains/createDomain", {"domain": {"domainName": "shop.com"}})
        main.get("/v3/domains/getDomain/shop.com")
    connect(sandbox, "poor").post("/v3/domains/createDomain", CREATE)


def walk(sandbox: Sandbox, page: Page, stop: Callable[[str], object] = lambda name: None) -> None:
    """Go from a refusal to its cause, fix it, and move time. Call ``stop`` with the name of each picture."""
    refused = page.get_by_role("link").filter(has_text="insufficient_funds")
    expect(refused).to_be_visible()
    stop("journal")
    refused.click()
    entry = page.get_by_role("region", name=re.compile("Request r"))
    expect(entry).to_contain_text("10.00 USD are needed and the balance is 1.00 USD")
    expect(entry).to_contain_text("Remedy: top up the balance by 9.00 USD or more")
    stop("refused")
    page.get_by_role("link", name="Fix and send again").click()
    body = page.get_by_label("Body", exact=True)
    expect(body).not_to_be_empty()
    assert json.loads(body.input_value()) == CREATE
    expect(page.get_by_label("Top up poor by 9.00 USD")).to_be_checked()
    press(page, "Fix and send")
    expect(page.locator(".answer")).to_contain_text("200 OK")
    stop("sent-again")
    assert sandbox.names["new.com"].account == "poor"
    page.get_by_role("button", name="Move time").click()
    page.get_by_role("button", name="30 days").click()
    expiry = page.locator(".events li").filter(has_text="soon.com")
    expect(expiry).to_contain_text("expiry")
    stop("clock")
    expiry.get_by_role("link").click()
    expect(page.get_by_role("img", name="The name is active")).to_be_visible()
    page.get_by_role("button", name="Move time").click()  # the form is closed in another view
    press(page, "Advance")
    expect(page.get_by_role("img", name="The name is overdue")).to_be_visible()
    stop("expired")


#: Compresses a picture of the page in the browser.
_SMALL = """async (png) => {
  const drawn = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
  const canvas = new OffscreenCanvas(drawn.width, drawn.height);
  canvas.getContext("2d").drawImage(drawn, 0, 0);
  const small = await canvas.convertToBlob({ type: "image/webp", quality: 0.7 });
  return [...new Uint8Array(await small.arrayBuffer())];
}"""


def take(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    sandbox = Sandbox(REGISTRY)
    prepare(sandbox)
    with sandbox.serve() as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program(*CHROMIUM), args=FLAGS)
        page = browser.new_page(viewport={"width": 1200, "height": 640}, reduced_motion="reduce")
        page.goto(server.url)
        maker = browser.new_page()

        def stop(name: str) -> None:
            notices = page.locator("page-notices")
            notices.evaluate("(corner) => (corner.hidden = true)")
            picture = b64encode(page.screenshot()).decode()
            notices.evaluate("(corner) => (corner.hidden = false)")
            (folder / f"{name}.webp").write_bytes(bytes(maker.evaluate(_SMALL, picture)))

        walk(sandbox, page, stop)
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]) if len(sys.argv) > 1 else shown(PAGE)[0].parent)
