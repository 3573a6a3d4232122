"""A sandbox in a container of its own, for tests that have an engine for containers: testcontainers' way."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from testcontainers.core.container import DockerContainer
from testcontainers.core.labels import SESSION_ID
from testcontainers.core.wait_strategies import HttpWaitStrategy

from reseller_sandbox.config_sources import variables
from reseller_sandbox.registry.text_checks import nearest
from reseller_sandbox.sandbox import Sandbox, connect
from reseller_sandbox.settings import BadSetting, ServerSettings
from reseller_sandbox.web.access_control import HEALTH


class SandboxContainer(DockerContainer):
    """A container of the image that ``reseller-sandbox deploy dockerfile`` describes.

    >>> with SandboxContainer() as container:
    ...     sandbox = container.connect()
    ...     billing = Billing(container.url)

    It is nobody's, and can write nowhere. Its control interface wants ``control_token``, which by itself is
    another one in each run. ``settings`` are those of a server whose values are words: ``fixture``, ``now``,
    ``profile`` and so on; ``options`` are those of ``DockerContainer``.
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
        self.with_envs(**_variables({**(settings or {}), "control_token": control_token}))
        self.waiting_for(HttpWaitStrategy(ServerSettings.port, HEALTH).for_status_code(200))

    @property
    def url(self) -> str:
        """Where clients find it, without a slash at the end."""
        return f"http://{self.get_container_host_ip()}:{self.get_exposed_port(ServerSettings.port)}"

    def connect(self) -> Sandbox:
        """Return the sandbox in it, with every resource."""
        return connect(self.url, control_token=self.control_token)


def _variables(settings: dict[str, str]) -> dict[str, str]:
    """Return the variables that tell a server its settings; raise ``BadSetting`` for a name that is none."""
    names = variables()
    for name in settings:
        if name not in names:
            raise BadSetting(f"{name} is not known here{nearest(name, names)}")
    return {names[name]: value for name, value in settings.items()}
