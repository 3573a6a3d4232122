"""The words of a rule, for editors and type checkers, which know keywords by their declaration alone.

What they mean, and which of them go together, is declared by the kinds themselves and by ``reading``.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Literal, TypedDict

from dateutil.relativedelta import relativedelta

from reseller_sandbox.core.matching import Match
from reseller_sandbox.faults.rule import When

Span = float | str | timedelta | relativedelta


class RuleWords(TypedDict, total=False):
    """What a rule may say beside its kind: what all have, and the parameters of every kind."""

    name: str
    match: Mapping[str, Any] | Match
    when: Mapping[str, Any] | When
    paused: bool
    matched: int
    struck: int
    spent: bool

    answer: Literal["first", "second"]
    body: Any
    commits: int
    content_type: str
    drop: bool
    error: str
    facts: Mapping[str, Any]
    headers: Mapping[str, str]
    hex: str
    keep: int
    limit: int
    max: Span
    median: Span
    min: Span
    path: str
    pause: Span
    per: str
    rate: int
    reset: bool
    retry_after: int
    seconds: Span
    sigma: float
    size: int
    status: int
    text: str
    time: str
    type: str
    value: Any
    window: Span


class AnyRule(RuleWords, total=False):
    """A rule, or a preset with changes to it."""

    preset: str
