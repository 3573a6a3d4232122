"""The printed files for several shards: what they are made of is declared once."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from reseller_sandbox.cli import main
from reseller_sandbox.sources import variables
from tests.outfit import program


def printed(*words: str) -> str:
    """What ``deploy`` prints."""
    done = CliRunner().invoke(main, ["deploy", *words])
    assert done.exit_code == 0, done.output
    return done.output


def test_compose_gives_each_shard_its_name() -> None:
    """The router's configuration knows the same ones, and all can write nowhere."""
    told = yaml.safe_load(printed("compose", "--shards", "4"))
    services: dict[str, Any] = told["services"]
    assert list(services) == ["s0", "s1", "s2", "s3", "router"]
    for name in list(services)[:-1]:
        assert services[name]["environment"][variables()["shard"]] == name
        assert f"server {name}:8053 max_fails=0;" in told["configs"]["router"]["content"]
    assert all(one["read_only"] and one["cap_drop"] == ["ALL"] for one in services.values())
    assert services["router"]["ports"] == ["127.0.0.1:8053:8053"]


def test_kubernetes_numbers_its_shards_itself() -> None:
    """A pod takes its name from its place in the StatefulSet, and the router knows each by that."""
    pods, headless, config, router, service = yaml.safe_load_all(printed("kubernetes", "--shards", "3"))
    assert pods["spec"]["replicas"] == 3
    (container,) = pods["spec"]["template"]["spec"]["containers"]
    assert {"name": variables()["shard"], "value": "hostname"} in container["env"]
    assert pods["spec"]["serviceName"] == headless["metadata"]["name"]
    for number in range(3):
        assert f"server reseller-sandbox-{number}.reseller-shards:8053" in config["data"]["nginx.conf"]
    assert service["spec"]["selector"] == router["spec"]["selector"]["matchLabels"]
    for one in (pods, router):
        (container,) = one["spec"]["template"]["spec"]["containers"]
        assert container["securityContext"]["readOnlyRootFilesystem"] is True


@pytest.mark.parametrize("words", [("nginx",), ("nginx", "--shards", "40", "--header-prefix", "X-ACME-")])
def test_nginx_takes_what_is_printed(tmp_path: Path, words: tuple[str, ...]) -> None:
    """Whatever the number of shards and the prefix of headers."""
    (tmp_path / "nginx.conf").write_text(printed(*words))
    command = [program("nginx"), "-t", "-p", str(tmp_path), "-e", "stderr", "-c", "nginx.conf"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_one_shard_is_none() -> None:
    """The files for a server that is alone stay as they are."""
    assert printed("compose") == printed("compose", "--shards", "1")
    assert "router" not in printed("kubernetes", "--shards", "1")
