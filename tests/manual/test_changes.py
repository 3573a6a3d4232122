"""The manual's examples of changes: each is made in a copy of the source, and works there.

A page shows a change as blocks of code, each below the name of its file: a whole new file, or a diff.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.manual import FOLDER
from tests.manual.changes import check_of

SOURCE = FOLDER.parent
ROOT = SOURCE.parents[1]
PAGE = (FOLDER / "contribute" / "architecture.md").read_text("utf-8")
CHANGES = (FOLDER / "contribute" / "change-examples.md").read_text("utf-8")
BLOCK = re.compile(
    r"^`([\w/]+\.(?:py|yaml))`(, new)?:\n\n```(?:python|diff)\n(.*?)^```$", re.DOTALL | re.MULTILINE
)
#: The blocks of each example by its title: file, whether the file is new, and its text or a diff.
EXAMPLES: dict[str, list[tuple[str, str, str]]] = {
    section.partition("\n")[0]: BLOCK.findall(section) for section in CHANGES.split("\n## ")[1:]
}


def patch(path: Path, diff: str) -> None:
    """Apply a diff to a file; each of its parts has to be found exactly once."""
    text = path.read_text("utf-8")
    for part in re.split(r"^@@.*\n", diff, flags=re.MULTILINE):
        lines = part.splitlines(keepends=True)
        before, after = ("".join(line[1:] for line in lines if line[0] in marks) for marks in (" -", " +"))
        assert text.count(before) == 1, f"{path.name} has this {text.count(before)} times:\n{before}"
        text = text.replace(before, after)
    path.write_text(text, "utf-8")


def test_the_architecture_page_names_existing_files_and_complete_examples() -> None:
    made = {file for blocks in EXAMPLES.values() for file, new, _ in blocks if new}
    named = set(re.findall(r"`([\w/]+(?:\.py|\.yaml|/))`", PAGE + CHANGES)) - made
    assert len(named) > 40
    assert not {name for name in named if not (SOURCE / name).exists() and not (ROOT / name).exists()}
    assert all(map(check_of, EXAMPLES))
    assert len(re.findall(r"^```(?:python|diff)$", CHANGES, re.MULTILINE)) == sum(map(len, EXAMPLES.values()))


@pytest.mark.slow
@pytest.mark.parametrize("title", EXAMPLES)
def test_each_example_change_edits_at_most_two_files_and_works(title: str, tmp_path: Path) -> None:
    assert len({file for file, _, _ in EXAMPLES[title]}) in (1, 2)
    package = tmp_path / "sandbox" / "reseller_sandbox"
    shutil.copytree(SOURCE, package)
    shutil.copytree(ROOT / "fixtures", tmp_path / "fixtures")
    for file, new, text in EXAMPLES[title]:
        if new:
            assert not (package / file).exists()
            (package / file).write_text(text, "utf-8")
        else:
            patch(package / file, text)
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
