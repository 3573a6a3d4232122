"""Command ``answers record``: canned answers made from an HTTP archive (HAR)."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import click

from reseller_sandbox.cli.base import Command, give_up, say
from reseller_sandbox.values.text_checks import plural

#: Headers that are not recorded: those of one connection or one moment, and cookies.
_OMITTED = re.compile(
    r"(?i)connection|keep-alive|transfer-encoding|upgrade|content-.*|date|set-cookie|server|vary|via|age|"
    r"expires|alt-svc|strict-transport-security|x-sandbox-.*|access-control-.*|cf-.*|nel|report-to|:.*"
)

_Recorded = tuple[str, str, dict[str, Any]]


@click.command("record", cls=Command)
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE.har")
@click.option("--host", required=True, help="Host whose answers to record.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write. Default: standard output.",
)
def answers_record(file: Path, host: str, output: Path | None) -> None:
    """Write a fixture with canned answers from the HTTP archive FILE.har.

    Browsers and proxies write such archives. Requests that an operation of the contract takes are left out.
    Secrets are masked. Several answers to one request become a sequence.
    """
    from reseller_sandbox.answers import read_answer  # late, because the help needs no interfaces
    from reseller_sandbox.app_factory import vocabulary
    from reseller_sandbox.fixture.dump import as_yaml

    answers: dict[str, dict[str, Any]] = {}
    left_out = 0
    for method, path, response in _recorded(file, host):
        try:
            read_answer({"method": method, "path": path, **response}, vocabulary())
        except ValueError:  # an operation of the contract, or a method such as HEAD
            left_out += 1
            continue
        _add(answers, method, path, response)
    if not answers:
        give_up(f"{file} has no answers of {host} beyond the contract")
    text = as_yaml({"answers": answers})
    if output is None:
        say(text.rstrip())
        return
    try:
        output.write_text(text, "utf-8")
    except OSError as problem:
        give_up(f"{output}: {problem.strerror}")
    omitted = f" Left out: {plural(left_out, 'request')} of the contract." if left_out else ""
    say(f"{output} contains {plural(len(answers), 'answer')}.{omitted}")


def _recorded(file: Path, host: str) -> Iterator[_Recorded]:
    """Yield method, path and response of each entry for ``host``. Exit for an invalid file."""
    try:
        entries = json.loads(file.read_bytes())["log"]["entries"]
        for entry in entries:
            url = urlsplit(entry["request"]["url"])
            if url.netloc.lower() == host.lower() or url.hostname == host.lower():
                yield entry["request"]["method"].upper(), unquote(url.path), _response(entry["response"])
    except OSError as problem:
        give_up(f"{file}: {problem.strerror}")
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as problem:
        give_up(f"{file} is not an HTTP archive (HAR): {type(problem).__name__}: {problem}")


def _response(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Return a recorded response as one of a canned answer, with its secrets masked."""
    from reseller_sandbox.answers.placeholders import literal
    from reseller_sandbox.server.secrecy import header_masked
    from reseller_sandbox.worlds import redact

    content = recorded.get("content") or {}
    text = content.get("text") or ""
    raw = b64decode(text) if content.get("encoding") == "base64" else text.encode()
    try:
        body = json.loads(raw) if raw.strip() else None
    except ValueError:
        body = raw.decode("utf-8", "replace")
    media_type = content.get("mimeType") or ""
    headers = {
        header["name"]: literal(header_masked(header["name"], header["value"]))
        for header in recorded.get("headers", ())
        if header["value"].isascii() and not _OMITTED.fullmatch(header["name"])
    }
    is_default = not media_type or body is None or "json" in media_type.partition(";")[0]
    parts = {
        "status": recorded["status"],
        "headers": headers or None,
        "body": literal(redact.masked(body)),
        "content_type": None if is_default else media_type,
    }
    return {key: value for key, value in parts.items() if value is not None}


def _add(answers: dict[str, dict[str, Any]], method: str, path: str, response: dict[str, Any]) -> None:
    """Add a response to the answer for a request, unless it repeats the previous response."""
    from reseller_sandbox.answers.canned import free_name

    entry = next(
        (entry for entry in answers.values() if (entry["method"], entry["path"]) == (method, path)), None
    )
    if entry is None:
        answers[free_name(method, path, answers)] = {"method": method, "path": path, **response}
        return
    single = {key: entry.pop(key) for key in list(entry) if key not in ("method", "path", "sequence")}
    sequence = entry.setdefault("sequence", [single])
    if sequence[-1] != response:
        sequence.append(response)
    if len(sequence) == 1:
        entry |= entry.pop("sequence")[0]
