"""The powers' names and docstrings, read from their source, so that a list of commands loads no power."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path


def name_of(class_name: str) -> str:
    """Return the name of a power in paths and commands."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", class_name).lower()


def powers_told() -> Mapping[str, str]:
    """Return what each power's docstring says, by the power's name."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    found = [node for file in files for node in ast.parse(file.read_bytes()).body]
    return {
        name_of(node.name): ast.get_docstring(node) or ""
        for node in found
        if isinstance(node, ast.ClassDef) and "Power" in map(ast.unparse, node.bases)
    }
