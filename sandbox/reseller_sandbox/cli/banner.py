"""Start-up message of the server: its addresses, its accounts, and commands to try."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from reseller_sandbox.cli.requests import curl
from reseller_sandbox.registry.state import own_accounts
from reseller_sandbox.server.server import Server
from reseller_sandbox.server.tls import VARIABLES
from reseller_sandbox.values import money
from reseller_sandbox.values.clock import wire
from reseller_sandbox.web.access_control import is_loopback
from reseller_sandbox.web.interfaces import PublicInterface, UnsignedRequest
from reseller_sandbox.worlds import World


def banner(
    world: World, server: Server, origin: str, prefix: str, interfaces: Sequence[PublicInterface]
) -> str:
    """Return the start-up message of a server, whose default world comes from ``origin``.

    Omit secrets if other machines can reach the server.
    """
    url = server.tls_url or server.url
    urls = dict.fromkeys((url, server.url))
    state = world.state
    accounts = own_accounts(state)
    clock = "is frozen at" if world.clock.frozen else "runs from"
    contents = f"{len(state.zones)} zones, {len(state.holding_order)} names"
    is_private = is_loopback(server.host)
    credentials: dict[str, str] = {}
    if is_private:  # The output of a server that other machines can reach often goes to a stored log.
        credentials = {heading: name for each in interfaces for name, heading in each.credentials.items()}
    rows = [
        (
            account.name,
            str(account.client_id),
            *(getattr(account, name) for name in credentials.values()),
            f"{money.write(account.balance)} {account.currency}",
        )
        for account in accounts
    ]
    lines = [
        f"reseller-sandbox on {' and '.join(urls)}",
        f"  {origin}: {contents}; the clock {clock} {wire(world.now())}",
        "",
        *_table([("account", "client-id", *credentials, "balance"), *rows]),
        "",
    ]
    if not is_private:
        lines += ["  Credentials are not shown, because other machines can reach this server.", ""]
    elif accounts:
        lines.append("  Commands to try:")
        signing = accounts[0], world.assumptions, prefix, url
        for interface in interfaces:
            for example in interface.examples:
                unsigned = UnsignedRequest(*signing, example.path, example.body.encode())
                lines.append(f"    {curl(example.method, unsigned, interface, server.authority)}")
        lines.append("")
    if server.authority is not None:
        lines += [*_trust(server.authority), ""]
    lines += [
        f"  In a browser: {url}/ and {url}/_sandbox/manual",
        "  In a shell: reseller-sandbox --help. Ctrl-C stops the server.",
    ]
    return "\n".join(lines)


def _trust(authority: str) -> Iterator[str]:
    """Yield the lines that explain how to make clients trust the certificate."""
    path = shlex.quote(authority)
    yield "  For clients to trust its certificate:"
    yield from (f"    export {name}={path}" for name in VARIABLES)
    yield f"    PHP: php -d curl.cainfo={path} -d openssl.cafile={path} …"
    yield f"    Java: keytool -importcert -noprompt -file {path} -alias reseller-sandbox \\"
    yield "            -keystore trust.p12 -storepass changeit"
    yield "          java -Djavax.net.ssl.trustStore=trust.p12 -Djavax.net.ssl.trustStorePassword=changeit …"


def _table(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
