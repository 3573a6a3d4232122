"""Transcripts read from files: HAR, or the requests that ``reseller-sandbox journal find --json`` prints."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reseller_sandbox.tools.calibrate.exchanges import (
    ObservedExchange,
    Transcript,
    UnusableTranscript,
    instant,
    own_target,
)
from reseller_sandbox.tools.calibrate.har import read_har

#: The largest file that is read, in bytes, and how many exchanges it may tell of.
LARGEST, MOST = 128 << 20, 20_000


def read_transcript(path: Path) -> Transcript:
    """Return what a file tells. Raise ``UnusableTranscript``, which says where and why."""
    name = str(path)
    told = _json(path)
    if isinstance(told, dict) and "log" in told:
        found = read_har(told["log"], name)
    elif isinstance(told, dict) and isinstance(told.get("requests"), list):
        found = Transcript.of(told["requests"], f"{name}: request", _journalled)
    else:
        raise UnusableTranscript(
            f"{name}: is neither a HAR file (an object with log.entries) nor what journal find --json prints "
            "(an object with requests)"
        )
    if len(found.exchanges) > MOST:
        raise UnusableTranscript(f"{name}: tells of more than {MOST} exchanges; split it")
    return found


def _json(path: Path) -> Any:
    try:
        if path.stat().st_size > LARGEST:
            raise UnusableTranscript(f"{path}: is larger than {LARGEST >> 20} MiB; split it")
        raw = path.read_bytes()
    except OSError as problem:
        raise UnusableTranscript(f"{path}: {problem.strerror}") from None
    except ValueError as problem:
        raise UnusableTranscript(f"{path}: {problem}") from None
    try:
        return json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as problem:
        raise UnusableTranscript(f"{path}: byte {problem.start + 1} is no UTF-8") from None
    except json.JSONDecodeError as problem:
        place = f"{path}:{problem.lineno}:{problem.colno}"
        raise UnusableTranscript(f"{place}: is no JSON: {problem.msg}") from None
    except (ValueError, RecursionError):
        raise UnusableTranscript(f"{path}: is nested too deeply, or has a number that is too long") from None


def _journalled(told: Any, place: str) -> ObservedExchange | str:
    """Return the exchange of a request of the journal, or why it says nothing."""
    request, answer = (told.get(key) if isinstance(told, dict) else None for key in ("request", "answer"))
    at = instant(told.get("at")) if isinstance(told, dict) else None
    if not isinstance(request, Mapping) or not isinstance(answer, Mapping) or at is None:
        raise UnusableTranscript(f"{place}: must have at, request and answer, as the journal writes them")
    method, target, status = request.get("method"), request.get("target"), answer.get("status")
    if not isinstance(method, str) or not isinstance(target, str) or not isinstance(status, int):
        raise UnusableTranscript(f"{place}: must have request.method, request.target and answer.status")
    own = own_target(target)
    if own is None:
        return "is no request of the reseller API"
    if request.get("cut") is not None or answer.get("cut") is not None:
        return "was too long to be kept whole"
    if answer.get("lost") or told.get("fault"):
        return "was struck by a fault"
    headers = request.get("headers")
    body = request.get("body")
    return ObservedExchange(
        place=place,
        method=method,
        target=own,
        headers={str(name).lower(): str(value) for name, value in headers.items()}
        if isinstance(headers, Mapping)
        else {},
        body=b"" if body is None else _bytes(body),
        at=at,
        status=status,
        answer=answer.get("body"),
    )


def _bytes(body: Any) -> bytes:
    """Return what was sent: a text as it is, without halves of characters, and anything else as JSON."""
    return body.encode("utf-8", "replace") if isinstance(body, str) else json.dumps(body).encode()
