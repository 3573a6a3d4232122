"""Whatever a refusal carries can be shown: every rule, with facts of every type, through control."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import PurePosixPath
from string import Formatter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reseller_sandbox import Sandbox
from reseller_sandbox.core import refusals
from reseller_sandbox.core.model import Flag, Stage
from reseller_sandbox.core.refusals import Refusal, Rule
from reseller_sandbox.worlds.explain import explain
from reseller_sandbox.worlds.journal import Entry
from tests.registry import REGISTRY
from tests.rendered import render
from tests.v2.client import connect
from tests.worlds.control import control

RULES = sorted(
    {rule for rule in vars(refusals).values() if isinstance(rule, Rule)}, key=lambda rule: rule.code
)

SANDBOX = Sandbox(REGISTRY)

_PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(max_size=20),
    st.decimals().filter(lambda number: not number.is_snan()),  # which no set can hold
    st.dates(),
    st.datetimes(timezones=st.just(UTC)),
    st.timedeltas(max_value=timedelta(days=9999)),
    st.sampled_from([*Stage, *Flag]),
    st.sampled_from([PurePosixPath("/a"), SANDBOX.account(), object]),
)
FACTS = st.one_of(
    _PLAIN,
    st.lists(_PLAIN, max_size=3),
    st.lists(_PLAIN, max_size=3).map(tuple),
    st.frozensets(_PLAIN, max_size=3),
    st.dictionaries(st.one_of(st.text(max_size=5), st.integers()), _PLAIN, max_size=3),
)


def entry_refused(refusal: Refusal, domains: tuple[str, ...] = ("active.com", "nobody.com")) -> Entry:
    """A request of the account ``main`` that was refused so."""
    moment = SANDBOX.world.moment
    return Entry(
        id="r1",
        at=moment.clock.instant,
        operation="v3.renewDomain",
        account="main",
        domains=domains,
        method="POST",
        raw_target="/v3/domains/renewDomain/active.com",
        body=b"{}",
        credentials_in_query=False,
        status=400,
        answer=b"{}",
        duration=0.001,
        changes=(),
        refused=refusal,
        assumed=(),
        carried_out=False,
        outcome=refusal.rule.code,
        before=moment,
        after=moment,
    )


def facts_of(rule: Rule) -> list[str]:
    """The facts that a rule's sentence names."""
    return sorted({name for _, name, _, _ in Formatter().parse(rule.sentence) if name and name.islower()})


@given(st.data())
def test_every_rule_can_be_shown_whatever_its_facts(data: st.DataObject) -> None:
    """Dates, sets, records, numbers that are none: there is nothing that an entry cannot tell of."""
    rule = data.draw(st.sampled_from(RULES))
    names = [*facts_of(rule), "action", "name", "more"]
    facts = {name: data.draw(FACTS, label=name) for name in names}
    shown = render(entry_refused(Refusal(rule, facts)))["refusal"]
    assert shown["rule"] == rule.code
    assert shown["facts"].keys() <= facts.keys()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_every_rule_can_be_explained_with_no_more_than_its_sentence_names(rule: Rule) -> None:
    """No explanation asks for a fact that the refusal need not carry."""
    told = explain(entry_refused(Refusal(rule, dict.fromkeys(facts_of(rule), "x"))))
    assert told is not None
    assert told.allowed.words


@pytest.mark.parametrize(
    ("fact", "shown"),
    [
        (date(2026, 3, 1), "2026-03-01"),
        (datetime(2026, 3, 1, 12, tzinfo=UTC), "2026-03-01T12:00:00Z"),
        (Decimal("1.5"), "1.50"),
        (Decimal("NaN"), "NaN"),
        (float("inf"), "inf"),
        (frozenset({"b", "a"}), ["a", "b"]),
        ({date(2026, 3, 1): (Stage.ACTIVE,)}, {"2026-03-01": ["active"]}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_facts_look_as_on_the_wire(fact: object, shown: object) -> None:
    """An instant, a date and money are written as they are in answers."""
    entry = entry_refused(Refusal(refusals.INVALID_PARAMETER, {"problems": "none", "given": fact}))
    assert render(entry)["refusal"]["facts"]["given"] == shown


def test_a_renewal_refused_by_the_guard_leaves_the_journal_readable(sandbox: Sandbox) -> None:
    """The guard's two dates are shown, and so is all that came before and after."""
    asked = {"period": 1, "current_expiry_date": "2001-01-01"}
    assert connect(sandbox).put("/domain/active.com/renew", asked).status == 400
    [entry] = control(sandbox).get("journal")["requests"]
    assert entry["refusal"]["facts"]["given"] == "2001-01-01"
