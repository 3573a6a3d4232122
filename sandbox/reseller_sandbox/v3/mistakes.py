"""What is wrong with a signature: the mistakes of a first day, recognised by making them.

The likeliest strings are tried first, and how many are tried is bounded: an answer takes one or two
milliseconds, whatever the request.
"""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from reseller_sandbox.core.model import Account
from reseller_sandbox.core.state import State
from reseller_sandbox.v3 import slips
from reseller_sandbox.v3.signing import Reading, sign, signer
from reseller_sandbox.web.incoming import Incoming

_MOST_SHOWN = 16
_LONGEST_SHOWN = 600
#: Longer bodies than this are hashed a few times only.
_LONGEST_BODY = 4_000
_FEW = 4
#: How many readings are made at all, how many of those with each slip, and with how many other secrets.
_MOST_READINGS = 40
_LIKELY = 5
_MOST_ACCOUNTS = 50


@dataclass(frozen=True)
class Mistaken:
    """A signature, ``given``, that is of none of the ``allowed`` readings of a request of ``account``.

    ``readings`` are all of them, the likeliest first, ``bases`` the places at which the sandbox believes
    itself to be, as far as this request goes.
    """

    state: State
    account: Account
    given: bytes
    readings: Sequence[Reading]
    allowed: Sequence[Reading]
    incoming: Incoming
    bases: Sequence[str]

    def explained(self) -> str:
        """Return what is wrong, if it can be recognised; else what was expected. No secret is in it."""
        return next(self._recognised(), None) or self._expected()

    @property
    def _body(self) -> bytes:
        return self.incoming.body

    def _recognised(self) -> Iterator[str]:
        """Yield every mistake that would have made this signature, the likeliest first."""
        if len(self._body) > _LONGEST_BODY:
            for reading in self.allowed[:_FEW]:
                yield from self._in_form(reading)
            return
        for reading in self.readings[:_MOST_READINGS]:
            yield from self._in_form(reading)
        likely = self._likely()
        for reading in likely:
            yield from self._by_another(reading)
            yield from self._otherwise_hashed(reading)
        if len(self.given) == len(sign("", b"")):
            yield from self._over_another_string(likely)

    def _likely(self) -> list[Reading]:
        """Return the readings that slips start from, one of each kind of endpoint first."""
        plain = [one for one in self.readings if not one.decoded and one.payload in ("body", "raw")]
        by_kind = {one.endpoint: one for one in reversed(plain)}
        return list(dict.fromkeys([*by_kind.values(), *plain]))[:_LIKELY]

    def _over_another_string(self, likely: Sequence[Reading]) -> Iterator[str]:
        """Yield what is said of the strings near to the ``likely`` readings that have this signature."""
        gives = signer(self.account.secret).gives
        tried: set[bytes] = set()
        for text, told in self._strings(likely):
            if text not in tried:
                tried.add(text)
                if gives(text, self.given):
                    yield told

    def _strings(self, likely: Sequence[Reading]) -> Iterator[tuple[bytes, str]]:
        method = self.incoming.method.encode()
        for reading in likely:
            yield from slips.otherwise_put(reading, method)
        yield from slips.other_hosts(likely, self.incoming, self.bases)
        told = "It matches the body as another serialiser would write it: sign the bytes that are sent."
        yield from ((text, told) for text in self._reserialised(likely))

    def _in_form(self, reading: Reading) -> Iterator[str]:
        right = sign(self.account.secret, reading.text)
        if hmac.compare_digest(right, self.given):
            yield f"It matches a reading that the settings exclude; set {reading.settings} to take it."
        if hmac.compare_digest(right, self.given.lower()):
            yield "It matches but for its letters: it must be in lower-case hexadecimal."
        if hmac.compare_digest(base64.b64encode(bytes.fromhex(right.decode())), self.given):
            yield "It matches but for its form: it must be in hexadecimal, not in Base64."

    def _by_another(self, reading: Reading) -> Iterator[str]:
        for number in islice(sorted(self.state.accounts), _MOST_ACCOUNTS):
            other = self.state.accounts[number]
            if not other.secret or other == self.account:
                continue
            if hmac.compare_digest(sign(other.secret, reading.text), self.given):
                yield f"It was made with the secret of the account {other.name}, not of {self.account.name}."

    def _otherwise_hashed(self, reading: Reading) -> Iterator[str]:
        for made, told in slips.otherwise_hashed(reading, self.account, len(self.given)):
            if hmac.compare_digest(made, self.given.lower()):
                yield told

    def _reserialised(self, likely: Iterable[Reading]) -> Iterator[bytes]:
        try:
            value = json.loads(self._body) if self._body else None
        except (ValueError, RecursionError):
            value = None
        if value is None:
            return
        plain = [
            json.dumps(value, separators=separators, ensure_ascii=ascii_only, sort_keys=ordered)
            for separators in ((",", ":"), (", ", ": "))
            for ascii_only in (True, False)
            for ordered in (False, True)
        ]
        slashed = [spelling.replace("/", "\\/") for spelling in plain]  # as PHP writes them
        for spelling in dict.fromkeys(plain + slashed):
            for reading in likely:
                yield reading.key + reading.where + spelling.encode("utf-8", "surrogatepass")

    @cached_property
    def accepted(self) -> tuple[str, ...]:
        """The strings of which the account's signature is accepted, the likeliest first, without a secret."""
        return tuple(dict.fromkeys(map(self._shown, self.allowed)))[:_MOST_SHOWN]

    def _expected(self) -> str:
        others, size = len(self.accepted) - 1, len(self.given)
        urls = any(reading.endpoint == "url" for reading in self.allowed)
        return (
            ("" if size == 64 else f"The signature has {size} characters instead of 64. ")
            + f"The string to sign is {self.accepted[0]}, by HMAC-SHA256 in lower-case hexadecimal with the "
            f"secret of {self.account.name}. The secret or the string differs."
            + (f" The journal lists {others} other strings that are accepted." if others else "")
            + (" If the client uses another address, set --public-url." if urls else "")
        )

    def _shown(self, reading: Reading) -> str:
        data = reading.data
        if len(data) > 200:
            data = data[:120] + f"…<{len(data)} bytes of body>".encode()
        return (reading.key + reading.where + data)[:_LONGEST_SHOWN].decode("utf-8", "replace")
