"""Optional packages: the message for one that is missing."""

from __future__ import annotations

import re
from importlib.metadata import requires


def needs(subject: str, package: str) -> str:
    """Return that ``subject`` needs ``package``, and the command that installs the package."""
    known = (line.partition(";")[0].strip() for line in requires("reseller-sandbox") or ())
    requirement = next((line for line in known if re.match(rf"{package}(?![\w-])", line)), package)
    return f"{subject} needs {package}: pip install '{requirement}'"
