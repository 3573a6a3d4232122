"""The error message for a feature whose optional package is not installed."""

from __future__ import annotations

import re
from importlib.metadata import requires


def needs(subject: str, package: str) -> str:
    """Return the message that ``subject`` needs ``package``, with the pip command."""
    known = (line.partition(";")[0].strip() for line in requires("reseller-sandbox") or ())
    requirement = next((line for line in known if re.match(rf"{package}(?![\w-])", line)), package)
    return f"{subject} needs {package}: pip install '{requirement}'"
