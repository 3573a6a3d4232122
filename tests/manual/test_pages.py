"""The manual's pages, by the command and over HTTP: complete, linked, and named after the code."""

from __future__ import annotations

import ast
import io
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
from urllib.parse import urlencode

import pytest
import yaml

import reseller_sandbox
import reseller_sandbox.testing
from reseller_sandbox import Sandbox
from tests.clients import Api
from tests.command import printed, run
from tests.documented import document
from tests.manual import FOLDER, pages
from tests.registry import Make, connect

MANUAL = "/_sandbox/manual"

PACKAGE = Path(reseller_sandbox.__file__).parent


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
        r"default-src 'none'; style-src 'sha256-[\w+/]{43}='; script-src 'self'; connect-src 'self'; "
        r"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; img-src 'self'",
        headers["content-security-policy"],
    )
    guarded = connect(make(control_token="secret"))
    for path in (MANUAL, "/_sandbox/openapi/v3.json"):
        assert guarded.send("GET", path, []).error == "control_token_missing"
        assert guarded.send("GET", path, [("X-Sandbox-Token", "secret")]).status == 200


def test_reference_pages_have_no_placeholders_of_the_source() -> None:
    own, _, _ = pages()["reference/errors"].partition("## The errors of v2.0")  # the contract has templates
    assert re.findall(r"\{\w+\}", own) == []
    for name, text in pages().items():
        if name.startswith("reference/"):
            assert re.findall(r"\{\w+![rs]\}|\{[A-Z_]{2,}\}", text) == [], name


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


#: The errors of requests that reach no operation, and those that only faults cause.
OF_NO_OPERATION = {
    *("headers_too_large", "incomplete_request", "malformed_request", "method_not_allowed", "unknown_path"),
    *("uri_too_long", "too_many_connections", "service_unavailable", "maintenance", "rate_limited"),
}


def test_each_other_error_is_declared_by_an_operation() -> None:
    """A new refusal that no operation declares would be answered with the status 500."""
    sections = re.findall(r"(?ms)^### (\w+)\n(.*?)(?=^##|\Z)", pages()["reference/errors"])
    of_control = str(document("control").content)
    declared = {name for name, text in sections if "can come from" in text or f"* `{name}`:" in of_control}
    assert {name for name, _ in sections} - declared == OF_NO_OPERATION


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


#: The id of an operation or the name of an assumption, such as v3.renewDomain or v2.http_status.
_NAMED = re.compile(r"(?<![\w./-])(v[23])\.([A-Za-z_]\w*(?:\.\w+)*)(?![\w*])")

#: What looks like an operation and is none, with the reason.
_NOT_OPERATIONS = {
    "v3.json": "a file",
    "v3.ts": "a file",
    "v3.daysLeft": "an example of a change",
    "v3.balance.currency": "an example of a change",
}


def test_every_operation_that_a_text_names_exists(wire: Api, subtests: pytest.Subtests) -> None:
    """In the manual, and in the strings of the source: messages, hints and docstrings."""

    def plain(name: str) -> str:
        return name.replace(".", "").lower()

    documents = {name: wire.get(f"/_sandbox/openapi/{name}.json").json for name in ("v3", "v2")}
    known = {
        plain(f"{name}.{operation['operationId']}")
        for name, content in documents.items()
        for path in content["paths"].values()
        for operation in path.values()
    } | {plain(row["name"]) for row in wire.get("/_sandbox/assumptions").json["assumptions"]}
    for file in sorted(file for file in PACKAGE.rglob("*") if file.suffix in (".py", ".md")):
        text = file.read_text()
        strings = [text]
        if file.suffix == ".py":
            nodes = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant))
            strings = [node.value for node in nodes if isinstance(node.value, str)]
        named = {found[0] for each in strings for found in _NAMED.finditer(each)} - _NOT_OPERATIONS.keys()
        within = file.relative_to(PACKAGE).parts[0]
        with subtests.test(file=file.relative_to(PACKAGE)):
            if within in documents:  # a text about one interface names no operation of the other
                assert {name for name in named if not name.startswith(f"{within}.")} == set()
            groups = {
                name for name in named if name.islower() and any(k.startswith(plain(name)) for k in known)
            }
            assert {name for name in named - groups if plain(name) not in known} == set()


