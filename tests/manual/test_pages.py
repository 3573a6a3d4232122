"""The manual's pages, by the command and over HTTP: complete, linked, and named after the code."""

from __future__ import annotations

import io
import json
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from html.parser import HTMLParser
from pathlib import Path
from posixpath import join, normpath
from typing import Any

import pytest

import reseller_sandbox.testing
from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.command import printed, run
from tests.manual import FOLDER, pages
from tests.registry import Make, connect

MANUAL = "/_sandbox/manual"


def test_the_manual_command_lists_titles_and_prints_pages_as_markdown() -> None:
    lines = printed("manual").splitlines()
    listed = dict(line.split(maxsplit=1) for line in lines if line.startswith("  "))
    assert listed == {name: text.splitlines()[0].removeprefix("# ") for name, text in pages().items()}
    written = {path.relative_to(FOLDER).with_suffix("").as_posix(): path for path in FOLDER.rglob("*.md")}
    assert pages().keys() == written.keys()
    assert pages() == {name: path.read_text("utf-8") for name, path in written.items()}
    for short, name in (
        ("settings", "reference/settings"),
        ("faults.md", "how-to/faults"),
        ("control-faults", "reference/control-faults"),
    ):
        assert printed("manual", short) == pages()[name]
    for wrong, near in (("tutorail", "tutorial"), ("how-to/falts", "how-to/faults")):
        refused = run("manual", wrong)
        assert (refused.status, refused.out) == (2, "")
        assert f"did you mean {near}?" in refused.err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_manual_command_formats_a_page_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["reseller-sandbox", "manual", "faults"])
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with redirect_stdout(Terminal()) as terminal, suppress(SystemExit):
        runpy.run_module("reseller_sandbox", run_name="__main__")
    text = terminal.getvalue()
    assert "Make requests fail" in text
    assert ("\x1b[" in text, "```" in text) == (True, False)


def test_the_site_contains_all_manual_pages(tmp_path: Path) -> None:
    site = tmp_path / "new" / "site"
    printed("manual", "--write", str(site))
    for name, text in pages().items():
        assert (site / f"{name}.md").read_text("utf-8").startswith(text)
    assert pages().keys() - {"index"} <= {*(site / "index.md").read_text("utf-8").splitlines()}
    assert {path.name for path in FOLDER.rglob("*.webp")} == {path.name for path in site.rglob("*.webp")}
    compile((site / "conf.py").read_text("utf-8"), "conf.py", "exec")


class Page(HTMLParser):
    """The links, anchors and pictures of a page, which needs nothing else."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links, self.anchors = list[str](), list[str]()
        self.pictures: dict[str, str] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in {"link", "iframe", "object", "form", "base"}
        values = {name: value or "" for name, value in attrs}
        if tag == "script":
            assert values.pop("src").endswith("search.js")
        self.links += [values["href"]] if "href" in values else []
        self.anchors += [values["id"]] if "id" in values else []
        if tag == "img":
            self.pictures[values.pop("src")] = values["alt"]
        assert not [name for name in values if name.startswith("on") or name in ("style", "src")]


@pytest.fixture(scope="module")
def served_pages() -> dict[str, Page]:
    """Every page by the path that it is served under, behind a world's prefix."""
    api = connect(Sandbox("empty"))
    paths = [MANUAL, f"{MANUAL}/settings", f"{MANUAL}/settings/", *(f"{MANUAL}/{name}" for name in pages())]
    texts = {path: api.send("GET", f"/_worlds/default{path}", []).raw.decode() for path in paths}
    assert all(text.startswith("<!doctype html>") for text in texts.values())
    return {path: Page(text) for path, text in texts.items()}


def test_links_lead_to_existing_headings_and_pictures_are_served(
    wire: Api, served_pages: dict[str, Page]
) -> None:
    pictures: set[str] = set()
    for path, page in served_pages.items():
        folder = path.rpartition("/")[0]
        assert len(page.anchors) == len({*page.anchors}), path
        assert normpath(join(folder, page.links[0])) == "/", "the first link leads to the page of the sandbox"
        for link in page.links[1:]:
            target, _, anchor = link.partition("#")
            found = normpath(join(folder, target)) if target else path
            assert found in served_pages, f"{path} links to {link}"
            assert not anchor or anchor in served_pages[found].anchors, f"{path} links to {link}"
        listed = {normpath(join(folder, link)) for link in page.links if "#" not in link}
        assert listed >= {f"{MANUAL}/{name}" for name in pages()}
        assert all(page.pictures.values()), "each picture has a description"
        pictures |= {normpath(join(folder, source)) for source in page.pictures}
    assert {Path(path).name for path in pictures} == {path.name for path in FOLDER.rglob("*.webp")}
    for path in pictures:
        answer = wire.send("GET", path, [])
        assert (answer.status, answer.headers["content-type"]) == (200, "image/webp")


def test_pages_are_html_or_markdown_and_load_nothing_from_other_hosts(wire: Api, make: Make) -> None:
    for path, accept, form in (
        ("index", "*/*", "html"),
        ("index", "text/markdown", "markdown"),
        ("index", "text/html,text/markdown;q=0.5", "html"),
        ("explanation/why-assumptions.md", "text/html", "markdown"),
        ("settings", "", "html"),
    ):
        answer = wire.send("GET", f"{MANUAL}/{path}", [("Accept", accept)])
        assert (answer.status, answer.headers["content-type"]) == (200, f"text/{form}; charset=utf-8")
        assert form == "html" or answer.raw.decode() == pages()[path.removesuffix(".md")]
    for path in ("nothing", "how-to/fault", "<script>", "../settings", "a" * 300, "%00"):
        answer = wire.send("GET", f"{MANUAL}/{path}", [])
        assert (answer.status, (answer.error or "")[:8]) == (404, "unknown_")
        assert "how-to" not in path or "did you mean how-to/faults" in answer.message
    headers = wire.send("GET", MANUAL, []).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert re.fullmatch(
        r"default-src 'none'; style-src 'sha256-[\w+/]{43}='; script-src 'self'; base-uri 'none'; "
        r"form-action 'none'; frame-ancestors 'none'; img-src 'self'",
        headers["content-security-policy"],
    )
    guarded = connect(make(control_token="secret"))
    for path in (MANUAL, "/_sandbox/openapi/v3.json"):
        assert guarded.send("GET", path, []).error == "control_token_missing"
        assert guarded.send("GET", path, [("X-Sandbox-Token", "secret")]).status == 200


