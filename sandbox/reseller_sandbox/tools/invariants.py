"""Invariants of a successful run: nothing is paid twice, nothing is paid without a result, and so on.

Each invariant compares the outcome of a run with the outcome of its ``baseline``, a run without trouble. It
yields a sentence for each violation. ``expected`` says how the two outcomes may differ.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from pkgutil import resolve_name

from msgspec import Struct

from reseller_sandbox.advice.finding import Finding
from reseller_sandbox.app_factory import contract
from reseller_sandbox.control.journal import RequestRecord
from reseller_sandbox.sandbox import Sandbox
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.tools.outcomes import MONEY, Difference, Outcome, advice_line, differences
from reseller_sandbox.tools.running import ReportedOrder
from reseller_sandbox.values import money
from reseller_sandbox.values.clock import parse_iso
from reseller_sandbox.values.matching import OK
from reseller_sandbox.values.names import to_unicode
from reseller_sandbox.values.text_checks import plural

#: Two instants that differ by at most this time count as equal, because the clock moves during a run.
_SAME = timedelta(days=1)

#: The advice rule about a paid order whose answer was lost. Its findings do not count if the names are as
#: without the fault.
_IGNORED = "lost_answer_ignored"

#: Advice rules about a repeated order that was refused. Their findings do not count if the program reads the
#: name afterwards.
_REPEATED = ("registration_repeated", "transfer_repeated")


class Expected(Struct, frozen=True, kw_only=True):
    """The differences from the baseline (a run without trouble) that the outcome of a run may have.

    ``same`` is whether the program can reach the same outcome, because a retry succeeds. ``asked`` is whether
    the requests of the program must have their effects at the end, although a retry does not succeed: the
    program reports success, so it claims these effects. ``priced`` is whether the price of a name changed
    right before its order. With ``sums_only``, only the sums that the program reports must be correct,
    apart from fixed prices, because the program can rely on the usual prices.
    """

    same: bool = True
    asked: bool = False
    priced: bool = False
    sums_only: bool = False


#: The advice rule about a renewal that was paid twice. Ignore its findings, because ``paid_twice`` reports
#: such renewals.
_TWICE = "renewed_twice"

Invariant = Callable[[Outcome, Outcome, Expected], Iterator[str]]

#: An invariant that the user wrote. It returns a description of the violation, or None.
OwnInvariant = Callable[["Sandbox"], str | None]


def paid_twice(run: Outcome, baseline: Outcome, expected: Expected) -> Iterator[str]:
    """Yield a sentence for each order that was paid more often than in the baseline run."""
    for key, amounts in run.paid.items():
        often = len(baseline.paid.get(key, ()))
        if len(amounts) > max(often, 1):
            yield f"{key} was paid {len(amounts)} times: {' + '.join(map(money.write, amounts))}"
        elif not often and expected.same:
            yield f"{key} was paid, {money.write(amounts[0])}, but not without the fault"


def paid_and_lost(run: Outcome, baseline: Outcome, _: Expected) -> Iterator[str]:
    """Yield a sentence for each paid name that the account does not have, and for new advice about money."""
    for key in run.paid:
        at = key.account, key.name
        if run.names.get(at) is None and not (key in baseline.paid and baseline.names.get(at) is None):
            yield f"{key} was paid, but {key.account} does not have the name"
    known = {(finding.rule, finding.domains) for finding in baseline.findings}
    for finding in run.money_advice:
        new = (finding.rule, finding.domains) not in known
        if new and finding.rule != _TWICE and not _is_harmless(run, baseline, finding):
            yield advice_line(finding)


def _is_harmless(run: Outcome, baseline: Outcome, finding: Finding) -> bool:
    """Whether a finding has no consequence in this run."""
    if finding.rule == _IGNORED:
        changed = {each.record.partition(" ")[0] for each in _differences(run, baseline)}
        return not any(
            name in changed or _paid_for(run, name) != _paid_for(baseline, name) for name in finding.domains
        )
    return _has_read_since(run, finding)


def _paid_for(outcome: Outcome, name: str) -> list[tuple[Decimal, ...]]:
    return sorted(amounts for key, amounts in outcome.paid.items() if to_unicode(key.name) == name)


def _has_read_since(run: Outcome, finding: Finding) -> bool:
    """Whether the program read the names of a finding after its repeated order was refused."""
    if finding.rule not in _REPEATED:
        return False
    last = max(int(entry[1:]) for entry in finding.entries)
    lists = {operation.id for operation in contract() if operation.lists_names}
    return any(
        request.outcome == OK and (request.operation in lists or set(request.domains) & set(finding.domains))
        for request in run.requests
        if int(request.id[1:]) > last and request.account == finding.account
    )


def left_undone(run: Outcome, baseline: Outcome, expected: Expected) -> Iterator[str]:
    """Yield a sentence for each record that differs from the baseline, although the program succeeds."""
    if expected.same:
        unequal = list(_differences(run, baseline))
    elif expected.asked:
        unequal = list(_unfulfilled(run, baseline))
    else:
        return
    whole = {each.record for each in unequal if not each.field}
    for each in unequal:
        if not each.field:
            yield f"{each.record} {each.after}, but {each.usual} without the fault"
        elif each.record not in whole:
            words = f"its {each.field} {'are' if each.field in _PLURALS else 'is'}"
            yield f"{each.record}: {words} {_shown(each.after)}, but {_shown(each.usual)} without the fault"


def _differences(run: Outcome, baseline: Outcome) -> Iterator[Difference]:
    """Yield the fields of records that differ from the baseline, except instants on the same day."""
    return (each for each in differences(run, baseline) if not _are_close(each.after, each.usual))


def _unfulfilled(run: Outcome, baseline: Outcome) -> Iterator[Difference]:
    """Yield the fields that requests of the run must have changed, as in the baseline, and that differ.

    A request that the program did not send, for example after it read that a name is taken, counts nowhere. A
    program that changes other records has reacted, so nothing is yielded. The same is true if the program
    writes its own list of orders, because ``as_reported`` checks the list.
    """
    usual = {effect[:2] for request in baseline.requests for effect in baseline.effects_of(request)}
    done = {effect[:2] for request in run.requests for effect in run.effects_of(request)}
    if run.ended.view is not None or any(title != MONEY for title, _ in done - usual):
        return
    sent = {request_key(request) for request in run.requests}
    asked = {
        effect[:2]
        for request in baseline.requests
        if request_key(request) in sent
        for effect in baseline.effects_of(request)
    }
    for each in _differences(run, baseline):
        is_transfer = each.record.startswith("transfer ")  # its result shows in the order of the name
        if (each.record, each.field) in asked and not is_transfer and not _has_flags(each):
            yield each


def request_key(request: RequestRecord) -> tuple[str, str, tuple[str, ...]]:
    """Return a value that is equal for the same request in two runs of a program."""
    about = "" if request.domains else request.request.target.rpartition("/")[2]
    return request.operation, about, request.domains


def _has_flags(each: Difference) -> bool:
    """Whether the flags that the baseline sets are set, and those that it removes are not.

    The hold of the registry counts as a hold, because it keeps a name out of the DNS, too.
    """
    if each.field != "flags":
        return False
    before, after, usual = (
        {flag.replace("server_", "client_") for flag in text.split(", ") if flag}
        for text in (each.before, each.after, each.usual)
    )
    return usual - before <= after and not (before - usual) & after


def _are_close(first: str, second: str) -> bool:
    """Whether two values are equal, or are instants at most one day apart."""
    if _INSTANT.fullmatch(first) and _INSTANT.fullmatch(second):
        return abs(parse_iso(first) - parse_iso(second)) <= _SAME
    return first == second


def _shown(value: str) -> str:
    return value[: len("2026-01-15")] if _INSTANT.fullmatch(value) else value or "none"


#: The format of an instant in the control interface.
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")

#: The fields in the plural.
_PLURALS = {"addresses", "contacts", "contact details", "flags", "name servers", "years"}

#: A name that is not active for at most this time counts as uninterrupted, because retries take time.
_INTERRUPTED = timedelta(hours=1)


def noticed_late(run: Outcome, baseline: Outcome, expected: Expected) -> list[str]:
    """Return a sentence for each detour of a run to the same result: a name stopped working for a time.

    The sentences have the cost of the detour.
    """
    if not expected.same or expected.sums_only:
        return []
    usual = {(detour.name, detour.stage) for detour in baseline.detours}
    found = [
        f"{to_unicode(detour.name)} was not active ({detour.stage.replace('_', ' ')}) for "
        f"{_length(detour.end - detour.begin)}"
        for detour in run.detours
        if (detour.name, detour.stage) not in usual and detour.end - detour.begin > _INTERRUPTED
    ]
    more = run.total - baseline.total
    if found and more > 0:
        found.append(f"the run cost {money.write(more)} more than without the fault")
    elif found:
        found.append("the run cost no more money than without the fault")
    return found


def _length(period: timedelta) -> str:
    hours = round(period.total_seconds() / 3600)
    return plural(round(hours / 24), "day") if hours >= 24 else plural(hours, "hour")


def agreed_prices(run: Outcome, baseline: Outcome, expected: Expected) -> Iterator[str]:
    """Yield a sentence for each order that cost more than the agreed price, which it cost in the baseline."""
    for key, amounts in run.paid.items() if expected.priced else ():
        agreed = baseline.paid.get(key)
        if agreed and max(amounts) > max(agreed):
            price, agreed_price = money.write(max(amounts)), money.write(max(agreed))
            yield f"{key} cost {price}, but the agreed price was {agreed_price}"


def as_reported(run: Outcome, _: Outcome, __: Expected) -> Iterator[str]:
    """Yield a sentence for each difference between the registry and the orders that the program reports.

    A program without a report has no differences.
    """
    reported = run.ended.view
    if reported is None:
        return
    for name in dict.fromkeys(order.name for order in reported if order.name):
        records = [
            record for (_, domain), record in run.names.items() if domain == name and record is not None
        ]
        days = [order.expires for order in reported if order.name == name and order.expires is not None]
        paid = sum(len(amounts) for key, amounts in run.paid.items() if key.name == name)
        times = sum(order.name == name for order in reported)
        if not records and not paid and any(order.credited for order in reported if order.name == name):
            continue  # the program reports an order that was deleted and refunded
        if not records:
            yield f"the program reports an order of {to_unicode(name)}, but no account has the name"
        elif times > max(paid, 1):
            yield f"the program reports {times} orders of {to_unicode(name)}, but paid {paid}"
        elif days and not any(f"{record.expires:%Y-%m-%d}" == max(days) for record in records):
            actual = f"{records[0].expires:%Y-%m-%d}"
            yield f"{to_unicode(name)} expires on {actual}, but the program reports {max(days)}"
    for key in run.paid:
        if not any(key.name in _names_of(order, run) for order in reported):
            yield f"{key} was paid, but the program does not report it"


#: A smaller difference between two sums is an error of rounding. A larger one can come from a fixed price.
_ROUNDING = Decimal("0.5")


def reconciled(run: Outcome, _: Outcome, expected: Expected) -> Iterator[str]:
    """Yield a sentence for each sum that the program reports and that differs from the ledger."""
    sums: dict[tuple[str, str], list[ReportedOrder]] = {}
    for order in run.ended.view or ():
        if order.invoiced is not None or order.credited is not None:
            sums.setdefault((order.name, "" if order.name else str(order.customer)), []).append(order)
    for orders in sums.values():
        names = _names_of(orders[0], run)
        amounts = [movement.amount for movement in run.movements if movement.paid.name in names]
        paid = -sum((amount for amount in amounts if amount < 0), money.NOTHING)
        refunded = sum((amount for amount in amounts if amount > 0), money.NOTHING)
        invoiced, credited = (
            sum((getattr(order, side) or money.NOTHING for order in orders), money.NOTHING)
            for side in ("invoiced", "credited")
        )
        if expected.sums_only and max(abs(invoiced - paid), abs(credited - refunded)) >= _ROUNDING:
            continue
        words = [f"invoiced {invoiced}, paid {money.write(paid)}"] if invoiced != paid else []
        if credited != refunded:
            words.append(f"credited {credited}, refunded {money.write(refunded)}")
        if words:
            yield f"{orders[0]}: {'; '.join(words)}"


def _names_of(order: ReportedOrder, run: Outcome) -> set[str]:
    """Return the domain of a reported order, or the domains whose payments a reported sum includes.

    A domain that the program ordered and deleted keeps its payments.
    """
    if order.name:
        return {order.name}
    owners = {
        name: str(record.customer) for (_, name), record in run.names.items() if record is not None
    } | dict(run.buyers)
    names = {movement.paid.name for movement in run.movements} | owners.keys()
    if not order.customer:
        return names
    customer = str(run.customers.get(str(order.customer), order.customer))
    return {name for name in names if owners.get(name) == customer}


#: Every invariant, in the order of the report.
INVARIANTS: tuple[Invariant, ...] = (
    paid_twice,
    paid_and_lost,
    agreed_prices,
    as_reported,
    reconciled,
    left_undone,
)


def violations_of(run: Outcome, baseline: Outcome, expected: Expected) -> list[str]:
    """Return a sentence for each violated invariant."""
    invariants = (reconciled,) if expected.sums_only else INVARIANTS
    return list(
        dict.fromkeys(words for invariant in invariants for words in invariant(run, baseline, expected))
    )


def own_violations(invariants: Iterable[OwnInvariant], world: Sandbox) -> list[str]:
    """Return a description of each violated invariant that the user wrote.

    An invariant is violated, too, if it raises an error.
    """
    violations = []
    for invariant in invariants:
        try:
            words = invariant(world)
        except KeyboardInterrupt:
            raise
        except BaseException as problem:  # also the errors of pytest.fail and pytest.raises
            words = f"{type(problem).__name__}: {problem}"
        violations += [f"{getattr(invariant, '__name__', 'invariant')}: {words}"] if words else []
    return violations


def named(functions: Iterable[str]) -> tuple[OwnInvariant, ...]:
    """Import invariants by names such as ``module:function``. Raise ``BadSetting``."""
    return tuple(_loaded(name) for name in functions if name)


def _loaded(name: str) -> OwnInvariant:
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        function: OwnInvariant = resolve_name(name)
    except Exception as problem:
        raise BadSetting(
            f"--invariant {name} cannot be imported: {type(problem).__name__}: {problem}"
        ) from None
    if not callable(function):
        raise BadSetting(f"--invariant {name} is not a function")
    return function
