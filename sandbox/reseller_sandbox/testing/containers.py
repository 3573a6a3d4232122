"""Sandbox in a container, for tests that use testcontainers."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from testcontainers.core.container import DockerContainer
from testcontainers.core.labels import SESSION_ID
from testcontainers.core.wait_strategies import HttpWaitStrategy

from reseller_sandbox.config_sources import variables
from reseller_sandbox.sandbox import Sandbox, connect
from reseller_sandbox.settings import ServerSettings, require_known
from reseller_sandbox.web.access_control import HEALTH


class SandboxContainer(DockerContainer):
    """Container of the image that ``reseller-sandbox deploy dockerfile`` describes.

    >>> with SandboxContainer() as container:
    ...     sandbox = container.connect()
    ...     billing = Billing(container.url)

    The container has no capabilities, and its file system is read-only. Its control interface requires the
    ``control_token``. The default token is different in each run. ``settings`` are server settings as
    strings, such as ``fixture``, ``now`` and ``profile``. ``options`` are passed to ``DockerContainer``.
    """

    def __init__(
        self,
        image: str | None = None,
        *,
        control_token: str = SESSION_ID,
        settings: dict[str, str] | None = None,
        **options: Any,
    ) -> None:
        options = {"read_only": True, "cap_drop": ["ALL"], "security_opt": ["no-new-privileges"], **options}
        super().__init__(image or f"reseller-sandbox:{version('reseller-sandbox')}", **options)
        self.control_token = control_token
        self.with_exposed_ports(ServerSettings.port)
        names, settings = variables(), {**(settings or {}), "control_token": control_token}
        require_known(settings, names)
        self.with_envs(**{names[name]: value for name, value in settings.items()})
        self.waiting_for(HttpWaitStrategy(ServerSettings.port, HEALTH).for_status_code(200))

    @property
    def url(self) -> str:
        """URL of the sandbox for clients, without a slash at the end."""
        return f"http://{self.get_container_host_ip()}:{self.get_exposed_port(ServerSettings.port)}"

    def connect(self) -> Sandbox:
        """Return the sandbox of the container, with every resource."""
        return connect(self.url, control_token=self.control_token)
