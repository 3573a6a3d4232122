"""The faults of a fixture: rules as the control interface takes them, and what they have counted."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from marshmallow import ValidationError
from rpds import HashTrieMap

from sandbox.faults import BadFaults, Count, FaultBook, FaultRule, Vocabulary, reading
from sandbox.seeds.fields import Date, mistakes
from sandbox.seeds.reader import Node, Rows, Tree, what
from sandbox.seeds.site import Site

#: What a rule has counted, which goes on from there.
COUNTS = ("matched", "struck")

_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,99})(\.[0-9]{1,99})?")
_INSTANT = Date()


def build(site: Site, words: Vocabulary | None) -> FaultBook:
    """The rules in their order, with their counts; operations and errors are looked up in ``words``."""
    rules: list[FaultRule] = []
    counts: HashTrieMap[str, Count] = HashTrieMap()
    for name, entry in site.section("faults").items():
        if not isinstance(entry, Tree):
            site.report(("faults", name), f"a mapping is wanted here, not {what(entry)}")
            continue
        given = _given(site, entry)
        count = Count(*(_count(site, name, key, given.pop(key, 0)) for key in COUNTS))
        if count != Count():
            counts = counts.insert(name, count)
        try:
            rules += reading.read_rules([{**given, "name": name}], words, [one.name for one in rules], "")
        except BadFaults as bad:
            for problem in bad.problems:
                place, _, reason = problem.partition(" ")
                unknown = reason.startswith("is not known")
                site.report(("faults", name, *place.split(".")), problem, key=unknown)
    return FaultBook(tuple(rules), counts)


def written(book: FaultBook) -> dict[str, dict[str, Any]]:
    """The rules by name, as :func:`build` reads them."""
    return {rule.name: {**reading.given(rule), **_counted(book.count(rule.name))} for rule in book.rules}


def _counted(count: Count) -> dict[str, int]:
    return {key: getattr(count, key) for key in COUNTS if getattr(count, key)}


def _given(site: Site, entry: Tree) -> dict[str, Any]:
    """A rule as JSON; the instants in it may be relative."""
    given: dict[str, Any] = _plain(entry)
    when = entry.get("when")
    for key in ("from", "until"):
        if isinstance(when, Tree) and key in when:
            try:
                given["when"][key] = site.date(_INSTANT.deserialize(when[key]), site.now)
            except ValidationError as error:
                site.problems += mistakes(error.messages)
                del given["when"][key]
    return given


def _count(site: Site, name: str, key: str, value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    site.report(("faults", name, key), f"{key} must be a whole number")
    return 0


def _plain(node: Node) -> Any:
    """The JSON value that ``node`` is."""
    if isinstance(node, Tree):
        return {str(key): _plain(value) for key, value in node.items()}
    if isinstance(node, Rows):
        return [_plain(item) for item in node]
    if node.kind == "null":
        return None
    if node.kind == "bool" and node in ("true", "false"):
        return node == "true"
    if node.kind in ("int", "float") and _NUMBER.fullmatch(node):
        return Decimal(str(node)) if "." in node else int(node)
    return str(node)
