"""Functions that write Markdown: text, code, tables and blocks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_UNSAFE = re.compile(r"([\\<>\[\]*]|(?<!\w)_|_(?!\w))")


def prose(text: object) -> str:
    """Return text as Markdown, with markup escaped except between backticks."""
    parts = re.split(r"(`[^`]*`)", str(text).replace("``", "`"))
    return "".join(part if part.startswith("`") else _UNSAFE.sub(r"\\\1", part) for part in parts)


def listed(items: Sequence[str], word: str = "and") -> str:
    """Return items in one phrase (``a, b and c``)."""
    return f" {word} ".join(filter(None, (", ".join(items[:-1]), items[-1])))


def code(text: object) -> str:
    """Return ``text`` as inline code, or an empty string for an empty text."""
    return f"`{text}`" if str(text) else ""


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def block(language: str, text: str) -> str:
    """Return a fenced code block."""
    return f"```{language}\n{text.rstrip()}\n```"


def type_of(shape: Mapping[str, Any]) -> str:
    """Return the values that a JSON Schema accepts, in words."""
    if "enum" in shape:
        return ", ".join(code(value) for value in shape["enum"])
    if "oneOf" in shape:
        return " or ".join(dict.fromkeys(map(type_of, shape["oneOf"])))
    if "items" in shape:
        return f"list of {type_of(shape['items'])}"
    bounds = [
        f"{word} {shape[key]}" for key, word in (("minimum", "from"), ("maximum", "to")) if key in shape
    ]
    return " ".join([str(shape.get("format", shape.get("type", "any value"))), *bounds])
