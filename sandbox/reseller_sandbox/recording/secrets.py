"""Secrets in recordings: those of the sandbox stay, and all other secrets are masked.

A replay needs the secrets of the sandbox: the credentials of its accounts, the signatures made with them, and
the codes and passwords that its registry holds or has returned. A request whose response may depend on a
masked secret cannot be repeated.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from operator import is_
from typing import Any
from urllib.parse import parse_qsl

from msgspec import Struct
from msgspec.structs import replace

from reseller_sandbox.answers import ANSWER, CannedAnswer, is_placeholder
from reseller_sandbox.faults import FaultRule, reading
from reseller_sandbox.recording.document import Raw, RecordedRequest
from reseller_sandbox.refusals import UNKNOWN_KEY, UNKNOWN_TOKEN
from reseller_sandbox.registry.state import Draft, State
from reseller_sandbox.server.secrecy import MASK, Secrecy
from reseller_sandbox.values.matching import MATCH
from reseller_sandbox.values.patterns import Glob
from reseller_sandbox.worlds import Entry, Snapshot, World, redact

#: The reasons why a replay cannot repeat a request.
MASKED = "the request has a masked secret of another service"
UNKNOWN = "the credentials of the request are unknown to this world"

#: The replacement for a secret in the match of a fault or of a scheduled action. No value of a request
#: matches this pattern.
UNLIKE = f"<{MASK}>"

#: If the name of a header or parameter ends with one of these, it contains the API key or the signature.
_KEY, _SIGNATURE = "-apikey", "-signature"


class Redacted(Struct, frozen=True):
    """A request and its response without the secrets of other services.

    ``skipped`` is why the request cannot be repeated, or empty.
    """

    request: RecordedRequest
    answer: bytes
    skipped: str


class Masking:
    """Masks the secrets of other services in one recording.

    A secret belongs to the sandbox or to another service in the whole recording.
    """

    def __init__(self, world: World, states: Iterable[State], entries: Iterable[Entry]) -> None:
        self._secrecy = world.secrecy
        self._own = set(world.inherited.keys) | set(world.inherited.tokens)
        for state in states:
            self._own.update(_secrets_of(state, self._secrecy))
        self._entries = entries
        #: The secrets of other services in control calls. For example, a fault matches such a secret.
        self._foreign: set[str] = set()

    def learn(self) -> None:
        """Count the secrets in recorded changes and responses as secrets of the sandbox.

        Call it after the control calls.
        """
        for entry in self._entries:
            for change in entry.changes:
                for record in (change.before, change.after):
                    self._own.update(filter(None, redact.secrets_of(record, self._secrecy)))
            self._own.update(redact.secrets_in(redact.read(entry.answer), self._secrecy))
        self._own -= self._foreign

    def call(self, parameters: Mapping[str, Any], state: Callable[[], State]) -> dict[str, object]:
        """Return the arguments of a control call with the secrets of other services masked.

        ``state`` returns the state after the call.
        """
        secrets = set(redact.secrets_in(parameters, self._secrecy, keys=True)) - self._foreign
        if secrets - self._own:
            self._own.update(_secrets_of(state(), self._secrecy))
            self._own.update(
                secret for secret in secrets if is_placeholder(secret) or _is_like_any(secret, self._own)
            )

        def unlike(secret: object, _: str) -> str:
            self._foreign.update(redact.texts(secret))
            return UNLIKE

        clean: dict[str, object] = redact.masked(parameters, self._secrecy, own=self._own, instead=unlike)
        return clean

    def snapshot(self, snapshot: Snapshot) -> Snapshot:
        """Return ``snapshot`` with foreign secrets masked in faults, answers and scheduled actions."""
        state, book = snapshot.state, snapshot.faults
        rules = tuple(self._rule(rule, state) for rule in book.rules)
        draft = Draft(state, snapshot.clock.instant, snapshot.assumptions, "")
        for action in state.scheduled.values():
            match = {} if action.after is None else MATCH.write(action.after)
            if (clean := self.call(match, lambda: state)) != match:
                draft.put(replace(action, after=MATCH.read(clean)))
        answers = {name: self._answer(answer, state) for name, answer in snapshot.answers.items()}
        if all(map(is_, rules, book.rules)) and draft.state is state and answers == snapshot.answers:
            return snapshot
        return replace(snapshot, state=draft.result(), faults=replace(book, rules=rules), answers=answers)

    def _answer(self, answer: CannedAnswer, state: State) -> CannedAnswer:
        values = ANSWER.write(answer)
        clean = self.call(values, lambda: state)
        return answer if clean == values else ANSWER.read(clean)

    def _rule(self, rule: FaultRule, state: State) -> FaultRule:
        values = reading.rule_as_json(rule)
        clean = self.call(values, lambda: state)
        return rule if clean == values else reading.read_rules([{"name": rule.name, **clean}], None)[0]

    def request(self, entry: Entry) -> Redacted:
        """Return a request and its response with the secrets of other services masked.

        The request cannot be repeated if its response may depend on a masked secret.
        """
        elements = [(name.lower(), value) for name, value in entry.sent.items()]
        query = parse_qsl(entry.raw_target.partition("?")[2], keep_blank_values=True)
        elements += [(name.lower(), value) for name, value in query]
        own, secrecy = self._own, self._secrecy
        if any(name.endswith(_KEY) and value in own for name, value in elements):
            own = own | {value for name, value in elements if name.endswith(_SIGNATURE)}
        body, secrets = _body_masked(entry.body, own, secrecy)
        secrets += [value for name, value in elements if secrecy.header_masked(name, value, own) != value]
        headers = {name: secrecy.header_masked(name, value, own) for name, value in entry.sent.items()}
        target = secrecy.target_masked(entry.raw_target, own)
        answer = _without(entry.answer, (*self._foreign, *secrets))
        skipped = ""
        if entry.refused is not None and entry.refused.rule in (UNKNOWN_KEY, UNKNOWN_TOKEN):
            skipped = UNKNOWN
        elif (target, body, answer) != (entry.raw_target, entry.body, entry.answer) or (
            headers != entry.sent and _reads_headers(entry.before)
        ):
            skipped = MASKED
        request = RecordedRequest(
            method=entry.method,
            target=target,
            headers=tuple(headers.items()),
            body=Raw(body),
            scheme=entry.scheme,
            port=entry.port,
        )
        return Redacted(request, answer, skipped)


def _reads_headers(snapshot: Snapshot) -> bool:
    """Whether a fault or a scheduled action of ``snapshot`` matches headers."""
    matches = [rule.match for rule in snapshot.faults.rules]
    matches += [action.after for action in snapshot.state.scheduled.values() if action.after is not None]
    return any("headers" in match for match in matches)


def _secrets_of(state: State, secrecy: Secrecy) -> Iterator[str]:
    """Yield the credentials and the secrets in the registry, including those in scheduled actions."""
    for account in state.accounts.values():
        yield from filter(None, (account.key, account.secret, account.token))
    for record in chain(state.orders.values(), state.customers.values(), state.scheduled.values()):
        yield from filter(None, redact.secrets_of(record, secrecy))


def _is_like_any(pattern: str, own: Iterable[str]) -> bool:
    """Whether ``pattern`` matches one of the secrets of the sandbox."""
    with suppress(ValueError):
        return any(map(Glob(pattern).matches, own))
    return False


def _body_masked(body: bytes, own: set[str], secrecy: Secrecy) -> tuple[bytes, list[str]]:
    """Return a body with foreign secrets masked, and the list of these secrets."""
    secrets: list[str] = []

    def note(secret: object, shown: str) -> str:
        secrets.extend(redact.texts(secret))
        return shown

    value = redact.read_request(body)
    masked = redact.masked(value, secrecy, own=own, instead=note)
    return body if masked == value else redact.encoded(masked), secrets


def _without(answer: bytes, secrets: Iterable[str]) -> bytes:
    """Mask each secret in a response, but only where it is a whole word and not a JSON key."""
    for secret in secrets:
        if len(secret) >= redact.SHORTEST:
            pattern = re.escape(secret.encode("utf-8", "surrogatepass"))
            answer = re.sub(rb"(?<!\w)%b(?!\w|\"\s*:)" % pattern, MASK.encode(), answer)
    return answer
