"""What a command prints for people: facts in lines, lists in tables that fit the terminal."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from rich.text import Text

#: The width of a table where there is no screen.
_PIPED = 160

#: The most characters of one value in a table or a line.
_LONGEST = 400

#: How wide a column is at the most before its values are folded, and what stands between two.
_WIDEST = 48
_BETWEEN = 3


def show(answer: Any) -> None:
    """Print an answer, with colours on a terminal."""
    console = Console(width=None if sys.stdout.isatty() else _PIPED, highlight=False, soft_wrap=False)
    _show(console, "", answer)


def _show(console: Console, name: str, value: Any) -> None:
    if isinstance(value, Mapping):
        facts = {key: told for key, told in value.items() if told is not None and not _is_listed(told)}
        documents = [facts.pop(key) for key, told in value.items() if isinstance(told, str) and "\n" in told]
        if facts:
            console.print(_facts(name, facts))
        for document in documents:
            console.out(document, end="", highlight=False)
        for key, told in value.items():
            if _is_listed(told):
                _show(console, key, told)
    elif _is_listed(value):
        console.print(_rows(name, value, console.width) if value else Text(f"  {name}: none", style="dim"))
    else:
        console.print(Text(_cell(value)))


def _is_listed(value: Any) -> bool:
    return (
        isinstance(value, Sequence)
        and not isinstance(value, str)
        and all(isinstance(o, Mapping) for o in value)
    )


def _facts(name: str, facts: Mapping[str, Any]) -> Table:
    table = Table(box=None, show_header=False, title=name or None, title_justify="left", pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for key, value in facts.items():
        table.add_row(f"  {key}", Text(_cell(value)))
    return table


def _rows(name: str, rows: Sequence[Mapping[str, Any]], width: int) -> Table:
    known = list(dict.fromkeys(key for row in rows for key, value in row.items() if value not in _EMPTY))
    columns = _fitting(known, rows, width)
    left = [one for one in known if one not in columns]
    caption = f"  also: {', '.join(left)} (--json shows them)" if left else None
    table = Table(
        box=SIMPLE,
        title=name or None,
        title_justify="left",
        caption=caption,
        caption_justify="left",
        header_style="bold",
        pad_edge=False,
    )
    for column in columns:
        table.add_column(column, overflow="fold", justify="right" if _numeric(rows, column) else "left")
    for row in rows:
        table.add_row(*(Text(_cell(row.get(column))) for column in columns))
    return table


def _fitting(known: Sequence[str], rows: Sequence[Mapping[str, Any]], width: int) -> list[str]:
    """Return the first columns that fit beside one another; the first one always does."""
    columns: list[str] = []
    for column in known:
        longest = max(len(_cell(row.get(column))) for row in rows)
        width -= min(max(longest, len(column)), _WIDEST) + _BETWEEN
        if width < 0 and columns:
            break
        columns.append(column)
    return columns


_EMPTY: tuple[Any, ...] = (None, "", [], {})


def _numeric(rows: Sequence[Mapping[str, Any]], column: str) -> bool:
    return all(isinstance(row.get(column), int | float | None) for row in rows)


def _cell(value: Any) -> str:
    """Return a value in a few words."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={_cell(told)}" for key, told in value.items())[:_LONGEST]
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(_cell, value))[:_LONGEST]
    text = str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
