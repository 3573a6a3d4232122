"""Each reason to refuse stands in one place, whole, and in words that every interface can make its own."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter

import pytest
from marshmallow import Schema, fields

import reseller_sandbox
from reseller_sandbox.core import refusals
from reseller_sandbox.core.lifecycle import Action
from reseller_sandbox.core.model import Flag
from reseller_sandbox.core.refusals import Category, Possible, Refused, Rule, Term, Wording
from reseller_sandbox.server.secrecy import text_masked
from reseller_sandbox.v2.interface import V2
from reseller_sandbox.v3.interface import V3
from reseller_sandbox.web.errors import STATUS

ROOT = Path(reseller_sandbox.__file__).parent
RULES = {name: rule for name, rule in vars(refusals).items() if isinstance(rule, Rule)}

#: What no operation refuses: faults say it, with these facts.
BY_FAULTS = {"RATE_LIMITED": {"limit", "window", "left"}, "UNAVAILABLE": set(), "MAINTENANCE": set()}

#: What is raised by a variable, as one of several.
CHOSEN = {"INVALID_ENTRY", "INVALID_FIXTURE", "UNKNOWN_SNAPSHOT", "UNKNOWN_BRANCH"} | {
    code.upper() for code in refusals.UNREAD
}


def places(sentence: str) -> set[str]:
    """The places that a sentence has for facts and terms."""
    return {name for _, name, _, _ in Formatter().parse(sentence) if name is not None}


@cache
def raised() -> dict[str, dict[str, set[str]]]:
    """The facts that each rule is given, by where; the usual ones are always there."""
    found: dict[str, dict[str, set[str]]] = defaultdict(dict)
    for file in sorted(ROOT.rglob("*.py")):
        tree = ast.parse(file.read_text("utf-8"))
        own = any(isinstance(node, ast.ClassDef) and node.name == "Refused" for node in ast.walk(tree))
        for node in ast.walk(tree) if not own else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "Refused":
                where = f"{file.relative_to(ROOT)}:{node.lineno}"
                assert len(node.args) == 1, f"{where}: facts are given by name"
                given = {str(keyword.arg) for keyword in node.keywords}
                if given == {"None"}:  # what a fault was told
                    continue
                name = ast.unparse(node.args[0]).split(".")[-1]
                if name.islower():  # one of those whose sentences name just these facts
                    for one in RULES.values():
                        if places(one.sentence) == given and one.code.upper() in CHOSEN:
                            found[one.code.upper()][where] = given
                    continue
                assert name in RULES, f"{where}: {name} is the name of no rule"
                found[name][where] = given | set(RULES[name].usual)
    return found


@pytest.mark.parametrize("name", RULES)
def test_a_rule_is_whole(name: str) -> None:
    """It has a code, a sentence, and a remedy that says more than nothing."""
    rule = RULES[name]
    assert re.fullmatch(r"[a-z]+(_[a-z]+)+|locked|maintenance", rule.code)
    assert rule.sentence.endswith((".", ": {problem}", "{explanation}"))
    assert re.fullmatch(r"[a-z{].*[a-z}A-Z0-9]", rule.remedy), (
        "a remedy reads on, and ends without a full stop"
    )
    assert rule.category in STATUS


@pytest.mark.parametrize("name", RULES)
def test_the_words_of_a_rule_are_taken_for_no_secret(name: str) -> None:
    """The journal masks what follows the name of a secret; a refusal can be read there as it was told."""
    rule = RULES[name]
    for words in (rule.sentence, rule.remedy):
        plain = re.sub(r"\{[^}]*\}", "it has been revoked", words)
        assert text_masked(plain) == plain


def test_codes_and_statuses_are_told_once() -> None:
    """No two rules share a code, and each category has its own status."""
    assert len({rule.code for rule in RULES.values()}) == len(RULES)
    assert set(STATUS) == set(Category)
    assert len(set(STATUS.values())) == len(Category)


@pytest.mark.parametrize("name", RULES)
def test_a_rule_names_what_it_is_given_wherever_it_is_raised(name: str) -> None:
    """Its facts are the same everywhere, and the sentence and the remedy name no other."""
    given = [*raised()[name].items(), *([("faults", BY_FAULTS[name])] if name in BY_FAULTS else [])]
    assert given, f"nothing refuses by {name}"
    facts = given[0][1]
    assert {where: more for where, more in given if more != facts} == {}, f"otherwise than {facts}"
    rule = RULES[name]
    named = places(rule.sentence) | places(rule.remedy)
    assert {place for place in named if place.islower()} <= facts
    assert {place for place in named if not place.islower()} <= set(Term.__members__)


def test_an_interface_says_a_refusal_in_its_own_words() -> None:
    """Terms, actions and what is possible, in the sentence, the remedy and the facts."""
    possible = Possible((Action.RENEW, Action.LOCK_TRANSFER), frozenset(), " until expiry")
    refused = Refused(
        refusals.WRONG_STATE, name="a.com", state="active", action=Action.LOCK_UPDATE, possible=possible
    )
    assert refused.message.endswith(
        "where locking against updates is not possible; possible there: renewal, locking against transfer."
    )
    told = refused.spoken_in(V3.wording)
    assert told.message.endswith("where lockUpdate is not possible; possible there: renewal, lockTransfer.")
    assert refused.message == told.message
    assert told.remedy == "do what is possible there: renewal, lockTransfer"
    assert told.said["action"] == "lockUpdate"
    told = refused.spoken_in(Wording(lacks=frozenset({Action.RENEW, Action.LOCK_TRANSFER})))
    assert told.message.endswith("possible there: nothing until expiry.")


def test_what_nobody_knows_is_left_open() -> None:
    """An injected error has blanks in its sentence and its remedy."""
    injected = Refused(refusals.PRICE_MISMATCH, name="a.com").spoken_in(V3.wording)
    assert injected.message == "purchaseCost is …, but the price of a.com is …."
    assert injected.remedy == "send purchaseCost …"


def _names(schema: Schema | None) -> Iterator[str]:
    """The wire names in a schema, with those of the schemas inside it."""
    for name, field in schema.fields.items() if schema is not None else ():
        yield field.data_key or name
        inner = field.inner if isinstance(field, fields.List) else field
        if isinstance(inner, fields.Nested):
            yield from _names(inner.schema)


def _spelt() -> set[str]:
    """How interfaces spell things: keys of bodies and queries, placeholders, operations."""
    rows = (*V3.endpoints, *V2.endpoints)
    keys = {key for row in rows for schema in (row.body, row.query, row.path) for key in _names(schema)}
    keys |= {place for row in rows for path in row.paths for place in re.findall(r"\{(\w+)\}", path)}
    keys |= {part for row in V3.endpoints for part in row.paths[0].split("/")}
    return {key for key in keys if re.search(r"[a-z][A-Z]|-|_", key)}


def test_the_core_spells_nothing_as_interfaces_do() -> None:
    """In no text of it stand a header, an option, a path, or a key that is not a name of its own."""
    texts, own = [], set()
    for file in sorted((ROOT / "core").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            own |= {str(word) for word in (getattr(node, key, None) for key in ("id", "attr", "arg")) if word}
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.append((f"{file.relative_to(ROOT / 'core')}:{node.lineno}", node.value))
    spelt = _spelt() - own - set(Flag)
    assert {"purchaseCost", "authCode", "unlockTransfer", "transfer_code", "current_expiry_date"} <= spelt
    words = "|".join(sorted(map(re.escape, spelt)))
    wire = re.compile(
        rf"(?<![\w.-])({words})(?![\w-])|(?<!\w)--[a-z]|/_sandbox|/v3|\bX-[A-Z]|[A-Z]\w+-Type\b"
    )
    found = [
        (where, hit[0])
        for where, text in texts
        if not where.startswith("assumptions")
        for hit in wire.finditer(text)
    ]
    assert found == []
