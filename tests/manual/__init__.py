"""The manual as its command, its server and its files show it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import reseller_sandbox
from tests.command import printed

#: The folder of the pages.
FOLDER = Path(reseller_sandbox.__file__).parent / "manual"


@cache
def pages() -> dict[str, str]:
    """Return the text of every page by its name, in the order of the list."""
    names = re.findall(r"(?m)^  (\S+)", printed("manual"))
    return {name: printed("manual", name) for name in names}
