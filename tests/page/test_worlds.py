"""The view of worlds: forked, dropped, compared, saved and opened."""

from __future__ import annotations

import re
from base64 import b64encode
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.page.conftest import Open, data_field, press

pytestmark = pytest.mark.slow

KEPT = {"domain": {"domainName": "kept.com"}}


def saved(page: Page, button: str, folder: Path) -> Path:
    """Press a button in the row of the default world. Return the file that the browser downloads."""
    with page.expect_download() as download:
        press(page.locator("tr[data-row=default]"), button)
    file = folder / download.value.suggested_filename
    download.value.save_as(file)
    return file


def drop(page: Page, name: str, content: bytes) -> None:
    data = page.evaluate_handle(
        """([name, packed]) => {
          const content = Uint8Array.from(atob(packed), (one) => one.charCodeAt(0));
          const data = new DataTransfer();
          data.items.add(new File([content], name));
          return data;
        }""",
        [name, b64encode(content).decode()],
    )
    page.locator(".drop").dispatch_event("drop", {"dataTransfer": data})


def opened(served: Sandbox) -> str:
    """Return the only world beside the default."""
    (name,) = (world.name for world in served.worlds if world.name != "default")
    return name


def test_worlds_are_listed_and_forked_and_dropped(open_page: Open, served: Sandbox) -> None:
    page = open_page("/#/worlds")
    expect(page.get_by_role("link", name="default")).to_be_visible()
    served.worlds.fork(name="first")
    expect(page.locator("tr[data-row=first]")).to_be_visible()
    served.worlds.remove("first")
    expect(page.locator("tr[data-row=first]")).to_have_count(0)
    press(page, "Fork this world")
    sheet = page.get_by_role("dialog")
    data_field(sheet, "name").fill("trial")
    press(sheet, "Fork this world")
    expect(page).to_have_url(re.compile("world=trial"))
    assert opened(served) == "trial"
    expect(page.get_by_label("World", exact=True).locator("option")).to_have_text(["default", "trial"])
    press(page.locator("tr[data-row=trial]"), "Drop")
    expect(page.locator("tr[data-row=trial]")).to_have_count(0)
    assert len(list(served.worlds)) == 1


def test_two_worlds_are_compared(open_page: Open, served: Sandbox, wire: Api) -> None:
    served.worlds.fork(name="before")
    page = open_page("/#/worlds?from=default&to=default")
    expect(page.get_by_text("No differences.")).to_be_visible()
    wire.post("/v3/domains/createDomain", KEPT)
    page.get_by_label("One world").select_option("before")
    expect(page.locator("table.changes")).to_contain_text("kept.com")


def test_a_saved_world_can_be_opened_again(
    open_page: Open, served: Sandbox, wire: Api, tmp_path: Path
) -> None:
    wire.post("/v3/domains/createDomain", KEPT)
    page = open_page("/#/worlds")
    file = saved(page, "Save", tmp_path)
    page.get_by_label("Drop a fixture").set_input_files(file)
    expect(page).to_have_url(re.compile("world="))
    found = page.request.get(f"/_worlds/{opened(served)}/_sandbox/names/kept.com").json()
    assert found["account"] == "main"


def test_a_saved_recording_can_be_opened_by_drag_and_drop(
    open_page: Open, served: Sandbox, wire: Api, tmp_path: Path
) -> None:
    assert [wire.post("/v3/domains/createDomain", KEPT).status for _ in range(2)] == [200, 409]
    page = open_page("/#/worlds")
    file = saved(page, "Recording", tmp_path)
    drop(page, file.name, file.read_bytes())
    expect(page).to_have_url(re.compile(r"#/journal\?world="))
    expect(page.locator("main")).to_contain_text("2 requests")
    found = page.request.get(f"/_worlds/{opened(served)}@before:r2/_sandbox/names/kept.com").json()
    assert found["account"] == "main"


def test_a_file_dropped_on_the_page_is_opened_or_refused(open_page: Open, served: Sandbox) -> None:
    page = open_page("/#/worlds")
    for content, problem in ((b"zones: 7", "must be an object"), (b"\x1f\x8b\x08", "ends too early")):
        drop(page, "some.file", content)
        expect(page.locator("page-notices")).to_contain_text(problem)
        assert len(list(served.worlds)) == 1
    drop(page, "mine.yaml", served.export().encode())
    expect(page).to_have_url(re.compile(r"#/worlds\?world="))
    assert opened(served)
