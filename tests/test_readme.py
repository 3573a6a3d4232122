"""The README is short, its links lead to files, and its picture is true."""

from __future__ import annotations

import re
from pathlib import Path

from reseller_sandbox import Sandbox
from tests.documents import blocks

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150
    (tests,) = (one.content for one in blocks(README) if one.file)
    assert len(tests.splitlines()) <= 30


def test_links_lead_to_files() -> None:
    links = re.findall(r"\]\(([^)#]+)", README)
    assert len(links) > 10
    assert not [link for link in links if not (ROOT / link).exists()]


def test_the_picture_counts_the_operations_and_names_resources() -> None:
    (picture,) = (one.content for one in blocks(README) if one.language == "text" and "▼" in one.content)
    client, sandbox = Sandbox().client(), Sandbox()
    for name, count in re.findall(r"(v\S+): (\d+) operations", picture):
        page = client.get("/_sandbox/manual/reference/operations.md").text
        section = page.partition(f"## {name}\n")[2].partition("\n## ")[0]
        assert int(count) == len(re.findall(r"(?m)^### ", section)), name
    named = [re.findall(r"\w+", line.split("│")[-2]) for line in picture.splitlines() if " · " in line]
    assert len(named) == 3
    assert not [word for words in named for word in words if not hasattr(sandbox, word)]
