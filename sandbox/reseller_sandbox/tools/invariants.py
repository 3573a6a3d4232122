"""What holds of a world after any run that ends well: nothing paid twice, nothing paid and lost, …

Each invariant compares what a run has left with what the ``default`` run, in which nothing went wrong, has
left, and yields a sentence for each thing that does not hold. ``expected`` says how much the two may differ.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from pkgutil import resolve_name

from msgspec import Struct

from reseller_sandbox.advice.finding import Finding
from reseller_sandbox.advice.record import LIST
from reseller_sandbox.control.records import NameRecord
from reseller_sandbox.registry import money
from reseller_sandbox.registry.matching import OK
from reseller_sandbox.registry.names import to_unicode
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.tools.outcomes import Outcome, in_a_line

#: How far apart two dates may be that are taken for the same, since a clock may run.
_SAME = timedelta(days=1)

#: Advice about an order that was sent again and refused; it holds only where nobody looked at the name since.
_REPEATED = ("registration_repeated", "transfer_repeated")


class Expected(Struct, frozen=True, kw_only=True):
    """What may be expected of a run.

    ``same`` is whether it can come to what the usual one comes to, since to ask again would have done;
    ``priced`` is whether a name got another price just before it was ordered.
    """

    same: bool = True
    priced: bool = False


#: Advice that the ledger shows as well.
_TWICE = "renewed_twice"

Invariant = Callable[[Outcome, Outcome, Expected], Iterator[str]]

#: What holds of a world after a run, or the words for what does not.
OwnInvariant = Callable[["Sandbox"], str | None]


def paid_twice(run: Outcome, default: Outcome, expected: Expected) -> Iterator[str]:
    """Yield what was paid for more often than it is usually."""
    for key, amounts in run.paid.items():
        often = len(default.paid.get(key, ()))
        if len(amounts) > max(often, 1):
            yield f"{key} was paid {len(amounts)} times: {' + '.join(map(money.write, amounts))}"
        elif not often and expected.same:
            yield f"{key} was paid, {money.write(amounts[0])}, and is not without the fault"


def paid_and_lost(run: Outcome, default: Outcome, _: Expected) -> Iterator[str]:
    """Yield what was paid for and is not there, or nobody knows of."""
    for key in run.paid:
        at = key.account, key.name
        if run.names.get(at) is None and not (key in default.paid and default.names.get(at) is None):
            yield f"{key} was paid, and {key.account} does not have the name"
    known = {(one.rule, one.domains) for one in default.findings}
    for finding in run.of_money:
        new = (finding.rule, finding.domains) not in known
        if new and finding.rule != _TWICE and not _learned_since(run, finding):
            yield in_a_line(finding)


def _learned_since(run: Outcome, finding: Finding) -> bool:
    """Whether somebody looked at the name after the order had been refused the second time."""
    if finding.rule not in _REPEATED:
        return False
    last = max(int(one[1:]) for one in finding.entries)
    return any(
        one.outcome == OK and (one.operation == LIST or set(one.domains) & set(finding.domains))
        for one in run.requests
        if int(one.id[1:]) > last and one.account == finding.account
    )


def left_undone(run: Outcome, default: Outcome, expected: Expected) -> Iterator[str]:
    """Yield what differs of the names, where to ask again would have brought them to the usual state."""
    if not expected.same:
        return
    for (account, name), wanted in default.names.items():
        found = run.names.get((account, name))
        if wanted is not None and found is None:
            yield f"{account} does not have {to_unicode(name)}, which it has without the fault"
        elif wanted is None and found is not None and (account, name) in run.names:
            yield f"{account} has {to_unicode(name)}, which it does not have without the fault"
        elif wanted is not None and found is not None:
            for what, one, other in _differences(found, wanted):
                yield f"{to_unicode(name)}: {what} {one}, and {other} without the fault"


def _differences(found: NameRecord, wanted: NameRecord) -> Iterator[tuple[str, str, str]]:
    if abs(found.expires - wanted.expires) > _SAME:
        yield "its expiry date is", f"{found.expires:%Y-%m-%d}", f"{wanted.expires:%Y-%m-%d}"
    for what, words in _COMPARED.items():
        one, other = _in_words(getattr(found, what)), _in_words(getattr(wanted, what))
        if one != other:
            yield words, one, other


#: What is compared of a name beside its date, and how it is told.
_COMPARED = {
    "stage": "its stage is",
    "autorenew": "its automatic renewal is",
    "privacy": "its privacy is",
    "flags": "its flags are",
    "nameservers": "its name servers are",
}


def _in_words(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(sorted(map(str, value))) or "none"
    return str(value) if not isinstance(value, bool) else "on" if value else "off"


def agreed_prices(run: Outcome, default: Outcome, expected: Expected) -> Iterator[str]:
    """Yield what was paid at a price that came up after the customer had agreed to another."""
    for key, amounts in run.paid.items() if expected.priced else ():
        agreed = default.paid.get(key)
        if agreed and max(amounts) > max(agreed):
            price, told = money.write(max(amounts)), money.write(max(agreed))
            yield f"{key} was paid with {price}, and the price was {told} when it was agreed to"


def as_said(run: Outcome, _: Outcome, __: Expected) -> Iterator[str]:
    """Yield where the program has another view of its orders than the registry; if it says what it has."""
    said = run.ended.view
    if said is None:
        return
    for name in dict.fromkeys(one.name for one in said):
        held = [one for (_, other), one in run.names.items() if other == name and one is not None]
        days = [one.expires for one in said if one.name == name and one.expires is not None]
        paid = sum(len(amounts) for key, amounts in run.paid.items() if key.name == name)
        times = sum(one.name == name for one in said)
        if not held:
            yield f"the program has ordered {to_unicode(name)}, it says, and no account has it"
        elif times > max(paid, 1):
            yield f"the program has {times} orders of {to_unicode(name)}, it says, and paid {paid}"
        elif days and not any(f"{one.expires:%Y-%m-%d}" == max(days) for one in held):
            found = f"{held[0].expires:%Y-%m-%d}"
            yield f"{to_unicode(name)} expires on {found}, and the program says on {max(days)}"
    for key in run.paid:
        if all(one.name != key.name for one in said):
            yield f"{key} was paid, and the program does not know of it"


#: Every invariant, in the order in which they are told.
INVARIANTS: tuple[Invariant, ...] = (paid_twice, paid_and_lost, agreed_prices, as_said, left_undone)


def broken(run: Outcome, default: Outcome, expected: Expected) -> list[str]:
    """Return a sentence for each thing that does not hold."""
    return list(dict.fromkeys(words for one in INVARIANTS for words in one(run, default, expected)))


def own_broken(invariants: Iterable[OwnInvariant], world: Sandbox) -> list[str]:
    """Return what the invariants of the user's own say; to raise an error is to say that it does not hold."""
    found = []
    for one in invariants:
        try:
            words = one(world)
        except Exception as problem:
            words = f"{type(problem).__name__}: {problem}"
        found += [f"{getattr(one, '__name__', 'invariant')}: {words}"] if words else []
    return found


def named(functions: Iterable[str]) -> tuple[OwnInvariant, ...]:
    """Return the functions of these names, ``module:function``; raise ``BadSetting``."""
    return tuple(_loaded(one) for one in functions if one)


def _loaded(name: str) -> OwnInvariant:
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found: OwnInvariant = resolve_name(name)
    except Exception as problem:
        raise BadSetting(f"--invariant {name}: {type(problem).__name__}: {problem}") from None
    if not callable(found):
        raise BadSetting(f"--invariant {name} is no function")
    return found
