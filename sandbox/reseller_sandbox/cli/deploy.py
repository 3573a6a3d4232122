"""``reseller-sandbox deploy``: files that run a sandbox as a service, in containers and in CI."""

from __future__ import annotations

import sys
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from reseller_sandbox.cli.base import PROGRAM, Command
from reseller_sandbox.cli.lazy_groups import Listing

#: Address of a shard, for each form with several: ``number`` counts from 0.
_SHARDS = {
    "nginx": "127.0.0.1:{port}",
    "compose-shards": "s{number}:8053",
    "kubernetes-shards": "reseller-sandbox-{number}.reseller-shards:8053",
}

#: Port of the first shard on one machine. The next shards have the next ports.
_FIRST_PORT = 8060

#: Each command with the file that it prints, and a description.
_FILES = {
    "dockerfile": ("Dockerfile", "A small image without privileges, with every package pinned by its hash."),
    "compose": ("compose.yaml", "A server in Docker Compose, with a read-only file system."),
    "compose-shards": ("compose-shards.yaml", "Shards and their router in Docker Compose."),
    "kubernetes": ("kubernetes.yaml", "A Deployment and a Service for Kubernetes."),
    "kubernetes-shards": ("kubernetes-shards.yaml", "A StatefulSet of shards, and their router."),
    "nginx": ("nginx.conf", "A configuration of nginx, which sends each request to the shard of its world."),
    "systemd": ("systemd.service", "A unit of systemd, which runs a server as a service of this machine."),
    "github-actions": ("github-actions.yaml", "A workflow of GitHub Actions that starts a server."),
    "github-actions-service": (
        "github-actions-service.yaml",
        "A workflow of GitHub Actions that runs the image as a service container.",
    ),
    "gitlab-ci": ("gitlab-ci.yaml", "A job for GitLab CI that starts a server."),
    "gitlab-ci-service": ("gitlab-ci-service.yaml", "A job for GitLab CI that runs the image as a service."),
}

deploy = Listing(
    "deploy",
    help="Print files that run a sandbox as a service, in containers or in CI. Edit them as you need.",
)


_COUNT = click.Option(
    ["--shards"],
    type=click.IntRange(1, 100),
    default=4,
    show_default=True,
    help="Number of servers that share the load.",
)


def _print_file(form: str, file: str, shards: int = 1) -> None:
    # Import late, because ``--help`` does not need Jinja.
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("reseller_sandbox", "deploy"),
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    values: dict[str, Any] = {
        "form": form,
        "version": version(PROGRAM),
        "program": Path(sys.executable).with_name(PROGRAM),
        "shards": shards,
    }
    if form in _SHARDS:
        addresses = [_SHARDS[form].format(number=n, port=_FIRST_PORT + n) for n in range(shards)]
        folder, listen = (".", "127.0.0.1:8053") if form == "nginx" else ("/tmp", "8053")
        values |= {"addresses": addresses, "folder": folder, "listen": listen}
        values["router"] = templates.get_template("nginx.conf").render(values).rstrip("\n")
    click.echo(templates.get_template(file).render(values), nl=False)


for _form, (_file, _about) in _FILES.items():
    _options: list[click.Parameter] = [_COUNT] if _form in _SHARDS else []
    deploy.add_command(
        Command(_form, help=_about, params=_options, callback=partial(_print_file, _form, _file))
    )
