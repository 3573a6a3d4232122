"""Requests of the journal as an HTTP archive (HAR 1.2), which browsers and proxies read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from importlib.metadata import version
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from reseller_sandbox.values.clock import wire
from reseller_sandbox.worlds import Entry

if TYPE_CHECKING:
    from reseller_sandbox.control.journal import RequestRecord

PROGRAM = "reseller-sandbox"


def archive(requests: Iterable[tuple[Entry, RequestRecord]]) -> str:
    """Return requests as an HTTP archive in JSON.

    Each request has its journal id, outcome and faults under names that begin with an underscore, as HAR
    requires.
    """
    log = {
        "version": "1.2",
        "creator": {"name": PROGRAM, "version": version(PROGRAM)},
        "entries": [_entry(entry, record) for entry, record in requests],
    }
    return json.dumps({"log": log}, ensure_ascii=False, indent=1) + "\n"


def _entry(entry: Entry, record: RequestRecord) -> Mapping[str, object]:
    request, answer = record.request, record.answer
    host = request.headers.get("Host", "")
    sent, received = _text(request.body), _text(answer.body)
    data = {"mimeType": request.headers.get("Content-Type", ""), "text": sent}
    return {
        "startedDateTime": wire(record.at),
        "time": record.duration_ms,
        "request": {
            "method": request.method,
            "url": f"{entry.scheme}://{host}{request.target}",
            "queryString": _pairs(parse_qsl(request.target.partition("?")[2], keep_blank_values=True)),
            **({"postData": data} if sent else {}),
            **_head(request.headers, len(sent.encode())),
        },
        "response": {
            "status": answer.status,
            "statusText": HTTPStatus(answer.status).phrase if answer.status in set(HTTPStatus) else "",
            "content": {
                "size": len(received.encode()),
                "mimeType": answer.headers.get("Content-Type", ""),
                "text": received,
            },
            "redirectURL": "",
            **_head(answer.headers, len(received.encode())),
        },
        "cache": {},
        "timings": {"send": 0, "wait": record.duration_ms, "receive": 0},
        "_request": record.id,
        "_outcome": record.outcome,
        "_fault": record.fault,
        "_lost": answer.lost,
    }


def _head(headers: Mapping[str, object], size: int) -> Mapping[str, object]:
    return {
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": _pairs(headers.items()),
        "headersSize": -1,
        "bodySize": size,
    }


def _pairs(pairs: Iterable[tuple[str, object]]) -> list[Mapping[str, str]]:
    return [{"name": name, "value": str(value)} for name, value in pairs]


def _text(body: object) -> str:
    """Return a body as text. The caller has masked the secrets in it."""
    if body is None:
        return ""
    return body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
