"""A request as faults see it, and what they have done to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from reseller_sandbox.core import money
from reseller_sandbox.core.refusals import INTERNAL_ERROR, Refused
from reseller_sandbox.faults import FaultRule, Phase
from reseller_sandbox.server.delivery import Close, Cut, Delivery, Drip, Garbage, Hang, Reset, Truncate
from reseller_sandbox.web.bodies import read_object
from reseller_sandbox.web.generation import Answer, Endpoint, Generation, Incoming, content
from reseller_sandbox.web.subjects import subjects
from reseller_sandbox.worlds import World
from reseller_sandbox.worlds.journal import FAULT


class Seen:
    """A request as rules look at it; what takes reading is read when a rule asks for it."""

    def __init__(self, endpoint: Endpoint, incoming: Incoming) -> None:
        self._incoming = incoming
        self.operation = endpoint.id
        self.reads = endpoint.reads
        self.method = incoming.method
        self.path = incoming.path
        self.account = incoming.account.name if incoming.account is not None else ""
        self.changed = False

    @cached_property
    def domains(self) -> tuple[str, ...]:
        """The names it is about."""
        return subjects(self._incoming)

    @cached_property
    def body(self) -> Any:
        """Its JSON body."""
        try:
            return read_object(self._incoming.body) if self._incoming.body else None
        except Refused:
            return None


class Struck:
    """What the faults of one phase have done to a request.

    ``rules`` are those that struck. ``wait`` is for how many seconds it is held up, ``cut`` what becomes of
    the connection, ``instead`` makes the answer that takes the place of the right one, and ``error`` is that
    answer's name if it has one. ``again`` says which of two answers is given to a request that is carried
    out twice, ``commits`` how far an answer from the past lies back. ``answer`` is the operation's answer so
    far, in phase ``after``.
    """

    def __init__(self, answer: Answer | None = None) -> None:
        self.answer = answer
        self.rules: list[FaultRule] = []
        self.wait = 0.0
        self.cut: Cut | None = None
        self.instead: Callable[[Generation, Incoming, World, Endpoint], Answer] | None = None
        self.error: str | None = None
        self.again: str | None = None
        self.commits = 0
        self._drip: Drip | None = None

    @classmethod
    def by(cls, phase: Phase, seen: Seen, world: World, answer: Answer | None = None) -> Struck:
        """Let the rules of ``world`` have their turn at a request; their counts change with that."""
        struck, moment = cls(answer), world.moment
        faults, struck.rules = moment.faults.strike(phase, seen, world.now(), moment.state.seed, struck)
        if faults is not moment.faults:
            world.moment = replace(moment, faults=faults)
        return struck

    @property
    def decided(self) -> bool:
        """Whether the operation's answer is not the one that arrives."""
        return self.cut is not None or self.instead is not None

    def told(self, generation: Generation) -> str:
        """What the client is told in place of the operation's answer: an error's name, or no more than
        ``fault``; nothing where that answer arrives."""
        if self.error is None or self.cut is not None:
            return FAULT if self.decided else ""
        return self.error if self.error in generation.known_errors else INTERNAL_ERROR.code

    @property
    def delivery(self) -> Delivery | None:
        """The answer's way to the client, where it is not the usual one."""
        if not self.wait and self._drip is None and self.cut is None:
            return None
        return Delivery(self.wait, self._drip, self.cut)

    # What kinds of faults do, as sandbox.faults.Target describes it.

    def delay(self, seconds: float) -> None:
        """Hold it up; several delays add up."""
        self.wait += seconds

    def drip(self, size: int, pause: float) -> None:
        """Let the answer drip."""
        self._drip = Drip(size, pause)

    def hang(self, seconds: float | None) -> None:
        """Never answer."""
        self.cut = Hang(seconds)

    def reset(self) -> None:
        """Reset the connection."""
        self.cut = Reset()

    def close(self) -> None:
        """Close the connection."""
        self.cut = Close()

    def garbage(self, raw: bytes) -> None:
        """Send something that is no HTTP."""
        self.cut = Garbage(raw)

    def truncate(self, keep: int | None, reset: bool) -> None:
        """Cut the body short, by one byte at least."""
        assert self.answer is not None
        length = len(content(self.answer))
        self.cut = Truncate(max(min(length // 2 if keep is None else keep, length - 1), 0), reset)

    def refuse(
        self, error: str, facts: Mapping[str, object], status: int | None, retry_after: int | None
    ) -> None:
        """Answer as the generation would for this error."""

        def make(generation: Generation, incoming: Incoming, world: World, endpoint: Endpoint) -> Answer:
            answer = generation.inject(error, {**_known(incoming), **facts}, incoming, world, endpoint)
            return replace(_advised(incoming, retry_after, answer), status=status or answer.status)

        self.instead, self.error = make, error

    def say(self, status: int, body: Any, content_type: str | None, retry_after: int | None) -> None:
        """Answer just that: text as it is, anything else as JSON."""
        if isinstance(body, str) or body is None:
            answer = Answer(status, (body or "").encode(), content_type or "text/html; charset=utf-8")
        else:
            answer = Answer(status, body, content_type or "")

        def make(_generation: Generation, incoming: Incoming, _world: World, _endpoint: Endpoint) -> Answer:
            return _advised(incoming, retry_after, answer)

        self.instead = make

    def edit(self, change: Callable[[Any], tuple[Any, bool]]) -> bool:
        """Change the answer's JSON."""
        assert self.answer is not None
        body, changed = change(self.answer.body)
        self.answer = replace(self.answer, body=body)
        return changed

    def repeat(self, answer: str) -> None:
        """Have it carried out twice."""
        self.again = answer

    def look_back(self, commits: int) -> None:
        """Have it answered from the past."""
        self.commits = commits


def _known(incoming: Incoming) -> dict[str, object]:
    """What a refusal of this request could well speak of."""
    names, account = subjects(incoming), incoming.account
    known: dict[str, object] = {"name": names[0]} if names else {}
    if account is not None:
        balance = money.write(account.balance)
        known |= {"amount": f"More than {balance}", "balance": balance, "currency": account.currency}
    return known


def _advised(incoming: Incoming, retry_after: int | None, answer: Answer) -> Answer:
    if retry_after is not None:
        incoming.headers_out["Retry-After"] = str(retry_after)
    return answer
