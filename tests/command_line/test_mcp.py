"""The command ``mcp``, as the client of the protocol's own package uses it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import pytest

from reseller_sandbox import Sandbox
from tests.command import run

if TYPE_CHECKING:
    from mcp import Client

pytestmark = pytest.mark.port


def converse(*options: str, talk: Callable[[Client], Awaitable[Any]]) -> Any:
    """Return the result of ``talk`` with a server that has these options."""
    import anyio
    from mcp import Client, StdioServerParameters  # takes half a second, which only these tests need

    async def main() -> Any:
        arguments = ["-m", "reseller_sandbox", "mcp", *options]
        command = StdioServerParameters(command=sys.executable, args=arguments, env={**os.environ})
        async with Client(command) as client:
            return await talk(client)

    return anyio.run(main)


def test_each_operation_is_an_mcp_tool_with_a_schema_and_a_description() -> None:
    async def list_tools(client: Client) -> Any:
        return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in converse(talk=list_tools)}
    operations = [one for resource in Sandbox.resources().values() for one in resource.operations()]
    expected = [one.id for one in operations if one.sort != "stream"]
    for interface in ("v3", "v2"):
        paths = Sandbox("empty").client().get(f"/_sandbox/openapi/{interface}.json").json["paths"]
        expected += [row["x-sandbox-operation"] for path in paths.values() for row in path.values()]
    assert tools.keys() == {name.replace(".", "_") for name in expected}
    for tool in tools.values():
        assert tool.description, tool.name
        jsonschema_rs.validator_for(tool.input_schema)
    assert tools["v3_getDomain"].input_schema["required"] == ["domainName"]
    assert tools["v3_createDomain"].input_schema["required"] == ["domain"]
    assert tools["v3_listDomains"].input_schema["required"] == []
    assert tools["clock_set"].input_schema["required"] == ["to"]
    reading = {tool.name for tool in converse("--read-only", talk=list_tools)}
    assert reading == {name for name, tool in tools.items() if tool.annotations.read_only_hint}
    assert {"v3_checkAvailability", "v2_domain_info", "clock_due"} <= reading
    assert not {"v3_createDomain", "v2_domain_delete", "clock_advance", "faults_add"} & reading


def test_mcp_calls_change_the_world_of_a_server_up_to_the_spend_limit() -> None:
    async def talk(client: Client) -> list[tuple[bool, str]]:
        results: Any = [await client.call_tool(name, arguments) for name, arguments in calls]
        return [(result.is_error, result.content[0].text) for result in results]

    calls: list[tuple[str, dict[str, Any]]] = [
        ("v3_createDomain", {"domain": {"domainName": "agent.com"}, "years": 1}),
        ("v3_listDomains", {"perPage": 1, "page": 2}),
        ("v2_domain_info", {"domain_name": "agent.com"}),
        ("clock_advance", {"days": 1}),
        ("v3_renewDomain", {"domainName": "agent.com", "years": 1}),
        ("v3_createDomain", {"domain": {"domainName": "agent.com"}}),
        ("faults_add", {"kind": "rest"}),
        ("v3_explode", {}),
    ]
    with Sandbox() as sandbox, sandbox.serve() as server:
        results = converse("--url", server.url, "--spend-limit", "20.50", talk=talk)
        assert [is_error for is_error, _ in results] == [False] * 4 + [True] * 4
        texts = [text for _, text in results]
        assert len(json.loads(texts[1])["body"]["domains"]) == 1
        assert json.loads(texts[2])["status"] == 200
        assert "would spend 12.99, but 10.99 of the limit of 20.50 is already spent" in texts[4]
        assert json.loads(texts[5])["body"]["error"] == "name_taken"
        assert "did you mean reset?" in texts[6]
        assert "no tool v3_explode" in texts[7]
        (total,) = sandbox.ledger.find(domain="agent.com").totals.account
        assert str(total.charged) == "10.99"
        assert sandbox.journal.find(operation="v3.renewDomain").matching == 0
        assert [world.name for world in sandbox.worlds.list().worlds] == ["default"]


def test_mcp_reports_an_invalid_option_or_a_missing_package_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for words in (("--spend-limit", "much"), ("--spend-limit", "-1"), ("--spend-limit", "NaN")):
        refused = run("mcp", *words)
        assert (refused.status, refused.out) == (2, "")
        assert "is not an amount such as 100.00" in refused.err
    assert run("mcp", "--url", "http://127.0.0.1:9").status == 3
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delattr("reseller_sandbox.tools.mcp_server", raising=False)
    monkeypatch.delitem(sys.modules, "reseller_sandbox.tools.mcp_server", raising=False)
    assert "reseller-sandbox mcp needs mcp: pip install 'mcp" in run("mcp").err
