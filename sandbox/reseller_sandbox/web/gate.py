"""The gate of the control interface: who may come in, and which browsers may not.

Whoever runs a sandbox has a browser too, and the pages it shows come from anywhere. A page can send requests
to a server on the same machine, and a name of its own can be made to lead there. Neither gets in.
"""

from __future__ import annotations

import hmac
import socket
from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

from reseller_sandbox.core.refusals import (
    CONTROL_TOKEN_MISSING,
    CONTROL_TOKEN_WRONG,
    CROSS_SITE,
    FOREIGN_HOST,
    Refused,
)
from reseller_sandbox.core.signatures import Quiet
from reseller_sandbox.server.secrecy import host_masked, text_masked
from reseller_sandbox.settings import BadSetting
from reseller_sandbox.web.incoming import Incoming
from reseller_sandbox.web.passes import Pass

#: The header that carries the control token.
HEADER = "X-Sandbox-Token"

#: The option that says whose pages and which names are the service's own.
_PUBLIC_URL = "--public-url"

#: What may be asked without the token, so that whoever watches over the process need not know it.
HEALTH = "/_sandbox/health"

#: The page's own files, which hold nothing of any world: a link from anywhere leads to them.
PAGE = "/_sandbox/page"

#: What a browser says of a request from a page of another site, or of another origin of the same site.
_ELSEWHERE = ("cross-site", "same-site")

#: The last labels of names that nobody can own, so that no page can have come from one by way of the DNS.
#: ``local`` is not among them: in that zone each machine on the network names itself.
_NOBODYS = frozenset({"example", "internal", "invalid", "localhost", "test"})

_DEFAULT_PORTS = {"http": "80", "https": "443"}


class Gate(Quiet, frozen=True, kw_only=True):
    """Lets requests in to the control interface, or refuses them.

    ``token`` is what each must carry; None asks for nothing. ``open`` is the word that whoever reaches the
    server may come in. ``public_urls`` are where the service is believed to be: pages of theirs may come in.
    ``names`` are its own by its certificate.
    """

    #: What the gate refuses by, in the order of the checks.
    RULES = (CROSS_SITE, FOREIGN_HOST, CONTROL_TOKEN_MISSING, CONTROL_TOKEN_WRONG)

    token: str | None = None
    open: bool = False
    public_urls: Sequence[str] = ()
    names: Sequence[str] = ()

    @property
    def credentials(self) -> tuple[str, ...]:
        """The header that the token comes in, if one is wanted."""
        return () if self.token is None else (HEADER,)

    @property
    def page_pass(self) -> Pass | None:
        """What the page gets for the token, if one is wanted."""
        return None if self.token is None else Pass(self.token)

    def admit(self, incoming: Incoming) -> None:
        """Let the request in; refuse by ``RULES``."""
        if not incoming.prefix and (incoming.path == PAGE or incoming.path.startswith(f"{PAGE}/")):
            return
        self._no_page_from_elsewhere(incoming)
        if self.token is None:
            if not self.open:
                self._no_name_from_elsewhere(incoming)
        elif incoming.path != HEALTH or incoming.prefix:
            self._token(incoming, self.token)

    def _no_page_from_elsewhere(self, incoming: Incoming) -> None:
        origin = incoming.headers.get("Origin")
        known = [incoming.headers.get("Host", ""), *(urlsplit(url).netloc for url in self.public_urls)]
        if origin is not None:
            scheme, _, place = origin.partition("://")
            if all(_place(place, scheme) != _place(own, scheme) for own in known):
                raise Refused(CROSS_SITE, origin=text_masked(origin)[:80], setting=_PUBLIC_URL)
        elif incoming.headers.get("Sec-Fetch-Site", "") in _ELSEWHERE:
            raise Refused(CROSS_SITE, origin="another origin", setting=_PUBLIC_URL)

    def _no_name_from_elsewhere(self, incoming: Incoming) -> None:
        host = incoming.headers.get("Host", "")
        known = (*map(_host, self.public_urls), *self.names)
        if can_be_owned(_name(host)) and _name(host) not in known:
            raise Refused(
                FOREIGN_HOST, host=host_masked(host)[:80], settings=f"{_PUBLIC_URL} or --control-token"
            )

    def _token(self, incoming: Incoming, token: str) -> None:
        given = incoming.headers.get(HEADER)
        if not given and Pass(token).lets_in(incoming):
            return
        if not given:
            raise Refused(CONTROL_TOKEN_MISSING, header=HEADER)
        if not hmac.compare_digest(given.encode("utf-8", "surrogatepass"), token.encode()):
            raise Refused(CONTROL_TOKEN_WRONG, header=HEADER)


def require_guard(host: str, token: str | None, open_: bool) -> None:
    """Raise ``BadSetting`` when others could reach a server on ``host`` and nothing keeps them out."""
    if token is None and not open_ and not is_loopback(host):
        raise BadSetting(
            f"{host or 'every address'} can be reached from other machines: set a token for the control "
            "interface (--control-token TOKEN), or say that it needs none (--control-open)"
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server on ``host``: an address in any spelling, or a name.

    Raise ``BadSetting`` when there is no such host.
    """
    try:
        found = socket.getaddrinfo(host or None, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        raise BadSetting(f"--host: there is no host {host!r}") from None
    addresses = [ip_address(str(address[0])) for *_, address in found]
    return all((getattr(address, "ipv4_mapped", None) or address).is_loopback for address in addresses)


def can_be_owned(name: str) -> bool:
    """Whether ``name`` could be somebody's in the DNS: it has labels, and is no address nor set aside."""
    labels = name.lower().rstrip(".").split(".")
    if len(labels) == 1 or ":" in name:
        return False
    return labels[-1] not in _NOBODYS and not labels[-1].isdigit()


def _place(netloc: str, scheme: str) -> str:
    """Return a host and port as they would stand in an origin of ``scheme``."""
    return netloc.lower().removesuffix(f":{_DEFAULT_PORTS.get(scheme, '')}")


def _name(netloc: str) -> str:
    """Return the host in a Host header."""
    if netloc.startswith("["):
        return netloc[1:].partition("]")[0]
    return netloc.partition(":")[0].lower()


def _host(url: str) -> str:
    return _name(urlsplit(url).netloc)