def declared() -> Iterator[tuple[str, Any]]:
    """Yield the words that each page of the reference has to contain."""
    without_a_resource = re.compile("/_sandbox/(openapi|manual|page|reader|session|sign|forms|calls)")
    for interface, page in {"v3": "operations-v3", "v2": "operations-v2", "control": "control-"}.items():
        document = Sandbox().client().get(f"/_sandbox/openapi/{interface}.json").json
        for path, row in document["paths"].items():
            if not without_a_resource.match(path):
                resource = path.split("/")[2] if page == "control-" else ""
                yield from ((f"{page}{resource}", f"`{method.upper()} {path}`") for method in row)
    for name, rule in re.findall(r"\[`(\w+)`\]\(errors\.md#(\w+)\)", pages()["reference/operations-v3"]):
        assert name == rule
        yield "errors", f"### {rule}\n"
    yield from (("assumptions", f"| `{row.name}` |") for row in Sandbox().assumptions.list().assumptions)
    yield from (("fault-kinds", f"### {row.kind}\n") for row in Sandbox().faults.kinds().kinds)
    settings = re.findall(r"(?m)^  (--[a-z-]+) ", printed("serve", "--help"))
    yield from (("settings", name) for name in settings if name != "--help")
    commands = re.findall(r"(?m)^  ([a-z][a-z-]+) {2,}", printed("--help"))
    yield from (("commands", f"## reseller-sandbox {name}\n") for name in commands)
    schema = printed("fixture", "schema")
    yield from (("fixture-format", f"## {name}\n") for name in re.findall(r'(?m)^    "(\w+)": \{$', schema))
    yield from (
        ("control-clock", words)
        for words in (
            "## ClockMove\n",
            "| `events` | a list of [`RegistryEventRecord`](#registryeventrecord) |",
        )
    )
    yield from (("control-events", words) for words in ("## RegistryEventRecord\n", "| `at` | an instant |"))
    for module in (reseller_sandbox, reseller_sandbox.testing):
        yield from (("python-api", f"### {name}\n") for name in module.__all__)


def test_the_reference_pages_match_the_declarations() -> None:
    """They are files, which ``make reference`` writes."""
    command = [sys.executable, "-m", "manual_reference", "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_reference_names_every_declaration() -> None:
    wanted = list(declared())
    assert len(wanted) > 300
    assert not [(page, words) for page, words in wanted if words not in pages()[f"reference/{page}"]]


def test_the_assumptions_page_shows_the_values_of_both_profiles() -> None:
    rows = re.findall(r"(?m)^\| `([^`]+)` \| `(.*?)` \| (.*?) \|", pages()["reference/assumptions"])
    shown = {name: (default, observed.strip("` ") or default) for name, default, observed in rows}
    documented, observed = (
        dict(re.findall(r"(?m)^([a-z][\w.]+)=(\S*)", printed("assumptions", *words)))
        for words in ((), ("--profile", "observed"))
    )
    assert len(documented) > 40
    assert shown == {name: (value, observed[name]) for name, value in documented.items()}


def test_no_two_pages_have_the_same_file_name() -> None:
    names = [name.rpartition("/")[2] for name in pages()]
    assert len(names) == len({*names})


def test_the_reference_of_an_operation_shows_response_types_and_a_sample() -> None:
    for page, heading, rows in (
        ("operations-v2", "v2.domain.check", ["| `avail` | string: `true`, `false` |"]),
        ("operations-v2", "v2.contact.check", ["| `avail` | boolean |"]),
        ("operations-v3", "v3.balance", ["| `[].balance` | string |", '"balance": "']),
    ):
        section = pages()[f"reference/{page}"].partition(f"## {heading}\n")[2].partition("\n## ")[0]
        assert [row for row in rows if row not in section] == [], section
        assert "```json\n" in section


def test_search_lists_sections_that_contain_all_words_best_first(wire: Api) -> None:
    best = printed("manual", "--search", "Follow the Name").splitlines()[0]
    assert best == "how-to/life  Follow a name through its life"
    for words in ("insufficient_funds", "HTTPS certificate"):
        lines = printed("manual", "--search", words).lower()
        assert all(word in lines for word in words.lower().split())
    nothing = run("manual", "--search", "no-such-word")
    assert (nothing.status, nothing.out) == (1, "")
    assert "no section with 'no-such-word'" in nothing.err
    script = wire.send("GET", f"{MANUAL}/search.js", [])
    assert (script.status, script.headers["content-type"]) == (200, "text/javascript; charset=utf-8")


def test_each_section_of_the_search_index_leads_to_a_heading(
    wire: Api, served_pages: dict[str, Page]
) -> None:
    index = wire.send("GET", f"{MANUAL}/search-index.js", []).raw.decode()
    sections = json.loads(index.removeprefix("export default "))
    assert len(sections) > 400
    assert [
        (section["page"], section["anchor"])
        for section in sections
        if section["anchor"] not in served_pages[f"{MANUAL}/{section['page']}"].anchors
    ] == []
