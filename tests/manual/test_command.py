"""``reseller-sandbox manual``: it lists the pages, prints one, and writes all of them."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from reseller_sandbox.cli import main
from reseller_sandbox.manual.pages import PICTURES, Manual

PAGES = Manual().pages


def test_every_page_is_listed_with_its_title() -> None:
    """In the order of reading, with what to do next."""
    lines = CliRunner().invoke(main, ["manual"]).output.splitlines()
    listed = [line.split(maxsplit=1) for line in lines if line.startswith("  ")]
    assert listed == [[name, page.title] for name, page in PAGES.items()]
    assert lines[-1] == "Read one with: reseller-sandbox manual PAGE"


@pytest.mark.parametrize("name", ["index", "how-to/faults", "settings", "fixture.md", "reference/errors"])
def test_a_page_is_printed_as_it_is_where_nobody_looks(name: str) -> None:
    """As Markdown; the last part of its name will do."""
    (page,) = (one for one in PAGES if one.endswith(name.removesuffix(".md")))
    assert CliRunner().invoke(main, ["manual", name]).output == PAGES[page].text


@pytest.mark.parametrize(
    ("name", "near"), [("tutorail", "tutorial"), ("how-to/falts", "how-to/faults"), ("?", "")]
)
def test_an_unknown_page_is_told_the_nearest(name: str, near: str) -> None:
    """In one line, with status 2."""
    done = CliRunner().invoke(main, ["manual", name])
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert f"the manual has no page '{name}'" in done.stderr
    assert not near or f"the nearest is {near};" in done.stderr


def test_a_page_is_set_in_type_on_a_terminal() -> None:
    """Without the marks of Markdown, no wider than is easy to read."""
    mine, its = pty.openpty()
    command = [sys.executable, "-m", "reseller_sandbox", "manual", "faults"]
    environment = {**os.environ, "COLUMNS": "200", "TERM": "xterm"}
    with subprocess.Popen(command, stdout=its, env=environment) as running:
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
    """With what Sphinx is told, and a list in the first of them."""
    assert CliRunner().invoke(main, ["manual", "--write", str(tmp_path / "new" / "site")]).exit_code == 0
    for name, page in PAGES.items():
        text = (tmp_path / "new" / "site" / f"{name}.md").read_text("utf-8")
        assert text.startswith(page.text)
    first = (tmp_path / "new" / "site" / "index.md").read_text("utf-8").splitlines()
    assert {name for name in PAGES if name != "index"} <= set(first)
    for name, picture in PICTURES.items():
        assert (tmp_path / "new" / "site" / name).read_bytes() == picture.read_bytes()
    compile((tmp_path / "new" / "site" / "conf.py").read_text("utf-8"), "conf.py", "exec")
