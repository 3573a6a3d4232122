"""The README: what it says is so. What it shows is run with the pages of the manual."""

from __future__ import annotations

import re
from pathlib import Path

from reseller_sandbox.powers.catalogue import POWERS
from reseller_sandbox.v2.interface import V2
from reseller_sandbox.v3.interface import V3
from tests.documents import blocks

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def test_it_is_short() -> None:
    """Whoever meets the project reads it to the end; everything else is in the manual."""
    assert len(README.splitlines()) <= 150
    (tests,) = (one.content for one in blocks(README) if one.file)
    assert len(tests.splitlines()) <= 30


def test_its_links_lead_to_files() -> None:
    """Each is a file of the project, or a folder."""
    links = re.findall(r"\]\(([^)#]+)", README)
    assert len(links) > 10
    assert not [link for link in links if not (ROOT / link).exists()]


def test_the_picture_is_true() -> None:
    """It says how many operations there are, and names powers that are there."""
    (picture,) = (one.content for one in blocks(README) if one.language == "text" and "▼" in one.content)
    told = re.findall(r"(v\S+): (\d+) operations", picture)
    assert told == [("v3", str(len(V3.endpoints))), ("v2.0", str(len(V2.endpoints)))]
    named = [re.findall(r"\w+", line.split("│")[-2]) for line in picture.splitlines() if " · " in line]
    assert {word for words in named for word in words} <= POWERS.keys()
    assert len(named) == 3
    assert len({len(line) for line in picture.splitlines()[4:] if line}) == 1
