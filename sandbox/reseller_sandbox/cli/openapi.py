"""Command ``openapi``, which prints the OpenAPI document of an interface or writes it to a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import yaml

from reseller_sandbox.app_factory import mounts, open_worlds
from reseller_sandbox.cli.base import as_json_text, give_up
from reseller_sandbox.cli.options import Configured
from reseller_sandbox.server.secrecy import USUAL
from reseller_sandbox.settings import DEFAULT_URL, Settings, read_url
from reseller_sandbox.web.openapi import describe
from reseller_sandbox.web.openapi_versions import VERSIONS

#: The settings that change the content of an OpenAPI document.
_DOCUMENT_SETTINGS = (
    *("fixture", "profile", "assume", "token_headers", "header_prefix", "interfaces", "control_token"),
    "public_urls",
)


def _url(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    if value is None:
        return None
    try:
        return read_url(value)
    except ValueError as problem:
        raise click.BadParameter(f"{USUAL.text_masked(value)!r:.80} {problem}") from None


@click.command(cls=Configured, named=_DOCUMENT_SETTINGS)
@click.argument("interface")
@click.option(
    "-o", "--output", metavar="FILE", help="File to write. If its name ends with .yaml, it is YAML."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(["json", "yaml"]),
    help="Format of the document. Default: the format of --output, or JSON.",
)
@click.option(
    "--url",
    callback=_url,
    help=f"Server URL to write into the document. Default: each --public-url, or {DEFAULT_URL}.",
)
@click.option(
    "--version",
    type=click.Choice(list(VERSIONS)),
    default="3.1",
    show_default=True,
    help="Version of OpenAPI. Some tools read only 3.0.",
)
def openapi(
    interface: str,
    output: str | None,
    form: str | None,
    url: str | None,
    version: str,
    settings: dict[str, Any],
) -> None:
    """Print the OpenAPI document of an interface, for example to generate a client."""
    world_settings = Settings(**settings)
    worlds = open_worlds(world_settings, frozen=True)
    interfaces = {mount.interface.name: mount.interface for mount in mounts(worlds, world_settings)}
    if interface not in interfaces:
        give_up(f"{interface[:80]!r} is not an interface. The interfaces are: {', '.join(interfaces)}")
    servers = [url] if url is not None else world_settings.public_urls or [DEFAULT_URL]
    document = describe(interfaces[interface], worlds.default.assumptions, servers, version)
    if form == "yaml" or (form is None and (output or "").endswith((".yaml", ".yml"))):
        text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=110)
    else:
        dumped = (
            as_json_text(document) if output is None else json.dumps(document, indent=2, ensure_ascii=False)
        )
        text = f"{dumped}\n"
    if output is None:
        click.echo(text.rstrip("\n"))
    else:
        Path(output).write_text(text, "utf-8")
