"""The container for tests: its settings, its rights, and the connection to its server."""

from __future__ import annotations

import pytest

from reseller_sandbox import BadSetting
from reseller_sandbox.testing import SandboxContainer
from tests.registry import Make


def test_a_sandbox_container_is_reachable_and_has_its_settings_and_no_privileges(
    make: Make, monkeypatch
) -> None:
    monkeypatch.setattr("testcontainers.core.container.DockerClient", lambda **_: None)
    container = SandboxContainer(settings={"fixture": "empty", "seed": "7"})
    assert container.image.startswith("reseller-sandbox:")
    settings = {"FIXTURE": "empty", "SEED": "7", "CONTROL_TOKEN": container.control_token}
    assert container.env == {f"RESELLER_SANDBOX_{name}": value for name, value in settings.items()}
    rights = {"read_only": True, "cap_drop": ["ALL"], "security_opt": ["no-new-privileges"]}
    assert container._kwargs == rights
    with make(control_token=container.control_token).serve() as server:
        monkeypatch.setattr(container, "get_container_host_ip", lambda: "127.0.0.1")
        monkeypatch.setattr(container, "get_exposed_port", lambda port: {8053: server.port}[port])
        assert container.connect().health.show().status == "ok"
    with pytest.raises(BadSetting, match="seeed is not known here; did you mean seed"):
        SandboxContainer(settings={"seeed": "1"})
