"""What is wrong with a signature: the mistakes of a first day, recognised by making them."""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reseller_sandbox.core.model import Account
from reseller_sandbox.core.state import State
from reseller_sandbox.v3.signing import Reading, sign

_MOST_SHOWN = 16
_LONGEST_SHOWN = 600
_LONGEST_BODY = 10_000


@dataclass(frozen=True, slots=True)
class Mistaken:
    """A signature, ``given``, that is of none of the ``allowed`` readings of a request of ``account``."""

    state: State
    account: Account
    given: bytes
    readings: Sequence[Reading]
    allowed: Sequence[Reading]
    body: bytes

    def explained(self) -> str:
        """What is wrong, if it can be recognised; else what was expected. No secret is in it."""
        for reading in self.readings:
            for told in (self._in_form(reading), self._by_another(reading), self._incomplete(reading)):
                if told:
                    return told
        if any(map(self._gives, self._reserialised())):
            return "It matches the body as another serialiser would write it: sign the bytes that are sent."
        return self._expected()

    def _gives(self, text: bytes, secret: str | None = None) -> bool:
        return hmac.compare_digest(sign(secret or self.account.secret, text), self.given)

    def _in_form(self, reading: Reading) -> str:
        right = sign(self.account.secret, reading.text)
        if hmac.compare_digest(right, self.given):
            return f"It matches a reading that the settings exclude; set {reading.settings} to take it."
        if hmac.compare_digest(right, self.given.lower()):
            return "It matches but for its letters: it must be in lower-case hexadecimal."
        if hmac.compare_digest(base64.b64encode(bytes.fromhex(right.decode())), self.given):
            return "It matches but for its form: it must be in hexadecimal, not in Base64."
        return ""

    def _by_another(self, reading: Reading) -> str:
        for number in sorted(self.state.accounts):
            other = self.state.accounts[number]
            if other.secret and other != self.account and self._gives(reading.text, other.secret):
                return f"It was made with the secret of the account {other.name}, not of {self.account.name}."
        return ""

    def _incomplete(self, reading: Reading) -> str:
        key = self.account.key.encode()
        if self._gives(reading.text.removeprefix(key)):
            return "It leaves out the API key, with which the signed string begins."
        if self.body and self._gives(reading.text.removesuffix(self.body)):
            return "It leaves out the body, with which the signed string ends."
        return ""

    def _reserialised(self) -> Iterator[bytes]:
        try:
            value = json.loads(self.body) if 0 < len(self.body) < _LONGEST_BODY else None
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
            for reading in self.readings:
                yield reading.text.removesuffix(self.body) + spelling.encode("utf-8", "surrogatepass")

    def _expected(self) -> str:
        texts = list(dict.fromkeys(map(self._shown, self.allowed)))
        more = f" (and {len(texts) - _MOST_SHOWN} more)" if len(texts) > _MOST_SHOWN else ""
        return (
            "Either the secret or the string is another one. Expected is the HMAC-SHA256, in lower-case "
            f"hexadecimal, under the secret of {self.account.name}, of one of: "
            f"{' | '.join(texts[:_MOST_SHOWN])}{more}."
        )

    def _shown(self, reading: Reading) -> str:
        text, body = reading.text, self.body
        if len(body) > 200:
            text = text.removesuffix(body) + body[:120] + f"…<{len(body)} bytes of body>".encode()
        return text[:_LONGEST_SHOWN].decode("utf-8", "replace")
