"""The HTTP paths of control operations, as the operations declare them."""

from __future__ import annotations

import re

from reseller_sandbox import Sandbox
from reseller_sandbox.control.catalogue import RESOURCES
from reseller_sandbox.control.resource import operations_by_id


def test_each_control_operation_is_reached_by_its_path(sandbox: Sandbox, subtests) -> None:
    """No operation takes the path of another one, and a placeholder with ``:path`` accepts slashes."""
    for operation in operations_by_id(RESOURCES.values()).values():
        with subtests.test(operation=operation.id):
            placeholders = dict(re.findall(r"{(\w+)(:path)?}", operation.route))
            assert tuple(placeholders) == operation.segments
            values = {name: "north/south" if slashes else "7" for name, slashes in placeholders.items()}
            path = operation.path_with({**values})
            with sandbox.app.test_request_context(path, method=operation.method) as context:
                assert context.request.endpoint == f"control/{operation.id.replace('.', '/')}#0"
                assert context.request.view_args == values
