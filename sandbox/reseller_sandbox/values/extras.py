"""The installed version, and the error message for a feature whose optional package is not installed."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, requires, version


def program_version() -> str:
    """Return the version of the sandbox, which its files name."""
    try:
        return version("reseller-sandbox")
    except PackageNotFoundError:  # a checkout without an installation
        return "unknown"


def needs(subject: str, package: str) -> str:
    """Return the message that ``subject`` needs ``package``, with the pip command."""
    known = (line.partition(";")[0].strip() for line in requires("reseller-sandbox") or ())
    requirement = next((line for line in known if re.match(rf"{package}(?![\w-])", line)), package)
    return f"{subject} needs {package}: pip install '{requirement}'"
