"""Whoever has never seen the page finds the way by it; the README and the manual show pictures of that."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from reseller_sandbox import Sandbox
from reseller_sandbox.manual.pages import FOLDER, PICTURES
from tests.installed.conftest import ROOT
from tests.outfit import program
from tests.page.conftest import CHROMIUM, Open
from tests.page.walk import prepare, walk


@pytest.mark.slow
def test_from_a_refusal_to_a_name_that_expires(served: Sandbox, open_page: Open) -> None:
    """Find why a registration was refused, go back before it, mend the cause, try again, move on, watch."""
    prepare(served)
    walk(served, open_page("/"))
    assert served.names["soon.com"].stage == "overdue"


@pytest.mark.slow
def test_the_pictures_are_of_the_walk(tmp_path: Path) -> None:
    """The script that takes them takes all that are shown, of the size that they have there."""
    program(*CHROMIUM)
    subprocess.run([sys.executable, "-m", "tests.page.pictures", tmp_path], check=True)
    assert {f"pictures/{one.name}" for one in tmp_path.iterdir()} == set(PICTURES)
    for kept in PICTURES.values():
        size = slice(26, 30)  # where a lossy WebP tells its width and its height
        assert (tmp_path / kept.name).read_bytes()[size] == kept.read_bytes()[size]


def test_every_picture_is_shown() -> None:
    """In the README and in the manual's page; together they are small."""
    for page in (ROOT / "README.md", FOLDER / "how-to/page.md"):
        shown = re.findall(r"!\[.+?\]\((.+?)\)", page.read_text("utf-8"))
        found = {(page.parent / one).resolve() for one in shown}
        assert found == {one.resolve() for one in PICTURES.values()}, page
    assert sum(one.stat().st_size for one in PICTURES.values()) < 300_000
