"""The match language as powers are told it: ``**match: Unpack[Matching]``, or one object of it.

What each part takes, and what it is for, is told by ``core.matching`` alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, TypedDict

from reseller_sandbox.core.matching import Match
from reseller_sandbox.core.parts import parameters, schema
from reseller_sandbox.core.signatures import record
from reseller_sandbox.core.values import SWITCH, TEXT, Kind

_PARTS = parameters(Match)
_SHAPES = schema(Match)


def _list_or_word(word: str) -> Any:
    """Return the JSON array that ``word`` is, or the word itself."""
    try:
        return json.loads(word) if word.startswith("[") else word
    except ValueError:
        return word


_SPOKEN = {"string": TEXT.spoken, "boolean": SWITCH.spoken, "object": None}


def _part(name: str) -> Kind[Any]:
    """Return the kind of one part of a match; what has been read is still as JSON has it."""
    takes, shape = _PARTS[name].metadata["takes"], _SHAPES[name]
    spoken = _SPOKEN.get(str(shape.get("type")), _list_or_word)
    return Kind(shape, lambda given: takes.write(takes.read(given)), spoken=spoken)


_Globs = str | Sequence[str]


class Matching(TypedDict, total=False):
    """Which requests are meant: those that all parts agree to."""

    operation: Annotated[_Globs, _part("operation")]
    domain: Annotated[_Globs, _part("domain")]
    account: Annotated[_Globs, _part("account")]
    method: Annotated[_Globs, _part("method")]
    path: Annotated[_Globs, _part("path")]
    headers: Annotated[Mapping[str, str | None], _part("headers")]
    query: Annotated[Mapping[str, str | None], _part("query")]
    body: Annotated[Mapping[str, Any], _part("body")]
    outcome: Annotated[_Globs, _part("outcome")]
    carried_out: Annotated[bool, _part("carried_out")]
    changed: Annotated[bool, _part("changed")]
    fault: Annotated[_Globs, _part("fault")]
    since: Annotated[str | datetime, _part("since")]


#: One object of it.
Wanted = Annotated[Matching, record(Matching)]
