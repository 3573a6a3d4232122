"""Whoever has never seen the page finds the way by it; the pictures of that are in the README."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from reseller_sandbox import Sandbox
from tests.outfit import program
from tests.page.conftest import CHROMIUM, Open
from tests.page.pictures import FOLDER
from tests.page.walk import prepare, walk


@pytest.mark.slow
def test_from_a_refusal_to_a_name_that_expires(served: Sandbox, open_page: Open) -> None:
    """Find why a registration was refused, go back before it, mend the cause, try again, move on, watch."""
    prepare(served)
    walk(served, open_page("/"))
    assert served.names["soon.com"].stage == "overdue"


@pytest.mark.slow
def test_the_pictures_of_the_readme_are_of_the_walk(tmp_path: Path) -> None:
    """The script that takes them takes all that the README shows, of the size that they have there."""
    program(*CHROMIUM)
    subprocess.run([sys.executable, "-m", "tests.page.pictures", tmp_path], check=True)
    shown = re.findall(
        r"!\[.+?\]\(.github/pictures/(.+?)\)", (FOLDER.parents[1] / "README.md").read_text("utf-8")
    )
    assert {one.name for one in tmp_path.iterdir()} == {one.name for one in FOLDER.iterdir()} == set(shown)
    for name in shown:
        size = slice(16, 24)  # where a PNG tells its width and its height
        assert (tmp_path / name).read_bytes()[size] == (FOLDER / name).read_bytes()[size]
