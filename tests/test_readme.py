"""The README is short, and its links lead to files."""

from __future__ import annotations

import re
from pathlib import Path

from tests.documents import blocks

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 120
    (tests,) = (one.content for one in blocks(README) if one.file)
    assert len(tests.splitlines()) <= 30


def test_links_lead_to_files() -> None:
    links = re.findall(r"\]\(([^)#]+)", README)
    assert len(links) > 10
    assert not [link for link in links if not (ROOT / link).exists()]
