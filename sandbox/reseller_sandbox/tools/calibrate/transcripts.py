"""Read transcripts: the exchanges with the reseller API in files of recorded HTTP traffic."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote

from msgspec import Struct, field
from msgspec.structs import replace

from reseller_sandbox.tools.calibrate.formats import (
    LARGEST,
    MOST_VALUES,
    Exchange,
    UnusableTranscript,
    exchanges,
    url_parts,
)
from reseller_sandbox.tools.calibrate.hints import hints
from reseller_sandbox.values.clock import parse_instant
from reseller_sandbox.values.packing import count_values
from reseller_sandbox.values.parameters import Quiet

#: Maximum number of exchanges in a file.
MOST = 20_000

#: The time that an exchange without a date gets.
_UNDATED = datetime(2026, 1, 15, 12, tzinfo=UTC)

#: The ways in which programs mask a credential.
_MASKED = re.compile(r"\*\*|redacted|masked|filtered|removed|hidden|dummy|^x+$|^<.*>$", re.IGNORECASE)

_CREDENTIAL = re.compile(r"[^=]*(?:API-?_?KEY|SIGNATURE|TOKEN)(?:=|$)", re.IGNORECASE)


class ObservedExchange(Quiet, frozen=True, kw_only=True):
    """A request to the reseller API, and its answer.

    ``place`` is the file with the position in the file. The names of headers are in lower case. ``at`` is the
    time of the service in whole seconds, and ``started`` the time of the client. ``lost`` is the reason why
    the answer is not known, empty if it is known. ``is_whole`` is whether the request is known completely.
    """

    place: str
    method: str
    target: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    at: datetime
    started: datetime = _UNDATED
    status: int
    answer: Any
    lost: str = ""
    is_whole: bool = True

    @property
    def path(self) -> str:
        """The path of the request, without the query."""
        return self.target.partition("?")[0]

    @property
    def asked(self) -> Mapping[str, object]:
        """The JSON object or the form fields in the body, empty for other bodies."""
        try:
            fields = json.loads(self.body) if self.body else {}
        except (ValueError, RecursionError):
            fields = dict(parse_qsl(self.body.decode("utf-8", "replace")))
        return fields if isinstance(fields, dict) else {}

    @property
    def answered(self) -> Mapping[str, object]:
        """The JSON object in the answer, empty for other answers."""
        return self.answer if isinstance(self.answer, Mapping) else {}

    @property
    def refusal(self) -> Any:
        """The error or the message of a refusal, None if the answer is not a refusal."""
        values = (self.answered.get(key) for key in hints().refusal)
        return next((value for value in values if isinstance(value, str)), None)

    @property
    def credentials(self) -> list[str]:
        """The credentials in the headers: the key, or the token."""
        return [value for name, value in self.headers.items() if name.endswith(("apikey", "token"))]

    @property
    def is_anonymous(self) -> bool:
        """Whether the credentials are masked, so that they do not tell accounts apart."""
        return any(map(_MASKED.search, self.credentials))


class Transcript(Struct, frozen=True):
    """The exchanges of a file, and its skipped entries: the place of each entry, and the reason.

    ``exchanges`` includes those with a lost answer, because such a request can have had an effect.
    """

    exchanges: Sequence[ObservedExchange]
    skipped: Sequence[tuple[str, str]] = ()


def _api_target(target: str) -> str | None:
    """Return the end of a URL that belongs to the API: its path, and its query without credentials.

    Return None if the URL is not one of the API.
    """
    path, _, query = _percent_encoded(target).partition("?")
    match = re.search(rf"/(?:{'|'.join(hints().paths)})\b", path)
    if match is None:
        return None
    public = "&".join(pair for pair in query.split("&") if pair and not _CREDENTIAL.match(pair))
    return path[match.start() :] + (f"?{public}" if public else "")


def _percent_encoded(target: str) -> str:
    """Encode the characters of a URL outside ASCII, which some programs write decoded.

    The journal of a sandbox has each byte of such a character as one character of Latin-1.
    """
    with suppress(UnicodeError):
        target = target.encode("latin-1").decode()
    return quote(target, safe="".join(map(chr, range(0x21, 0x7F))), errors="replace")


def instant(value: object) -> datetime | None:
    """Parse an instant, in whole seconds. Return None if a value is not an instant."""
    if not isinstance(value, str):
        return None
    precise = _precise(value)
    return None if precise is None else precise.replace(microsecond=0)


#: Statuses that a proxy or a rate limit in front of a service sends. They do not depend on assumptions.
_NOT_FROM_SERVICE = frozenset({429, 502, 503, 504})


def read_transcript(path: Path, host: str = "") -> Transcript:
    """Read a file, or standard input if ``path`` is ``-``.

    With ``host``, skip the requests to other hosts. Raise ``UnusableTranscript`` with the place and the
    reason.
    """
    name = "standard input" if str(path) == "-" else str(path)
    word, entries = exchanges(_content(path, name), name)
    observed, skipped = list[ObservedExchange](), list[tuple[str, str]]()
    size = values = 0
    for number, entry in enumerate(entries, 1):
        place = f"{name}: {word} {number}"
        if number > MOST:
            reason = f"a file must not have more than {MOST} exchanges; split the file"
            raise UnusableTranscript(f"{place}: {reason}")
        if not isinstance(entry, str):
            size += len(entry.body) + len(entry.content)
            values += count_values(entry.content)
        if size > LARGEST or values > MOST_VALUES:
            most = f"{MOST_VALUES} values" if size <= LARGEST else f"{LARGEST >> 20} MiB"
            raise UnusableTranscript(f"{place}: the bodies must not have more than {most}; split the file")
        result = entry if isinstance(entry, str) else _observed(entry, place, host)
        if isinstance(result, str):
            skipped.append((place, result))
            continue
        observed.append(result)
        if result.lost:
            skipped.append((place, result.lost))
    return Transcript(_dated(observed), skipped)


def _dated(exchanges: Iterable[ObservedExchange]) -> list[ObservedExchange]:
    """Give each lost exchange the date of the exchange before it, because only answers have the date."""
    dated: list[ObservedExchange] = []
    for exchange in sorted(exchanges, key=lambda exchange: exchange.started):
        if exchange.lost and dated:
            exchange = replace(exchange, at=dated[-1].at)
        dated.append(exchange)
    return dated


def _content(path: Path, name: str) -> bytes:
    try:
        with sys.stdin.buffer if str(path) == "-" else path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as problem:
        raise UnusableTranscript(f"{name}: {problem.strerror}") from None
    if len(content) > LARGEST:
        reason = f"must not be larger than {LARGEST >> 20} MiB; split the file"
        raise UnusableTranscript(f"{name}: {reason}")
    return content


def _observed(exchange: Exchange, place: str, host: str) -> ObservedExchange | str:
    """Return an exchange with the reseller API, or the reason why it is skipped."""
    url = url_parts(exchange, place)
    server = url.hostname or ""
    target = _api_target(f"{url.path}?{url.query}")
    if target is None:
        return "is not a request of the reseller API"
    if host and server and server != host.lower():
        return f"is a request to another host, {server}"
    lost, answer = exchange.lost, None
    if not lost and not 100 <= exchange.status <= 599:
        lost = "has no answer"
    elif not lost and exchange.status in _NOT_FROM_SERVICE:
        lost = f"has the status {exchange.status}, which says nothing about the service"
    if not lost:
        try:
            answer = json.loads(exchange.content)
        except (ValueError, RecursionError):
            lost = "does not have a JSON body in its answer"
    answered = {name.lower(): value for name, value in exchange.answer_headers.items()}
    started = _precise(exchange.at) or _UNDATED
    return ObservedExchange(
        place=place,
        method=exchange.method.upper(),
        target=target,
        headers={name.lower(): value for name, value in exchange.headers.items()},
        body=exchange.body,
        at=_date(answered.get("date")) or started.replace(microsecond=0),
        started=started,
        status=exchange.status,
        answer=answer,
        lost=lost,
        is_whole=exchange.is_whole,
    )


def _precise(value: datetime | str | None) -> datetime | None:
    """Return a date of a file with its fraction of a second, None if it is not a date."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value
    with suppress(ValueError, TypeError):
        return parse_instant(value or "")
    return None


def _date(header: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(header or "")
        return date.replace(tzinfo=UTC) if date.tzinfo is None else date.astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        return None
