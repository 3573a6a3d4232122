"""Command ``answers record``, which makes canned answers from recorded HTTP traffic."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import click

from reseller_sandbox.cli.base import FILE, give_up
from reseller_sandbox.cli.options import Configured
from reseller_sandbox.server.json_text import load_json
from reseller_sandbox.server.secrecy import Secrecy, secrecy_of
from reseller_sandbox.values.text_checks import plural

if TYPE_CHECKING:
    from reseller_sandbox.tools.calibrate.formats import Exchange

#: Headers to leave out: cookies, and headers about one connection (``Keep-Alive``) or instant (``Date``).
_OMITTED = re.compile(
    r"(?i)connection|keep-alive|transfer-encoding|upgrade|content-.*|date|set-cookie|server|vary|via|age|"
    r"expires|alt-svc|strict-transport-security|x-sandbox-.*|access-control-.*|cf-.*|nel|report-to|:.*"
)


@click.command("record", cls=Configured, named=("secret_names",))
@click.argument("file", type=FILE, metavar="FILE")
@click.option("--host", required=True, help="Host whose responses to record. Other hosts are ignored.")
@click.option("-o", "--output", type=FILE, help="File to write. Default: standard output.")
def answers_record(file: Path, host: str, output: Path | None, settings: Mapping[str, object]) -> None:
    """Write the responses recorded in FILE, such as a HAR file, as canned answers of a fixture.

    Browsers and proxies write HAR files (HTTP archives). FILE can also have another format that calibrate
    reads. Requests that belong to an operation of the contract are left out. Secrets are masked. Several
    responses to the same request become a sequence.
    """
    # Import late, because ``--help`` does not need it.
    from reseller_sandbox.answers import free_name, read_answer
    from reseller_sandbox.app_factory import vocabulary
    from reseller_sandbox.fixture.yaml_writer import as_yaml
    from reseller_sandbox.tools.calibrate.formats import Exchange, exchanges, url_parts

    secrecy = secrecy_of(settings.get("secret_names", ()))
    recorded: dict[tuple[str, str], list[dict[str, object]]] = {}
    left_out = not_text = 0
    hosts = set[str]()
    word, entries = exchanges(file.read_bytes(), str(file))
    for number, exchange in enumerate(entries, 1):
        if not isinstance(exchange, Exchange):
            continue
        url = url_parts(exchange, f"{file}: {word} {number}")
        hosts.add(url.netloc)
        if host.lower() not in (url.netloc.lower(), url.hostname):
            continue
        method, path = exchange.method.upper(), unquote(url.path)
        response = _response(exchange, secrecy)
        try:
            read_answer({"method": method, "path": path, **response}, vocabulary())
        except ValueError:  # The request belongs to the contract, or its method is unusual, such as HEAD.
            left_out += 1
            continue
        if not _is_utf8(exchange.content):  # The body of a canned answer is text.
            not_text += 1
            continue
        responses = recorded.setdefault((method, path), [])
        if response not in responses[-1:]:
            responses.append(response)
    kinds = [f"{plural(left_out, 'request')} of the contract"] if left_out else []
    kinds += [f"{plural(not_text, 'response')} whose body is not text in UTF-8"] if not_text else []
    omitted = f" Left out: {', '.join(kinds)}." if kinds else ""
    if not recorded:
        known = f" The file has answers of {', '.join(sorted(hosts))}." if hosts and not kinds else ""
        give_up(f"{file} has no answers of {host} beyond the contract.{omitted}{known}")
    answers: dict[str, object] = {}
    for (method, path), responses in recorded.items():
        response = responses[0] if len(responses) == 1 else {"sequence": responses}
        answers[free_name(method, path, answers)] = {"method": method, "path": path, **response}
    text = as_yaml({"answers": answers})
    if output is None:
        click.echo(text.rstrip())
        if not_text:
            click.echo(omitted.strip(), err=True)
        return
    output.write_text(text, "utf-8")
    click.echo(f"{output} contains {plural(len(answers), 'answer')}.{omitted}")


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode()
    except UnicodeDecodeError:
        return False
    return True


def _response(exchange: Exchange, secrecy: Secrecy) -> dict[str, object]:
    """Return a recorded response as the keys of a canned answer, with its secrets masked."""
    from reseller_sandbox.answers import literal
    from reseller_sandbox.worlds import redact

    try:
        body = load_json(exchange.content) if exchange.content.strip() else None
    except ValueError:
        body = exchange.content.decode("utf-8", "replace")  # Other content is left out later.
    headers = {name.lower(): value for name, value in exchange.answer_headers.items()}
    media_type = headers.get("content-type", "")
    is_default = not media_type or body is None or "json" in media_type.partition(";")[0]
    parts = {
        "status": exchange.status,
        "headers": {
            name: literal(secrecy.header_masked(name, value))
            for name, value in exchange.answer_headers.items()
            if value.isascii() and not _OMITTED.fullmatch(name)
        },
        "body": literal(redact.masked(body, secrecy)),
        "content_type": None if is_default else media_type,
    }
    return {key: value for key, value in parts.items() if value not in (None, {})}
