"""Output of commands for people: single values line by line, lists as tables that fit the terminal."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from typing import Any

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from reseller_sandbox.values.text_checks import cut, printable

#: The width of a table in characters if the output is not a terminal.
_PIPED = 160

#: The maximum length of a value in characters. Longer values are cut.
_LONGEST = 400

#: The width above which a column is folded, the minimum width of a folded column, and the space between
#: columns.
_WIDEST = 48
_NARROWEST = 24
_BETWEEN = 2

#: The keys of a mapping that describes a change. It is shown as ``before → after``.
_CHANGE = {"before", "after"}


def show(answer: Any) -> None:
    """Print the result of a command for people.

    On a terminal, use colours. Otherwise, omit trailing spaces.
    """
    if sys.stdout.isatty():
        plain = bool(os.environ.get("NO_COLOR"))
        _show(Console(highlight=False, color_system=None if plain else "auto"), "", answer)
        return
    click.echo("\n".join(in_lines(answer)))


def in_lines(answer: object) -> list[str]:
    """Return the result of a command as lines, as they are printed without a terminal."""
    written = StringIO()
    _show(Console(file=written, width=_PIPED, highlight=False, color_system=None), "", answer)
    return [line.rstrip() for line in written.getvalue().splitlines()]


def _show(console: Console, name: str, value: Any, gap: bool = False) -> None:
    if isinstance(value, Mapping):
        shown = {key: part for key, part in value.items() if part not in (None, "")}
        apart = {key: part for key, part in shown.items() if _is_apart(part, within=name)}
        if facts := {key: part for key, part in shown.items() if key not in apart}:
            _title(console, name, gap)
            console.print(_facts(facts))
            gap = True
        for key, part in apart.items():
            if isinstance(part, str):
                console.out(part, end="", highlight=False)
            else:
                _show(console, key, part, gap)
            gap = True
    elif _is_listed(value) and value:
        _title(console, name, gap)
        for part in _rows(value, console.width):
            console.print(part)
    elif _is_listed(value):
        console.print(Text(f"{name}: none", style="dim"))
    else:
        console.print(Text(_cell(value)))


def _title(console: Console, name: str, gap: bool) -> None:
    if gap:
        console.print()
    if name:
        console.print(Text(name, style="italic"))


def _is_apart(value: object, within: str) -> bool:
    """Whether a value is shown below the single values: a multi-line text, a list, or a nested mapping."""
    if isinstance(value, str):
        return "\n" in value
    return _is_listed(value) or (isinstance(value, Mapping) and not within and not _is_flat(value))


def _is_listed(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, Mapping) for item in value)


def _is_flat(value: Mapping[str, object]) -> bool:
    """Whether a mapping fits in one line."""
    return all(
        item.keys() == _CHANGE
        if isinstance(item, Mapping)
        else not isinstance(item, list | tuple) or not any(isinstance(part, Mapping | list) for part in item)
        for item in value.values()
    )


def _facts(facts: Mapping[str, object]) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, _BETWEEN, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for key, value in facts.items():
        table.add_row(key, Text(_cell(value)))
    return table


def _rows(rows: Sequence[Mapping[str, object]], width: int) -> Iterator[Table | Padding]:
    """Yield a table of the columns that fit, and a line with the names of the columns that do not fit."""
    known = list(dict.fromkeys(key for row in rows for key in row))
    known = [key for key in known if any(row.get(key) not in _EMPTY for row in rows)]
    columns = _fitting(known, rows, width)
    table = Table(
        box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, _BETWEEN - 1, 0, 0), header_style="bold"
    )
    for column in columns:
        is_numeric = all(_NUMBER.fullmatch(_cell(row.get(column))) for row in rows)
        table.add_column(column, overflow="fold", justify="right" if is_numeric else "left")
    for row in rows:
        table.add_row(*(Text(_cell(row.get(column))) for column in columns))
    yield table
    if left := ", ".join(name for name in known if name not in columns):
        words = f"also: {left} (a wider terminal or --json shows them)"
        yield Padding(Text(words, style="dim"), (0, 0, 0, _BETWEEN))


def _fitting(known: Sequence[str], rows: Sequence[Mapping[str, object]], width: int) -> list[str]:
    """Return the first columns that fit into ``width``. Only the last of them may have folded cells."""
    columns: list[str] = []
    for column in known:
        cells = [line for row in rows for line in _cell(row.get(column)).splitlines()]
        needed = min(max(map(len, (column, *cells))), _WIDEST)
        if columns and width < min(needed, _NARROWEST):
            break
        columns.append(column)
        width -= needed + _BETWEEN
    return columns


_EMPTY: tuple[object, ...] = (None, "", [], {})
_NUMBER = re.compile(r"(-?\d+(\.\d+)?)?")


def _cell(value: Any) -> str:
    """Return a value as a short text for a table, with one line for each record of a list."""
    if _is_listed(value):
        return "\n".join(map(_cell, value))
    return cut(printable(_words(value)), _LONGEST)


def _words(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        if value.keys() == _CHANGE:
            return " → ".join(_words(value[side]) for side in ("before", "after") if value[side] is not None)
        if not _is_flat(value):
            return json.dumps(value, ensure_ascii=False)
        return ", ".join(f"{key}={words}" for key, one in value.items() if (words := _words(one)))
    if isinstance(value, list | tuple):
        return ", ".join(map(_words, value))
    return str(value)
