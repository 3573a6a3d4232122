"""What a type checker knows of a rule is what the kinds declare."""

from __future__ import annotations

from collections.abc import Mapping
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from reseller_sandbox import Refused, Sandbox
from reseller_sandbox.core.paths import Path
from reseller_sandbox.core.signatures import declared
from reseller_sandbox.faults import KINDS, FaultKind
from reseller_sandbox.faults.choices import rule_parts
from reseller_sandbox.faults.reading import Parts
from reseller_sandbox.faults.words import AnyRule

#: What is told in another form than it is kept in.
TOLD = {Path: str, dict[str, Any]: Mapping[str, Any], dict[str, str]: Mapping[str, str]}


def taken(hint: Any) -> set[Any]:
    """Return what an annotation allows to be told."""
    members = get_args(hint) if get_origin(hint) is UnionType else (hint,)
    return {TOLD.get(one, one) for one in members} - {type(None)}


def test_the_words_are_those_of_the_kinds() -> None:
    """All of them, under the names that they have there."""
    assert set(get_type_hints(AnyRule)) == {one.name for one in rule_parts()}


@pytest.mark.parametrize("of", [Parts, *KINDS.values()], ids=lambda one: str(one.__name__))
def test_a_word_takes_what_its_kind_keeps(of: type[FaultKind]) -> None:
    """And may take more: a length of time is kept in seconds."""
    words, kept = get_type_hints(AnyRule), get_type_hints(of)
    wrong = [one.name for one in declared(of) if not taken(kept[one.name]) <= taken(words[one.name])]
    assert not wrong


def test_lengths_of_time_with_fractions_may_be_text(sandbox: Sandbox) -> None:
    """As numbers may, for every parameter that is a length of time, also in a fixture."""
    for rule, name in (
        ({"kind": "latency", "seconds": "1.5"}, "seconds"),
        ({"kind": "latency", "min": "0.5s", "max": 2}, "min"),
        ({"kind": "latency", "median": "0.25"}, "median"),
        ({"kind": "hang", "seconds": "1.5"}, "seconds"),
        ({"kind": "drip", "pause": "0.05"}, "pause"),
        ({"kind": "rate_limit", "limit": 1, "window": "2.5"}, "window"),
    ):
        wanted = float(str(rule[name]).removesuffix("s"))
        (found,) = sandbox.faults.replace([rule])
        assert found[name] == wanted
        sandbox.load({"faults": {"loaded": rule}})
        assert sandbox.faults["loaded"][name] == wanted
    for wrong in ("1.5.5", "nan", "-1.5", "1e3", ".", "86400.5"):
        with pytest.raises(Refused, match="seconds must be"):
            sandbox.faults.add("latency", seconds=wrong)