def test_search_lists_the_sections_that_fit_the_words_best_first(wire: Api) -> None:
    best = printed("manual", "--search", "Follow the Name").splitlines()[0]
    assert best == "how-to/life  Follow a name through its life"
    for words in ("insufficient_funds", "HTTPS certificate"):
        lines = printed("manual", "--search", words).lower()
        assert all(word in lines for word in words.lower().split())
    assert printed("manual", "--search", "add", "funds") == printed("manual", "--search", "add funds")
    assert printed("manual", "how-to/sign#php").startswith("## PHP\n")
    for wrong, words in (("sign#pph", "did you mean php?"), ("sign php", "--search sign php")):
        refused = run("manual", *wrong.split())
        assert (refused.status, words in refused.err) == (2, True), refused.err
    nothing = run("manual", "--search", "no-such-word")
    assert (nothing.status, nothing.out) == (1, "")
    assert "no section with 'no-such-word'" in nothing.err
    script = wire.send("GET", f"{MANUAL}/search.js", [])
    assert (script.status, script.headers["content-type"]) == (200, "text/javascript; charset=utf-8")
    assert found(wire, "no-such-word") == found(wire, " ") == []


#: Questions of users, each with the pages of which one is among the first three results.
QUESTIONS = {
    "add funds": "reference/control-accounts",
    "paging": "reference/operations-v3",
    "autorenew without funds": "how-to/recipes",
    "restore redemption": "how-to/life reference/operations-v2",
    "systemd": "how-to/install",
    "rate limit": "how-to/idempotency",
    "timeout": "how-to/faults",
    "why was my request refused": "how-to/journal",
    "all payments of a name": "how-to/journal reference/control-ledger",
    "timezone": "how-to/registrar-module",
    "reject a transfer": "how-to/third-parties reference/operations-v3 reference/control-simulate",
    "proxy": "how-to/elsewhere",
    "sandbox per test": "how-to/pytest how-to/worlds",
    "how do I undo a request": "how-to/journal",
    "docker": "how-to/containers",
    "github actions": "how-to/ci",
    "https certificate": "how-to/tls",
    "wrong signature": "how-to/sign",
    "time travel": "how-to/time",
    "expire a name": "how-to/time how-to/life",
    "premium name price": "how-to/fixtures how-to/registrar-module",
    "incoming transfer": "how-to/third-parties",
    "retry without paying twice": "how-to/idempotency",
    "dns records": "how-to/answers",
    "billing panel module": "how-to/registrar-module",
    "php": "how-to/other-languages how-to/sign",
    "race condition": "how-to/explore",
    "generate a client": "how-to/openapi",
    "keep data after a restart": "how-to/state-file",
    "environment variables": "reference/settings",
    "port already in use": "reference/settings",
    "error codes": "reference/errors",
    "mcp": "how-to/agents",
    "block network in tests": "how-to/pytest",
    "freezegun": "how-to/pytest",
    "compare with the real service": "how-to/calibrate",
    "lost answer": "how-to/faults",
}


def found_places(wire: Api, words: str) -> list[str]:
    """Return the results of a search, as PAGE#SECTION or as PAGE for its first section."""
    return [
        section["page"] + f"#{section['anchor']}" * (section["heading"] != section["title"])
        for section in found(wire, words)
    ]


def found(wire: Api, words: str) -> list[dict[str, str]]:
    sections: list[dict[str, str]] = wire.get(f"{MANUAL}/search?{urlencode({'words': words})}").json[
        "sections"
    ]
    return sections


def test_search_answers_questions_of_users(wire: Api, subtests: pytest.Subtests) -> None:
    for words, expected in QUESTIONS.items():
        with subtests.test(words):
            first = found_places(wire, words)[:3]
            assert {place.partition("#")[0] for place in first} & {*expected.split()}, first


def test_search_words_belong_to_sections_and_every_how_to_page_has_some(
    wire: Api, served_pages: dict[str, Page]
) -> None:
    listed = yaml.safe_load((FOLDER / "words.yaml").read_text("utf-8"))
    for place, words in listed.items():
        name, _, anchor = place.partition("#")
        assert not anchor or anchor in served_pages[f"{MANUAL}/{name}"].anchors, place
        assert place in (found_places(wire, words.partition(",")[0])), place
    assert {name for name in pages() if name.startswith("how-to/")} <= listed.keys()


def test_each_result_of_a_search_leads_to_a_heading(wire: Api, served_pages: dict[str, Page]) -> None:
    for words in ("domain", "request", "world", "fault"):
        for section in found(wire, words):
            assert section["anchor"] in served_pages[f"{MANUAL}/{section['page']}"].anchors, section
