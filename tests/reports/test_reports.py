"""The forms of the report on coverage: each tells the same, and what it offers to copy works as it stands."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from reseller_sandbox import Sandbox
from reseller_sandbox.cli import main
from reseller_sandbox.core.lifecycle import TIMED, edges
from reseller_sandbox.core.model import Stage
from reseller_sandbox.core.state import State
from reseller_sandbox.coverage.gaps import Gap
from reseller_sandbox.coverage.items import AREAS
from reseller_sandbox.coverage.marks import Mark
from reseller_sandbox.reports import recipes
from reseller_sandbox.reports.lines import lines
from reseller_sandbox.reports.page import page
from reseller_sandbox.reports.picture import picture
from reseller_sandbox.reports.report import Report

MARKS = {
    ("operations", "v3.renewDomain"): Mark(
        times=3, carried_out=2, refused=1, by={"tests/test_a.py::test_one[<b>]": None}
    ),
    ("errors", "v3.renewDomain locked"): Mark(times=1, injected=1, by={"test_two": None}),
    ("errors", "v3.renewDomain wrong_state"): Mark(times=1, refused=1, by={"test_two": None}),
    ("stages", "v3.renewDomain active"): Mark(times=2, carried_out=2),
    ("transitions", "overdue to active"): Mark(times=1),
    ("events", "expiry"): Mark(times=4),
    ("assumptions", "v3.ids"): Mark(times=2, values={"string": None, "integer": None}),
}
REPORT = Report(MARKS, "tests")
NOTHING = Report({}, "tests")
PAGE = page(REPORT)

#: One gap with steps and a request of each area that has such, of either interface.
WITH_RECIPES = [
    next(one for one in NOTHING.missing if one.area == area and one.item.startswith(begin) and one.needs)
    for area, begin in (
        ("stages", "v3.renewDomain overdue"),
        ("stages", "v2.host.edit active"),
        ("operations", "v2.domain.register"),
        ("faults", "duplicate"),
        ("events", "expiry"),
    )
]


class Balanced(HTMLParser):
    """Reads a page and holds that what is opened is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Note what is opened."""
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Hold that it is the last that was opened."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note what can be read."""
        self.text.append(data)


class TestThePage:
    """One file, to look at."""

    def test_it_is_sound_and_tells_the_figures(self) -> None:
        """What is opened is closed; names of tests are shown as they are written."""
        reader = Balanced()
        reader.feed(PAGE)
        assert reader.open == []
        text = " ".join("".join(reader.text).split())
        for area in REPORT.areas:
            assert f"{area.covered} of {area.total}" in text
        assert "tests/test_a.py::test_one[<b>]" in text
        assert "string, integer" in text

    def test_an_injected_error_is_told_from_one_that_was_met(self) -> None:
        """By a word of its own."""
        row = PAGE[PAGE.index('<details id="v3.renewDomain">') :]
        assert re.search(r'class="half">injected</b>\s*<code>locked</code>', row)
        assert re.search(r'class="yes">1\xa0×</b>\s*<code>wrong_state</code>', row)
        assert re.search(r'class="no">missing</b>\s*<code>insufficient_funds</code>', row)

    def test_every_item_is_there(self) -> None:
        """Under its operation, or by its name."""
        for one in REPORT.items:
            name = one.item.removeprefix(f"{one.operation} ").partition(" ")[0]
            assert name.replace("_", " ") in PAGE or name in PAGE or name.replace("'", "&#39;") in PAGE

    def test_what_a_link_points_at_is_there(self) -> None:
        """Each place once."""
        places = re.findall(r' id="([^"]+)"', PAGE)
        assert len(places) == len(set(places))
        assert set(re.findall(r'href="#([^"]+)"', PAGE)) <= set(places)

    def test_a_report_of_nothing_and_one_of_everything(self) -> None:
        """The latter has no gaps to tell of."""
        everything = Report({one.key: Mark(times=1, carried_out=1) for one in REPORT.items}, "tests")
        assert "What is missing" in page(NOTHING)
        whole = page(everything)
        assert "What is missing" not in whole
        assert "100 %" in whole


class TestThePicture:
    """The life of a name, as the tables have it."""

    def test_it_has_every_stage_and_every_way(self) -> None:
        """Those that were walked are marked."""
        drawn = picture(REPORT.items)
        assert [box.name for box in drawn.boxes] == [stage for stage in Stage if stage != "released"]
        assert len(drawn.arcs) == len({edge[:2] for edge in edges(State())}) + len(TIMED)
        assert sorted(arc.label for arc in drawn.arcs if arc.walked) == ["expiry", "renewal"]
        assert {box.name: box.covered for box in drawn.boxes}["active"] == 1

    def test_no_two_labels_lie_on_each_other(self) -> None:
        """As far as their middles go."""
        spots = [(arc.x, arc.y) for arc in picture(REPORT.items).arcs]
        near = [
            (one, other)
            for at, one in enumerate(spots)
            for other in spots[at + 1 :]
            if abs(one[0] - other[0]) < 30 and abs(one[1] - other[1]) < 12
        ]
        assert not near

    def test_it_is_sound_and_within_its_frame(self) -> None:
        """As XML."""
        root = ElementTree.fromstring(re.search(r"<svg.*?</svg>", PAGE, re.DOTALL)[0])
        left, top, width, height = map(float, root.attrib["viewBox"].split())
        for text in root.iter("text"):
            assert left <= float(text.attrib["x"]) <= left + width
            assert top <= float(text.attrib["y"]) <= top + height


