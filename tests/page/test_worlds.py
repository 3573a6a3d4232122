"""The view of worlds: forked, dropped, compared, saved and opened."""

from __future__ import annotations

import re
from base64 import b64encode
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.page.conftest import Open

pytestmark = pytest.mark.slow


def test_a_world_is_forked_and_dropped(open_page: Open, served: Sandbox) -> None:
    page = open_page("/#/worlds")
    page.get_by_role("button", name="Fork this world", exact=True).click()
    sheet = page.get_by_role("dialog")
    sheet.locator("[data-path='[\"name\"]']").fill("trial")
    sheet.get_by_role("button", name="Fork this world", exact=True).click()
    expect(page).to_have_url(re.compile("world=trial"))
    assert "trial" in [one.name for one in served.worlds]
    page.locator("tr[data-row=trial]").get_by_role("button", name="Drop", exact=True).click()
    expect(page.locator("tr[data-row=trial]")).to_have_count(0)
    assert "trial" not in [one.name for one in served.worlds]


def test_two_worlds_are_compared(open_page: Open, served: Sandbox, wire: Api) -> None:
    served.worlds.fork(name="before")
    page = open_page("/#/worlds?from=default&to=default")
    expect(page.get_by_text("They are alike.")).to_be_visible()
    wire.post("/v3/domains/createDomain", {"domain": {"domainName": "one.com"}})
    page.get_by_label("One world").select_option("before")
    expect(page.locator("table.changes")).to_contain_text("one.com")


def test_the_list_follows_new_and_deleted_worlds(open_page: Open, served: Sandbox) -> None:
    page = open_page("/#/worlds")
    expect(page.get_by_role("link", name="default")).to_be_visible()
    for name, gone in (("first", None), ("other", "first")):
        served.worlds.fork(name=name)
        if gone:
            served.worlds.remove(gone)
        expect(page.locator(f"tr[data-row={name}]")).to_be_visible()
        expect(page.get_by_label("World", exact=True).locator("option")).to_have_text(["default", name])
    expect(page.locator("tr[data-row=first]")).to_have_count(0)


def test_a_world_is_saved_and_opened(open_page: Open, served: Sandbox, wire: Api, tmp_path: Path) -> None:
    wire.post("/v3/domains/createDomain", {"domain": {"domainName": "kept.com"}})
    page = open_page("/#/worlds")
    with page.expect_download() as download:
        page.locator("tr[data-row=default]").get_by_role("button", name="Save", exact=True).click()
    saved = tmp_path / download.value.suggested_filename
    download.value.save_as(saved)
    assert "kept.com" in saved.read_text("utf-8")
    page.get_by_label("Drop a fixture").set_input_files(saved)
    expect(page).to_have_url(re.compile("world="))
    (opened,) = (one.name for one in served.worlds if one.name != "default")
    found = page.request.get(f"/_worlds/{opened}/_sandbox/names/kept.com").json()
    assert found["account"] == "main"


def _drop(page: Page, name: str, content: bytes) -> None:
    """Drop a file where the page takes one, by the event that a browser makes of it."""
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


def test_a_capsule_is_saved_and_dropped(open_page: Open, served: Sandbox, wire: Api, tmp_path: Path) -> None:
    wire.post("/v3/domains/createDomain", {"domain": {"domainName": "kept.com"}})
    assert wire.post("/v3/domains/createDomain", {"domain": {"domainName": "kept.com"}}).status == 409
    page = open_page("/#/worlds")
    with page.expect_download() as download:
        page.locator("tr[data-row=default]").get_by_role("button", name="Capsule", exact=True).click()
    saved = tmp_path / download.value.suggested_filename
    download.value.save_as(saved)
    _drop(page, saved.name, saved.read_bytes())
    expect(page).to_have_url(re.compile(r"#/journal\?world="))
    expect(page.locator("main")).to_contain_text("2 requests")
    (opened,) = (one.name for one in served.worlds if one.name != "default")
    found = page.request.get(f"/_worlds/{opened}@before:r2/_sandbox/names/kept.com").json()
    assert found["account"] == "main"


def test_a_dropped_file_is_opened_or_refused(open_page: Open, served: Sandbox) -> None:
    page = open_page("/#/worlds")
    for content, words in ((b"zones: 7", "must be a mapping"), (b"\x1f\x8b\x08", "is no capsule")):
        _drop(page, "some.file", content)
        expect(page.locator("page-notices")).to_contain_text(words)
        assert len(served.worlds.list().worlds) == 1
    _drop(page, "mine.yaml", served.export().encode())
    expect(page).to_have_url(re.compile(r"#/worlds\?world="))
    assert len(served.worlds.list().worlds) == 2
