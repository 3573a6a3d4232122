"""The match language as parameters of powers: ``**match: Unpack[Matching]``, or one object of it.

``core.matching`` declares what each part takes and what it is for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, TypedDict

from reseller_sandbox.core.matching import Match
from reseller_sandbox.core.parts import parameters
from reseller_sandbox.core.signatures import record

_PARTS = parameters(Match)
_Globs = str | Sequence[str]


class Matching(TypedDict, total=False):
    """Which requests match: those that every part fits."""

    operation: Annotated[_Globs, _PARTS["operation"].kind, _PARTS["operation"].words]
    domain: Annotated[_Globs, _PARTS["domain"].kind, _PARTS["domain"].words]
    account: Annotated[_Globs, _PARTS["account"].kind, _PARTS["account"].words]
    method: Annotated[_Globs, _PARTS["method"].kind, _PARTS["method"].words]
    path: Annotated[_Globs, _PARTS["path"].kind, _PARTS["path"].words]
    headers: Annotated[Mapping[str, str | None], _PARTS["headers"].kind, _PARTS["headers"].words]
    query: Annotated[Mapping[str, str | None], _PARTS["query"].kind, _PARTS["query"].words]
    body: Annotated[Mapping[str, Any], _PARTS["body"].kind, _PARTS["body"].words]
    outcome: Annotated[_Globs, _PARTS["outcome"].kind, _PARTS["outcome"].words]
    carried_out: Annotated[bool, _PARTS["carried_out"].kind, _PARTS["carried_out"].words]
    changed: Annotated[bool, _PARTS["changed"].kind, _PARTS["changed"].words]
    fault: Annotated[_Globs, _PARTS["fault"].kind, _PARTS["fault"].words]
    since: Annotated[str | datetime, _PARTS["since"].kind, _PARTS["since"].words]


#: One object of it.
Wanted = Annotated[Matching, record(Matching)]
