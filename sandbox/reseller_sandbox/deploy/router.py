"""What stands in front of several shards: where a request names its shard, and where each shard is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from reseller_sandbox.core.assumptions import Assumptions
from reseller_sandbox.core.shards import NAME
from reseller_sandbox.settings import ServerSettings

#: The StatefulSet of the shards, and the service that gives each of its pods a name.
STATEFUL_SET, PODS = "reseller-sandbox", "reseller-shards"

#: What the router runs from in containers.
ROUTER_IMAGE = "nginx:1.29-alpine"


class ShardAddress(NamedTuple):
    """A shard, and the address that it listens on."""

    name: str
    host: str
    port: int


class Source(NamedTuple):
    """A part of a request that may begin with a shard's name: nginx's word for it, and a pattern."""

    name: str
    value: str
    pattern: str


def shards_here(count: int, first_port: int) -> list[ShardAddress]:
    """Return shards on this machine, each on a port of its own."""
    return [ShardAddress(f"s{number}", "127.0.0.1", first_port + number) for number in range(count)]


def router(
    shards: Sequence[ShardAddress],
    listen: str | None = None,
    header_prefix: str = ServerSettings.header_prefix,
    folder: str = ".",
) -> dict[str, Any]:
    """Return what the router's configuration is made of; the source that counts first comes first."""
    key = f"{header_prefix}APIKEY"
    sources = [
        _source("path", "$request_uri", "~^/(?:_worlds|_sandbox/worlds)/"),
        _source("key", _header(key), "~^"),
        _source("query", "$args", f"~(?:^|&){re.escape(key)}="),
        *(
            _source(f"token{number}", _header(name), "~^")
            for number, name in enumerate(Assumptions().token_headers, 1)
        ),
    ]
    listen = listen or f"127.0.0.1:{ServerSettings.port}"
    return {"shards": shards, "listen": listen, "sources": sources, "shard_name": NAME, "folder": folder}


def _source(name: str, value: str, begins: str) -> Source:
    return Source(name, value, f"{begins}(?<{name}_shard>{NAME})-")


def _header(name: str) -> str:
    return f"$http_{name.lower().replace('-', '_')}"


def in_compose(count: int) -> Mapping[str, Any]:
    """Return what the file for Docker Compose is made of: the shards, and the router's configuration."""
    shards = [ShardAddress(f"s{number}", f"s{number}", ServerSettings.port) for number in range(count)]
    config = _config(shards).replace("$", "$$").splitlines()
    return {"shards": shards, "config": config, "router_image": ROUTER_IMAGE}


def in_kubernetes(count: int) -> Mapping[str, Any]:
    """Return what the file for Kubernetes is made of; each shard is a pod of a StatefulSet."""
    shards = [
        ShardAddress(f"s{number}", f"{STATEFUL_SET}-{number}.{PODS}", ServerSettings.port)
        for number in range(count)
    ]
    named = {"stateful_set": STATEFUL_SET, "pods": PODS, "router_image": ROUTER_IMAGE}
    return {"shards": shards, "config": _config(shards).splitlines(), **named}


def _config(shards: list[ShardAddress]) -> str:
    from reseller_sandbox.deploy.files import rendered

    return rendered("nginx.conf", image="", **router(shards, str(ServerSettings.port), folder="/tmp"))
