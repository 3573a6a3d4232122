"""``reseller-sandbox deploy``: files that run a sandbox in containers and in CI."""

from __future__ import annotations

from importlib.metadata import version
from importlib.resources import files

import click

from reseller_sandbox.cli.base import PROGRAM, Command
from reseller_sandbox.cli.lazy_groups import Listing

#: Each command with the file that it prints, and a description.
_FILES = {
    "dockerfile": ("Dockerfile", "A small image without privileges, with every package pinned by its hash."),
    "compose": ("compose.yaml", "A server in Docker Compose, with a read-only file system."),
    "compose-shards": ("compose-shards.yaml", "Four shards and their router in Docker Compose."),
    "kubernetes": ("kubernetes.yaml", "A Deployment and a Service for Kubernetes."),
    "kubernetes-shards": ("kubernetes-shards.yaml", "A StatefulSet of four shards, and their router."),
    "nginx": ("nginx.conf", "A configuration of nginx, which sends each request to the shard of its world."),
    "github-actions": ("github-actions.yaml", "A workflow of GitHub Actions that starts a server."),
    "github-actions-service": (
        "github-actions-service.yaml",
        "A workflow of GitHub Actions that runs the image as a service container.",
    ),
    "gitlab-ci": ("gitlab-ci.yaml", "A job for GitLab CI that starts a server."),
    "gitlab-ci-service": ("gitlab-ci-service.yaml", "A job for GitLab CI that runs the image as a service."),
}

deploy = Listing(
    "deploy", help="Print files that run a sandbox in containers or in CI. Edit them as you need."
)


def _add(name: str, file: str, about: str) -> None:
    @deploy.command(name, cls=Command, help=about)
    def print_file() -> None:
        text = files("reseller_sandbox").joinpath("deploy", file).read_text("utf-8")
        click.echo(text.replace("@VERSION@", version(PROGRAM)), nl=False)


for _name, (_file, _about) in _FILES.items():
    _add(_name, _file, _about)