class TestTheLines:
    """For a terminal."""

    def test_a_line_for_each_area_and_one_for_all(self) -> None:
        """With the gaps that tell most, one of each area."""
        told = list(lines(REPORT))
        assert [line.split()[0] for line in told[: len(AREAS) + 1]] == [*AREAS, "all"]
        assert f"missing: {len(REPORT.missing)}, of which these tell most" in told

    def test_what_exercises_a_gap_can_be_pasted(self, sandbox: Sandbox) -> None:
        """Each line is whole; an error comes by a fault that strikes once."""
        pasted = []
        for line in lines(REPORT):
            if line.startswith("      reseller_sandbox."):
                eval(line.strip(), {"reseller_sandbox": sandbox})
                pasted.append(line)
            else:
                sandbox.reset()
        assert any("kind='error'" in line and "'times': 1" in line for line in pasted)

    def test_nothing_is_missing(self) -> None:
        """And so nothing is told of it."""
        everything = Report({one.key: Mark(times=1, carried_out=1) for one in REPORT.items}, "tests")
        assert len(list(lines(everything))) == len(AREAS) + 1


def test_the_json_is_the_whole_report() -> None:
    """As JSON has it, with its version, figures, items, and what is missing."""
    told = json.loads(json.dumps(REPORT.json()))
    assert told["version"] == 1
    assert (told["covered"], told["total"]) == (len(MARKS), len(told["items"]))
    assert len(told["missing"]) == told["total"] - told["covered"]
    (ids,) = [one for one in told["items"] if one["item"] == "v3.ids"]
    assert ids["values"] == ["string", "integer"]
    gap = told["missing"][0]
    assert {"area", "item", "operation", "how", "needs", "request", "inject"} == set(gap)


class TestWhatIsToBeCopied:
    """Each line works as it stands."""

    @pytest.mark.parametrize("gap", WITH_RECIPES, ids=lambda one: one.item)
    def test_in_a_test(self, gap: Gap) -> None:
        """The item is exercised after them."""
        sandbox = Sandbox()
        exec("\n".join(recipes.python(gap)), {"reseller_sandbox": sandbox})
        assert gap.item in {one.item for one in sandbox.coverage.items(area=gap.area, seen=True).items}

    def test_an_injection(self) -> None:
        """It has an error made up."""
        gap = next(one for one in NOTHING.missing if one.item == "v3.renewDomain locked")
        sandbox = Sandbox()
        exec(recipes.injection(gap), {"reseller_sandbox": sandbox})
        answer = sandbox.client().post("/v3/domains/renewDomain/active-example.com")
        assert answer.json["error"] == "locked"
        assert recipes.injection(WITH_RECIPES[0]) == ""

    @pytest.mark.slow
    def test_in_a_shell(self, served: tuple[Sandbox, str]) -> None:
        """Against a server of the packaged fixture, all in one shell."""
        sandbox, url = served
        gaps = [one for one in WITH_RECIPES if one.item in ("v2.host.edit active", "duplicate before")]
        script = "\nreseller-sandbox history reset\n".join("\n".join(recipes.shell(gap)) for gap in gaps)
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        subprocess.run(
            ["bash", "-c", script],
            env={**os.environ, "PATH": path, "RESELLER_SANDBOX_URL": url},
            capture_output=True,
            timeout=240,
            check=True,
        )
        seen = {one.item for one in sandbox.coverage.items(seen=True).items}
        assert {gap.item for gap in gaps} <= seen


@pytest.fixture
def served() -> Iterator[tuple[Sandbox, str]]:
    """A sandbox on a real port."""
    sandbox = Sandbox()
    with sandbox.serve() as server:
        yield sandbox, server.url


def test_the_command_reports_on_a_server(served: tuple[Sandbox, str], tmp_path: Path) -> None:
    """On all its worlds, or one; in lines, as JSON, as a page; a file that cannot be written is told."""
    sandbox, url = served
    sandbox.client().get("/v3/balance")
    with sandbox.fork(name="another") as other:
        other.client().get("/_worlds/another/v3/domains")

    def told(*words: str) -> tuple[int, str]:
        done = CliRunner().invoke(main, ["coverage", *words, "--url", url])
        return done.exit_code, done.output

    status, out = told("--html", str(tmp_path / "look.html"))
    assert (status, out.splitlines()[0].split()[:2]) == (0, ["operations", "2"])
    assert "<code>another/r2</code>" in (tmp_path / "look.html").read_text()
    status, out = told("--world", "default", "--json", "--operation", "v3.*")
    assert (status, json.loads(out)["by"], json.loads(out)["areas"][0]["covered"]) == (0, "requests", 1)
    assert told("--operation", "v4.*") == (2, "reseller-sandbox: operation matches no operation.\n")
    status, out = told("--html", str(tmp_path / "nowhere" / "look.html"))
    assert status == 2
    assert "No such file or directory" in out
