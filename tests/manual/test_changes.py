"""The manual's examples of changes: each is made in a copy of the source, and works there.

A page shows a change as blocks of code, each below the name of its file: the whole of a new file, or what is
taken out (-) and put in (+) with the lines around it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import reseller_sandbox
from tests.manual.changes import CHECKS
from tests.test_architecture import LAYERS

SOURCE = Path(reseller_sandbox.__file__).parent
ROOT = SOURCE.parents[1]
PAGE = (SOURCE / "manual" / "explanation" / "architecture.md").read_text("utf-8")
BLOCK = re.compile(
    r"^`([\w/]+\.(?:py|yaml))`(, new)?:\n\n```(?:python|diff)\n(.*?)^```$", re.DOTALL | re.MULTILINE
)


class Edit(NamedTuple):
    """What an example does to one file: its whole text, or pieces of it with what takes their place."""

    file: str
    whole: str
    pieces: tuple[tuple[str, str], ...]

    def make(self, package: Path) -> None:
        """Make the change below ``package``; each piece has to be there exactly once."""
        path = package / self.file
        if self.whole:
            assert not path.exists(), f"{self.file} is there already"
            path.write_text(self.whole, "utf-8")
            return
        text = path.read_text("utf-8")
        for before, after in self.pieces:
            assert text.count(before) == 1, f"{self.file} has this {text.count(before)} times:\n{before}"
            text = text.replace(before, after)
        path.write_text(text, "utf-8")


def pieces(diff: str) -> Iterator[tuple[str, str]]:
    """Yield what each part of a diff finds, and what it puts there."""
    for part in re.split(r"^@@.*\n", diff, flags=re.MULTILINE):
        lines = part.splitlines(keepends=True)
        before = "".join(line[1:] for line in lines if line[0] in " -")
        yield before, "".join(line[1:] for line in lines if line[0] in " +")


def examples() -> dict[str, list[Edit]]:
    """Return the edits of each example, by its title."""
    found: dict[str, list[Edit]] = {}
    for section in PAGE.split("\n### ")[1:]:
        blocks = BLOCK.findall(section.partition("\n## ")[0])
        edits = [
            Edit(file, text if new else "", () if new else (*pieces(text),)) for file, new, text in blocks
        ]
        found[section.partition("\n")[0]] = edits
    return found


EXAMPLES = examples()


def test_every_file_that_the_page_names_is_there() -> None:
    """Below the package, or below the project's folder; a file that an example makes is not there yet."""
    made = {edit.file for edits in EXAMPLES.values() for edit in edits if edit.whole}
    named = set(re.findall(r"`([\w/]+(?:\.py|\.yaml|/))`", PAGE)) - made
    assert len(named) > 40
    assert not {name for name in named if not (SOURCE / name).exists() and not (ROOT / name).exists()}


def test_the_page_has_the_layers_that_are_held() -> None:
    """From the bottom up, as the test of the imports has them."""
    steps = re.findall(r"^core ← .*$", PAGE, re.MULTILINE)[0].split(" ← ")
    assert [tuple(step.split(", ")) for step in steps] == [*LAYERS, ("the rest",)]


def test_every_kind_of_change_has_its_example() -> None:
    """Those that the page promises, each with a check of what it does; no block of code is left out."""
    assert list(EXAMPLES) == list(CHECKS)
    blocks = re.findall(r"^```(?:python|diff)$", PAGE, re.MULTILINE)
    assert len(blocks) == sum(map(len, EXAMPLES.values()))


@pytest.mark.slow
@pytest.mark.parametrize("title", EXAMPLES)
def test_a_change_touches_one_or_two_files_and_works(title: str, tmp_path: Path) -> None:
    """What is new does what the page says of it, in a process whose package is the changed copy."""
    edits = EXAMPLES[title]
    assert len({edit.file for edit in edits}) in (1, 2)
    package = tmp_path / "sandbox" / "reseller_sandbox"
    shutil.copytree(SOURCE, package)
    shutil.copytree(ROOT / "fixtures", tmp_path / "fixtures")
    for edit in edits:
        edit.make(package)
    done = subprocess.run(
        [sys.executable, "-m", "tests.manual.changes", title],
        env={**os.environ, "PYTHONPATH": f"{package.parent}{os.pathsep}{ROOT}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
