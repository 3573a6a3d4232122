"""The journal: every request with its answer and effect, and the verification of expected requests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Unpack

from msgspec.structs import replace

from reseller_sandbox.core.matching import MATCH, Matching, Miss
from reseller_sandbox.core.refusals import INVALID_PARAMETER, UNKNOWN_REQUEST, Refused
from reseller_sandbox.core.values import Text, listed, whole
from reseller_sandbox.powers.following import Followed, Following
from reseller_sandbox.powers.here import here
from reseller_sandbox.powers.journal_records import (
    RequestLine,
    RequestRecord,
    Why,
    request_line,
    request_record,
)
from reseller_sandbox.powers.keyed import Keyed
from reseller_sandbox.powers.matching import Wanted, match_of
from reseller_sandbox.powers.pages import PerSecond, latest
from reseller_sandbox.powers.power import act, look, stream
from reseller_sandbox.powers.result import Result
from reseller_sandbox.worlds import Entry, plain, verify
from reseller_sandbox.worlds.verify import Verdict

#: How many requests are listed at the most, and by default.
MOST, LISTED = 10_000, 100

_Times = Annotated[int, whole(0, 10**9)]


class RequestsFound(Result, frozen=True, kw_only=True):
    """The latest matching requests, oldest first.

    ``matching`` counts all of those, ``kept`` what the journal holds, ``dropped`` what it has forgotten.
    """

    requests: tuple[RequestRecord, ...]
    matching: int
    kept: int
    dropped: int


class Cleared(Result, frozen=True, kw_only=True):
    """How many requests were forgotten."""

    cleared: int


class Missed(Result, frozen=True, kw_only=True):
    """One difference between a request and what was expected."""

    what: str
    expected: Any
    actual: Any


class Near(Result, frozen=True, kw_only=True):
    """A request that nearly matched, and its differences."""

    request: RequestLine
    misses: tuple[Missed, ...]

    def __str__(self) -> str:
        """Return the request and its misses in one line."""
        wrong = "; ".join(f"{one.what} is {one.actual!r}, not {one.expected!r}" for one in self.misses)
        return f"{self.request}: {wrong}"


class Verification(Result, frozen=True, kw_only=True):
    """Whether the expected requests came, and a message; the requests that match, and those that nearly do.

    ``count`` counts all that match; the latest of them are listed.
    """

    verified: bool
    message: str
    count: int
    requests: tuple[RequestLine, ...]
    near_misses: tuple[Near, ...]

    def __str__(self) -> str:
        """Return the message, with a line for each request that it is about."""
        lines = [self.message, *(f"  found {one}" for one in self.requests)]
        return "\n".join([*lines, *(f"  near: {one}" for one in self.near_misses)])


class Journal(Keyed[RequestRecord]):
    """The requests that the world remembers, with their answers, changes and refusals."""

    @look(long=True)
    def find(
        self, *, limit: Annotated[int, whole(0, MOST)] = LISTED, **match: Unpack[Matching]
    ) -> RequestsFound:
        """Return the latest matching requests, each with everything that is known of it.

        Args:
            limit: How many of the latest to list.
        """
        world = here(self).world
        found = verify.find(world, match_of(self, match))
        return RequestsFound(
            requests=tuple(map(request_record, latest(found, limit))),
            matching=len(found),
            kept=len(world.journal),
            dropped=world.journal.dropped,
        )

    @look(UNKNOWN_REQUEST)
    def get(self, request: Text, /) -> RequestRecord:
        """Return one request: what was asked and answered, what it changed, and why it was refused.

        Args:
            request: The request's name, such as ``r12``.
        """
        return request_record(here(self).world.journal.get(request))

    def __iter__(self) -> Iterator[RequestRecord]:
        """Yield every request that is kept, the oldest first."""
        return iter(self.find(limit=MOST).requests)

    @stream()
    def follow(
        self, *, per_second: PerSecond | None = None, **match: Unpack[Matching]
    ) -> Following[RequestLine]:
        """Yield each matching request, in one line, as it comes.

        With ``since`` those that came after that go first, as far as the journal still has them.
        """
        wanted = match_of(self, match)
        live = replace(wanted, since=None)
        follower, entries = here(self).world.journal.follow()
        follower.begin(filter(wanted, entries) if "since" in match else ())
        return Followed(
            f"journal {live}",
            follower,
            lambda one: isinstance(one, Entry) and live(one),
            request_line,
            per_second,
        )

    @act()
    def clear(self) -> Cleared:
        """Forget every request. What they changed stays, but rewinding to them is no longer possible."""
        return Cleared(cleared=here(self).world.forget_requests())

    @look(long=True)
    def verify(
        self,
        match: Wanted | None = None,
        *,
        times: _Times | None = None,
        at_least: _Times | None = None,
        at_most: _Times | None = None,
        in_order: Annotated[Sequence[Matching], listed(MATCH)] | None = None,
    ) -> Verification:
        """Return whether the expected requests came, and if not, which nearly match.

        Takes either ``match`` or ``in_order``. With ``match`` alone, at least one request is expected.

        Args:
            match: Which requests are expected.
            times: How many exactly.
            at_least: How many at the least.
            at_most: How many at the most.
            in_order: Which requests are expected one after another, whatever comes between.
        """
        world = here(self).world
        if (match is None) is (in_order is None):
            raise Refused(INVALID_PARAMETER, problems="takes either match or in_order")
        if match is not None:
            wanted = match_of(self, match, "match")
            return _verification(verify.count(world, wanted, exactly=times, least=at_least, most=at_most))
        if (times, at_least, at_most) != (None, None, None):
            raise Refused(INVALID_PARAMETER, problems="in_order goes with no number")
        matches = [match_of(self, one, f"in_order[{at}]") for at, one in enumerate(in_order or ())]
        return _verification(verify.in_order(world, matches))

    def expect(
        self,
        *,
        times: int | None = None,
        at_least: int | None = None,
        at_most: int | None = None,
        **match: Unpack[Matching],
    ) -> tuple[RequestLine, ...]:
        """Assert that such requests came: ``times`` exactly, within bounds, or one at least; return them.

        The AssertionError says which requests nearly match, and where they differ.
        """
        __tracebackhide__ = True
        return _asserted(self.verify(match, times=times, at_least=at_least, at_most=at_most))

    def expect_in_order(self, *matches: Matching) -> tuple[RequestLine, ...]:
        """Assert that requests like each of ``matches`` came one after another; return them."""
        __tracebackhide__ = True
        return _asserted(self.verify(in_order=matches))

    def count(self, **match: Unpack[Matching]) -> int:
        """Return how many requests match."""
        return self.find(limit=0, **match).matching

    def why(self, request: str) -> Why | None:
        """Return why a request was refused, or None if it was accepted."""
        return self.get(request).refusal


def _verification(verdict: Verdict) -> Verification:
    return Verification(
        verified=verdict.verified,
        message=verdict.message,
        count=len(verdict.found),
        requests=tuple(map(request_line, verdict.found[-LISTED:])),
        near_misses=tuple(
            Near(request=request_line(near.entry), misses=tuple(map(_missed, near.misses)))
            for near in verdict.near
        ),
    )


def _missed(miss: Miss) -> Missed:
    return Missed(what=miss.what, expected=plain.plain(miss.expected), actual=plain.plain(miss.actual))


def _asserted(verification: Verification) -> tuple[RequestLine, ...]:
    __tracebackhide__ = True
    if not verification.verified:
        raise AssertionError(str(verification))
    return verification.requests
