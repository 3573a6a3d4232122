"""The reference page of the errors: all rules, and the documented errors of v2.0."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from manual_reference.markdown import code, listed, prose, table
from reseller_sandbox import refusals
from reseller_sandbox.refusals import RULES, Category, Rule
from reseller_sandbox.v2 import errors as v2
from reseller_sandbox.v2.interface import V2
from reseller_sandbox.v3 import interface as v3
from reseller_sandbox.v3.interface import V3
from reseller_sandbox.web.errors import STATUS

#: A placeholder for a fact of a refusal, with its conversion.
_FACT = re.compile(r"\{(\w+)(?:![rs])?(?::[^}]*)?\}")


def documented() -> Sequence[v2.Documented]:
    """Return the errors that v2.0 documents, in the order of their declarations."""
    return list(dict.fromkeys(error for error in vars(v2).values() if isinstance(error, v2.Documented)))


def page() -> Iterator[str]:
    """Yield the parts of the page."""
    yield "# Errors"
    yield "Every reason to refuse a request, with its message and its remedy."
    yield (
        "A word in *italics* stands for a value. v3 and the control interface return the code of an error in "
        "the key `error`, and the message in the key `message`. The control interface also returns the "
        "remedy in the key `remedy`. The HTTP status depends on the category of the error, unless the "
        "assumption [`v3.errors.http_status`](assumptions.md) is `always_200`. v2.0 returns the errors of "
        "its contract instead: [a table at the end of this page](#the-errors-of-v20) has these errors. The "
        "header `X-Sandbox-Refusal` of a v2.0 response has the code and the message."
    )
    known = list(RULES.values())
    for category in Category:
        if own := [rule for rule in known if rule.category is category]:
            yield f"## {str(category).capitalize()}: {STATUS[category].value}"
            for rule in own:
                yield from _rule(rule)
    yield "## The errors of v2.0"
    yield (
        "Each row has an error that v2.0 documents, and the codes that v2.0 returns as this error. If only "
        "some operations return it, they follow the code in parentheses."
    )
    yield table(("code", "message", "rules"), map(_documented, documented()))


def _rule(rule: Rule) -> Iterator[str]:
    yield f"### {rule.code}"
    yield f"{_message(rule, rule.sentence)}  \nRemedy: {_message(rule, rule.remedy)}."
    if users := [*_users(rule)]:
        yield f"This error can come from {listed(users)}."


def _message(rule: Rule, template: str) -> str:
    """Return a template of the rule as Markdown: in the words of v3, or of v2.0 if v3 never refuses so."""
    is_v3 = rule in V3.common or any(rule in row.refuses for row in V3.endpoints)
    text = (v3.WORDING if is_v3 else v2.WORDING).with_words(template)
    return _FACT.sub(lambda fact: f"*{fact[1].replace('_', ' ')}*", prose(text))


def _users(rule: Rule) -> Iterator[str]:
    """Yield links to the operations that can refuse by ``rule``, or ``any operation of v3`` if all can."""
    for interface, title in ((V3, "v3"), (V2, "v2.0")):
        if rule in interface.common:
            yield f"any operation of {title}"
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
