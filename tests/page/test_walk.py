"""A walk through the page, and its pictures in the README and the manual."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import program
from tests.page.conftest import CHROMIUM
from tests.page.pictures import PAGE, README, shown


@pytest.mark.slow
def test_the_picture_script_makes_the_pictures_of_the_manual(tmp_path: Path) -> None:
    program(*CHROMIUM)
    subprocess.run([sys.executable, "-m", "tests.page.pictures", tmp_path], check=True)
    pictures = shown(PAGE)
    assert {picture.name for picture in tmp_path.iterdir()} == {picture.name for picture in pictures}
    for picture in pictures:
        size = slice(26, 30)  # the place of width and height in a lossy WebP
        assert (tmp_path / picture.name).read_bytes()[size] == picture.read_bytes()[size]


def test_the_manual_shows_every_picture_and_the_readme_a_few() -> None:
    pictures = shown(PAGE)
    assert sorted(pictures) == sorted(pictures[0].parent.glob("*.webp"))
    assert {*shown(README)} < {*pictures}
    assert sum(picture.stat().st_size for picture in pictures) < 300_000
