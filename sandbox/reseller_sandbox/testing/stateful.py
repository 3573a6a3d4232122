"""Hypothesis state machine that tests a client while time passes, third parties act and requests fail."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import cached_property
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from reseller_sandbox.advice.finding import Severity
from reseller_sandbox.advice.orders import lost_answer_ignored
from reseller_sandbox.refusals import Refused
from reseller_sandbox.sandbox import Sandbox

#: Default faults of a machine, each with its kind and parameters. Each is applied to one request.
FAULTS: tuple[tuple[str, Mapping[str, object]], ...] = (
    ("reset", {"when": {"phase": "after", "times": 1}}),
    ("reset", {"when": {"phase": "before", "times": 1}}),
    ("error", {"error": "internal_error", "when": {"phase": "after", "times": 1}}),
    ("error", {"error": "internal_error", "when": {"times": 1}}),
    ("latency", {"seconds": 30, "when": {"phase": "after", "times": 1}}),
)

#: Actions of third parties that need only a name.
ACTIONS = (
    *("register", "hold", "release_hold", "drop", "request_transfer", "cancel_transfer"),
    *("complete_transfer", "approve_transfer", "reject_transfer"),
)


class SandboxMachine(RuleBasedStateMachine):
    """State machine with a sandbox. Subclass it, and add rules that call your client.

    Each example runs in its own world (``sandbox``), a fork of ``Sandbox(**settings)``. The machine moves the
    clock, lets third parties act on ``names``, and sets one of ``faults`` for the next request. After each
    step, ``check_advice`` and ``check_books`` check the money of the client.

    >>> class Renewals(SandboxMachine):
    ...     names = ("active-example.com",)
    ...
    ...     @rule()
    ...     def renew(self):
    ...         renew_with_my_client(self.sandbox.client(timeout=10), "active-example.com")
    >>> TestRenewals = Renewals.TestCase
    """

    #: Fields of ``Settings`` for the sandbox, such as ``fixture``.
    settings: ClassVar[Mapping[str, Any]] = {}
    #: The account of your client.
    account: ClassVar[str] = "main"
    #: Names on which third parties act.
    names: ClassVar[tuple[str, ...]] = ("active-example.com", "stateful-example.com")
    #: Faults that the machine adds, each with its kind and parameters.
    faults: ClassVar[tuple[tuple[str, Mapping[str, Any]], ...]] = FAULTS
    #: Operations that get faults, as a pattern with ``*`` and ``?``.
    operations: ClassVar[str] = "*"

    _origin: ClassVar[Sandbox | None] = None

    @cached_property
    def sandbox(self) -> Sandbox:
        """Sandbox of this example's world."""
        machine = type(self)
        if machine.__dict__.get("_origin") is None:
            machine._origin = Sandbox(**self.settings)
        assert machine._origin is not None
        return machine._origin.fork()

    @initialize()
    def begin(self) -> None:
        """Create the world of this example."""
        self._opening = self.sandbox.accounts[self.account].balance

    def paid(self) -> Decimal:
        """Return the money that the account has paid in this example, without refunds."""
        return self._opening - self.sandbox.accounts[self.account].balance

    def booked(self) -> Decimal | None:
        """Return the total costs that your client has booked, or None if your client keeps no books.

        Override this method, so that ``check_books`` compares the amount with the ledger.
        """
        return None

    @rule(days=st.integers(1, 400))
    def time_passes(self, days: int) -> None:
        """Advance the clock by days. Due events happen."""
        self.sandbox.clock.advance(f"P{days}D")

    @rule(hours=st.integers(1, 48))
    def hours_pass(self, hours: int) -> None:
        """Advance the clock by hours. Due events happen."""
        self.sandbox.clock.advance(f"PT{hours}H")

    @precondition(lambda self: self.names)
    @rule(data=st.data())
    def a_third_party_acts(self, data: st.DataObject) -> None:
        """Let another registrar or the registry act on one of ``names``, if the action is possible now."""
        action = data.draw(st.sampled_from(ACTIONS), "action")
        name = data.draw(st.sampled_from(self.names), "name")
        try:
            getattr(self.sandbox.simulate, action)(name)
        except Refused:
            return

    @precondition(lambda self: self.faults)
    @rule(data=st.data())
    def the_next_request_fails(self, data: st.DataObject) -> None:
        """Set one of ``faults`` for the next request of ``operations``."""
        kind, parameters = data.draw(st.sampled_from(self.faults), "fault")
        self.sandbox.faults.clear()
        self.sandbox.faults.add(kind, match={"operation": self.operations}, **parameters)

    @invariant()
    def check_advice(self) -> None:
        """Fail if the sandbox has advice about money, such as a renewal that was paid twice.

        A lost answer that the client has not read yet does not count, because the client can read the result
        in a later step.
        """
        findings = [
            finding
            for finding in self.sandbox.advice.list().findings
            if finding.severity is Severity.MONEY and finding.rule != lost_answer_ignored.name
        ]
        assert not findings, "\n".join(f"{each.rule}: {each.summary} {each.instead}" for each in findings)

    @invariant()
    def check_books(self) -> None:
        """Fail if the costs in your client's books differ from the ledger."""
        booked = self.booked()
        if booked is not None:
            paid = self.paid()
            assert booked == paid, f"the client has booked {booked}, but the account paid {paid}"

    def teardown(self) -> None:
        """Delete the world of this example."""
        self.sandbox.close()
