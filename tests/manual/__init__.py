"""The manual as its command, its server and its files show it."""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

from click.testing import CliRunner, Result

import reseller_sandbox

#: The folder of the pages that are written by hand; reference pages are made from the code.
FOLDER = Path(reseller_sandbox.__file__).parent / "manual"


def command(*words: str) -> Result:
    """Run ``reseller-sandbox``."""
    [entry] = entry_points(group="console_scripts", name="reseller-sandbox")
    return CliRunner().invoke(entry.load(), words)


@cache
def pages() -> dict[str, str]:
    """Return the text of every page by its name, in the order of the list."""
    names = re.findall(r"(?m)^  (\S+)", command("manual").output)
    return {name: command("manual", name).output for name in names}
