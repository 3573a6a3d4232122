"""``reseller-sandbox manual`` lists the pages, prints a page, and writes all of them."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.manual import FOLDER, command, pages


def test_pages_are_listed_with_their_titles_and_printed_as_markdown(subtests: pytest.Subtests) -> None:
    lines = command("manual").output.splitlines()
    listed = [line.split(maxsplit=1) for line in lines if line.startswith("  ")]
    assert [title for _, title in listed] == [text.splitlines()[0][2:] for text in pages().values()]
    assert lines[-1] == "Read one with: reseller-sandbox manual PAGE"
    written = {path.relative_to(FOLDER).with_suffix("").as_posix(): path for path in FOLDER.rglob("*.md")}
    made = pages().keys() - written.keys()
    assert written.keys() <= pages().keys()
    assert all(name.startswith("reference/") for name in made)
    assert next(iter(pages())) == "index"
    for name, path in written.items():
        with subtests.test(name):
            assert name == "index" or pages()[name] == path.read_text("utf-8")
    for short, name in (("settings", "reference/settings"), ("faults.md", "how-to/faults")):
        assert command("manual", short).output == pages()[name]


def test_an_unknown_page_is_refused_with_the_nearest(subtests: pytest.Subtests) -> None:
    for name, near in (("tutorail", "tutorial"), ("how-to/falts", "how-to/faults"), ("?", "")):
        with subtests.test(name):
            done = command("manual", name)
            assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
            assert f"the manual has no page '{name}'" in done.stderr
            assert not near or f"the nearest is {near};" in done.stderr


def test_a_page_is_formatted_on_a_terminal() -> None:
    """Without the marks of Markdown, no wider than is easy to read."""
    mine, its = pty.openpty()
    words = [sys.executable, "-m", "reseller_sandbox", "manual", "faults"]
    environment = {**os.environ, "COLUMNS": "200", "TERM": "xterm"}
    with subprocess.Popen(words, stdout=its, env=environment) as running:
        os.close(its)
        seen = b""
        try:
            while piece := os.read(mine, 65536):
                seen += piece
        except OSError:  # the other end is closed
            pass
        assert running.wait(60) == 0
    text = seen.decode()
    assert "\x1b[" in text
    assert "```" not in text
    assert "Make requests fail" in text


def test_all_pages_are_written_for_a_site(tmp_path: Path) -> None:
    site = tmp_path / "new" / "site"
    assert command("manual", "--write", str(site)).exit_code == 0
    texts = {name: (site / f"{name}.md").read_text("utf-8") for name in pages()}
    assert not [name for name, text in pages().items() if not texts[name].startswith(text)]
    assert pages().keys() - {"index"} <= {*(site / "index.md").read_text("utf-8").splitlines()}
    pictures = [path.name for path in FOLDER.rglob("*.webp")]
    assert pictures
    assert {*pictures} <= {path.name for path in site.rglob("*.webp")}
    compile((site / "conf.py").read_text("utf-8"), "conf.py", "exec")
