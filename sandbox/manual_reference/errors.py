"""The reference page of the errors: all rules, and the documented errors of v2.0."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from manual_reference.markdown import code, prose, table
from reseller_sandbox import refusals
from reseller_sandbox.refusals import RULES, Category, Rule
from reseller_sandbox.v2 import errors as v2
from reseller_sandbox.v2.interface import V2
from reseller_sandbox.v3.interface import V3
from reseller_sandbox.web.errors import STATUS


def documented() -> Sequence[v2.Documented]:
    """Return the errors that v2.0 documents, in the order of their declarations."""
    return list(dict.fromkeys(error for error in vars(v2).values() if isinstance(error, v2.Documented)))


def page() -> Iterator[str]:
    """Yield the parts of the page."""
    yield "# Errors"
    yield "Every reason to refuse a request, with its message and its remedy."
    yield (
        "Words in {braces} stand for values. v3 and the control interface return the code as `error` and the "
        "sentence as `message`; control adds `remedy`. The HTTP status follows from the "
        "category, unless [`v3.errors.http_status`](assumptions.md) says otherwise. v2.0 answers the "
        "documented error that the rule becomes, [below](#the-errors-of-v20), and names the rule in "
        "`X-Sandbox-Refusal`."
    )
    known = list(RULES.values())
    for category in Category:
        if own := [rule for rule in known if rule.category is category]:
            yield f"## {str(category).capitalize()}: {STATUS[category].value}"
            for rule in own:
                yield from _rule(rule)
    yield "## The errors of v2.0"
    yield (
        "Each documented error, and the rules that become it, with their operations where not every "
        "operation has it."
    )
    yield table(("code", "message", "rules"), map(_documented, documented()))


def _rule(rule: Rule) -> Iterator[str]:
    yield f"### {rule.code}"
    yield prose(f"{rule.sentence} Remedy: {rule.remedy}.")
    if users := [*_users(rule)]:
        yield f"Operations: {', '.join(users)}."


def _users(rule: Rule) -> Iterator[str]:
    """Yield links to the operations that can refuse by ``rule``, or ``any of v3`` if all can."""
    for interface, title in ((V3, "v3"), (V2, "v2.0")):
        if rule in interface.common:
            yield f"any of {title}"
            continue
        for row in interface.endpoints:
            if rule in row.refuses:
                yield f"[`{row.id}`](operations-{interface.name}.md#{row.id.replace('.', '').lower()})"


def _documented(error: v2.Documented) -> Sequence[str]:
    becoming: dict[str, list[str]] = {}
    for row in V2.endpoints:
        for rule in (*V2.common, *row.refuses, refusals.INTERNAL_ERROR):
            if rule not in v2.TRANSPORT and error in v2.all_of(row.id, rule):
                becoming.setdefault(rule.code, []).append(row.id.removeprefix("v2."))
    everywhere = len(V2.endpoints)
    rules = [
        code(rule) + ("" if len(set(own)) == everywhere else f" ({', '.join(dict.fromkeys(own))})")
        for rule, own in becoming.items()
    ]
    return code(error.code), code(error.message), ", ".join(rules)
