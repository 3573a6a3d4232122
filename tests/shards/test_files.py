"""The files that ``deploy`` prints for several shards."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.command import printed
from tests.outfit import program

SHARD = "RESELLER_SANDBOX_SHARD"


def test_compose_gives_each_shard_its_name() -> None:
    services: dict[str, Any]
    document = yaml.safe_load(printed("deploy", "compose", "--shards", "4"))
    services = document["services"]
    assert list(services) == ["s0", "s1", "s2", "s3", "router"]
    for name in list(services)[:-1]:
        assert services[name]["environment"][SHARD] == name
        assert f"server {name}:8053 max_fails=0;" in document["configs"]["router"]["content"]
    assert all(row["read_only"] and row["cap_drop"] == ["ALL"] for row in services.values())
    assert services["router"]["ports"] == ["127.0.0.1:8053:8053"]


def test_kubernetes_numbers_its_shards() -> None:
    pods, headless, config, router, service = yaml.safe_load_all(
        printed("deploy", "kubernetes", "--shards", "3")
    )
    assert pods["spec"]["replicas"] == 3
    (container,) = pods["spec"]["template"]["spec"]["containers"]
    assert {"name": SHARD, "value": "hostname"} in container["env"]
    assert pods["spec"]["serviceName"] == headless["metadata"]["name"]
    for number in range(3):
        assert f"server reseller-sandbox-{number}.reseller-shards:8053" in config["data"]["nginx.conf"]
    assert service["spec"]["selector"] == router["spec"]["selector"]["matchLabels"]
    for row in (pods, router):
        (container,) = row["spec"]["template"]["spec"]["containers"]
        assert container["securityContext"]["readOnlyRootFilesystem"] is True


def test_nginx_accepts_the_printed_file(tmp_path: Path) -> None:
    command = [program("nginx"), "-t", "-p", str(tmp_path), "-e", "stderr", "-c", "nginx.conf"]
    for options in ([], ["--shards", "40", "--header-prefix", "X-ACME-"]):
        (tmp_path / "nginx.conf").write_text(printed("deploy", "nginx", *options))
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


def test_a_single_shard_needs_no_router() -> None:
    assert printed("deploy", "compose") == printed("deploy", "compose", "--shards", "1")
    assert "router" not in printed("deploy", "kubernetes", "--shards", "1")
