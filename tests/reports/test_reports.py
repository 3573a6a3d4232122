"""The report on coverage as lines, as JSON and as a page, whose code fills the gaps."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from reseller_sandbox import Sandbox
from tests.command import printed, run

AREAS = ["operations", "errors", "stages", "transitions", "events", "faults", "assumptions", "situations"]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The address of a sandbox with earlier requests that had different results."""
    sandbox = Sandbox()
    client = sandbox.client()
    sandbox.names.add("removed.com", account="main", stage="redemption")
    for name in ("overdue-example.com", "active-example.com", "removed.com", "removed.com"):
        client.post(f"/v3/domains/renewDomain/{name}")
    with sandbox.faults.add("error", error="locked"):
        client.post("/v3/domains/renewDomain/active-example.com")
    sandbox.assumptions.set({"v3.ids": "integer"})
    client.get("/v3/domains/getDomain/active-example.com")
    with sandbox.fork(name="another") as other:
        other.client().get("/v3/balance")
    with sandbox.serve() as server:
        yield server.url


@pytest.fixture(scope="module")
def report(url: str) -> dict[str, Any]:
    return dict(json.loads(printed("coverage", "--json", "--url", url)))


@pytest.fixture(scope="module")
def page(url: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("report") / "look.html"
    shown = printed("coverage", "--html", str(file), "--url", url)
    assert shown.split()[:5] == ["operations", "3", "of", "54", "5.5"]  # rounded down
    return file.read_text("utf-8")


def test_the_coverage_page_is_well_formed_and_shows_every_figure_and_item(
    page: str, report: dict[str, Any]
) -> None:
    """The section of an operation has its errors. Injected errors are marked."""
    root = ElementTree.fromstring(re.sub(r"(?i)<!doctype[^>]*>|<(meta|br)\b[^>]*>", "", page))
    text = " ".join("".join(root.itertext()).split())
    for area in report["areas"]:
        assert f"{area['covered']} of {area['total']}" in text
    assert re.search("string, integer|integer, string", text)
    assert "<code>another/r7</code>" in page
    places = re.findall(r' id="([^"]+)"', page)
    assert len(places) == len(set(places))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(places)
    names = {item["item"].removeprefix(f"{item['operation']} ").partition(" ")[0] for item in report["items"]}
    assert [name for name in names if name not in text and name.replace("_", " ") not in text] == []
    operation = page[page.index('<details id="v3.renewDomain">') :]
    for kind, mark, error in (
        ("half", "injected", "locked"),
        ("yes", "2\xa0×", "wrong_state"),
        ("no", "missing", "insufficient_funds"),
    ):
        assert re.search(rf'class="{kind}">{mark}</b>\s*<code>{error}</code>', operation)


def test_the_coverage_report_has_the_same_figures_as_text_and_as_json(
    url: str, report: dict[str, Any], tmp_path: Path
) -> None:
    """The report is of all worlds or of one, and of all operations or of some."""
    lines = printed("coverage", "--url", url).splitlines()
    assert [line.split()[0] for line in lines[: len(AREAS) + 3]] == [
        *AREAS,
        *(figure["name"] for figure in report["figures"]),
    ]
    covered, total, missing = report["covered"], report["total"], report["missing"]
    assert lines[len(AREAS) + 2].split()[1:4] == [str(covered), "of", str(total)]
    assert f"missing: {total - covered}. The most important:" in lines
    assert (report["version"], len(report["items"]), len(missing)) == (1, total, total - covered)
    assert set(missing[0]) == {"area", "item", "operation", "how", "needs", "request", "inject"}
    part = json.loads(
        printed("coverage", "--world", "default", "--json", "--operation", "v3.*", "--url", url)
    )
    assert (part["by"], part["areas"][0]["covered"]) == ("requests", 2)
    done = run("coverage", "--operation", "v4.*", "--url", url)
    assert (done.status, done.err) == (
        2,
        "reseller-sandbox: the parameter operation matches no operation of the contract.\n",
    )
    done = run("coverage", "--html", str(tmp_path / "nowhere" / "look.html"), "--url", url)
    assert (done.status, "No such file or directory" in done.err) == (2, True)


def test_the_code_on_the_coverage_page_exercises_the_missing_items(page: str) -> None:
    section = page[page.index("Missing items") :].partition("</section>")[0]
    pattern = r'<span class="area">(\w+)</span> <code>([^<]+)</code></summary>(.*?)</details>'
    tried, left = set(), []
    for area, item, content in re.findall(pattern, section, re.DOTALL):
        code = [unescape(block) for block in re.findall(r"<pre[^>]*>(.*?)</pre>", content, re.DOTALL)]
        if code:
            sandbox = Sandbox()
            exec("\n".join([*code[2:], code[0]]), {"reseller_sandbox": sandbox})
            tried.add(area)
            if item not in {seen.item for seen in sandbox.coverage.items(area=area, seen=True).items}:
                left.append(item)
    assert left == []
    assert tried == {*AREAS} - {"assumptions", "situations"}
