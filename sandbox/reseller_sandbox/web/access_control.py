"""Access control of the control interface.

A browser on the sandbox's machine shows pages from any site. Such a page can send requests to a server
on the same machine, and the owner of a domain name can point that name to the machine. ``Gate`` refuses
both kinds of requests.

With a control token, the page of the sandbox exchanges the token for a cookie. The browser sends the
cookie automatically. A request that changes something also sends a second secret in the header ``CHANGE``.
Only the page's own script can read that secret, so a form on another site cannot forge the request.
"""

from __future__ import annotations

import hmac
import socket
from ipaddress import ip_address
from urllib.parse import urlsplit

from msgspec import field
from werkzeug.http import parse_cookie

from reseller_sandbox import refusals as r
from reseller_sandbox.refusals import Refused
from reseller_sandbox.server.secrecy import USUAL, host_masked
from reseller_sandbox.settings import BadSetting, Settings
from reseller_sandbox.values.clock import instance_mark
from reseller_sandbox.values.parameters import Quiet
from reseller_sandbox.web.context import RequestContext

#: The request header that carries the control token.
HEADER = "X-Sandbox-Token"

#: The command-line option that sets the public addresses of the service.
_PUBLIC_URL = "--public-url"

#: The path of the health check, which needs no token.
HEALTH = "/_sandbox/health"

#: The path of the page's static files. The files contain no data, so any site may link to them.
PAGE = "/_sandbox/page"

#: Values of ``Sec-Fetch-Site`` for requests from another site or another origin.
_OTHER_SITES = ("cross-site", "same-site")

#: Top-level labels that cannot be registered, so that no third party can point such a name to this machine.
#: ``local`` is not in the set, because each machine on a network can choose a name that ends with ``.local``.
_RESERVED_LABELS = frozenset({"example", "internal", "invalid", "localhost", "test"})

#: The request header in which the page sends its second secret with each change.
CHANGE = "X-Sandbox-Change"

_READING_METHODS = ("GET", "HEAD")

_DEFAULT_PORTS = {"http": "80", "https": "443"}


def _same(sent: str, expected: str) -> bool:
    return hmac.compare_digest(sent.encode("utf-8", "surrogatepass"), expected.encode())


def _cookie_name(request: RequestContext) -> str:
    """Return the name of the page's cookie, which includes the port.

    Browsers share cookies between all ports of a host.
    """
    return f"sandbox_page_{request.port}"


class Gate(Quiet, frozen=True):
    """Admits requests to the control interface, or refuses them.

    ``settings`` are the settings of the server: its control token, its public URLs, and the names in its
    certificate.
    """

    #: The rules that the gate raises, in the order of the checks.
    RULES = (r.CROSS_SITE, r.FOREIGN_HOST, r.CONTROL_TOKEN_MISSING, r.CONTROL_TOKEN_WRONG)

    settings: Settings
    #: The sessions of the page that their users have ended.
    ended: set[str] = field(default_factory=set)

    @property
    def page_word(self) -> str:
        """The page's second secret, besides the cookie. The page sends this secret with each change."""
        return self._digest("change") if self.settings.control_token is not None else ""

    def page_cookie(self, request: RequestContext, *, ended: bool = False) -> str:
        """Return the Set-Cookie header of the page, whose cookie replaces the token.

        Each session has its own cookie. ``ended`` removes the cookie, and ends the session of the request.
        """
        if ended and (session := self._session(request)) is not None:
            self.ended.add(session)
        value = "" if ended else self._signed(instance_mark())
        parts = [f"{_cookie_name(request)}={value}", "Path=/", "HttpOnly", "SameSite=Strict"]
        parts += ["Max-Age=0"] if ended else []
        parts += ["Secure"] if request.scheme == "https" else []
        return "; ".join(parts)

    def _is_page(self, request: RequestContext) -> bool:
        """Whether a request has the page's cookie. A change also requires the page's second secret."""
        if self._session(request) is None:
            return False
        return request.method in _READING_METHODS or _same(request.headers.get(CHANGE, ""), self.page_word)

    def _session(self, request: RequestContext) -> str | None:
        """Return the session of the page that sent a request, or None."""
        header = request.headers.get("Cookie", "")
        cookies = parse_cookie(header if header.isascii() else "")  # Werkzeug raises for bad UTF-8
        cookie = cookies.get(_cookie_name(request), "")
        session = cookie.partition(".")[0]
        return session if _same(cookie, self._signed(session)) and session not in self.ended else None

    def _signed(self, session: str) -> str:
        """Return the cookie of a session. Servers with the same token accept it, such as shards."""
        return f"{session}.{self._digest(f'cookie {session}')}"

    def _digest(self, purpose: str) -> str:
        return hmac.digest(
            (self.settings.control_token or "").encode(), f"page {purpose}".encode(), "sha256"
        ).hex()

    def admit(self, request: RequestContext) -> None:
        """Admit the request, or raise one of ``RULES``."""
        if not request.prefix and (request.path == PAGE or request.path.startswith(f"{PAGE}/")):
            return
        self._require_own_page(request)
        token = self.settings.control_token
        if token is None:
            if not self.settings.control_open:
                self._require_own_host(request)
        elif request.path != HEALTH or request.prefix:
            self._require_token(request, token)

    def _require_own_page(self, request: RequestContext) -> None:
        origin = request.headers.get("Origin")
        netlocs = [
            request.headers.get("Host", ""),
            *(urlsplit(url).netloc for url in self.settings.public_urls),
        ]
        if origin is not None:
            scheme, _, place = origin.partition("://")
            if all(_place(place, scheme) != _place(netloc, scheme) for netloc in netlocs):
                raise Refused(r.CROSS_SITE, origin=USUAL.text_masked(origin)[:80], setting=_PUBLIC_URL)
        elif request.headers.get("Sec-Fetch-Site", "") in _OTHER_SITES:
            raise Refused(r.CROSS_SITE, origin="another origin", setting=_PUBLIC_URL)

    def _require_own_host(self, request: RequestContext) -> None:
        host = request.headers.get("Host", "")
        own = (urlsplit(url).hostname for url in self.settings.public_urls)
        names = (*own, *getattr(self.settings, "tls_names", ()))
        if can_be_registered(_name(host)) and _name(host) not in names:
            raise Refused(
                r.FOREIGN_HOST, host=host_masked(host)[:80], settings=f"{_PUBLIC_URL} or --control-token"
            )

    def _require_token(self, request: RequestContext, token: str) -> None:
        sent = request.headers.get(HEADER)
        if not sent and not self._is_page(request):
            raise Refused(r.CONTROL_TOKEN_MISSING, header=HEADER)
        if sent and not _same(sent, token):
            raise Refused(r.CONTROL_TOKEN_WRONG, header=HEADER)


def require_guard(host: str, token: str | None, open_: bool) -> None:
    """Raise ``BadSetting`` if other machines can reach ``host`` without a token."""
    if token is None and not open_ and not is_loopback(host):
        raise BadSetting(
            f"{host or 'every address'} can be reached from other machines. Set a token for the control "
            "interface (--control-token TOKEN), or allow access without a token (--control-open)."
        )


def is_loopback(host: str) -> bool:
    """Whether a server on ``host`` can be reached only from this machine.

    ``host`` is an address or a name. Raise ``BadSetting`` if the host does not exist.
    """
    try:
        infos = socket.getaddrinfo(host or None, 0, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        raise BadSetting(f"--host: the host {host!r} does not exist") from None
    addresses = [ip_address(str(address[0])) for *_, address in infos]
    return all((getattr(address, "ipv4_mapped", None) or address).is_loopback for address in addresses)


def can_be_registered(name: str) -> bool:
    """Whether a third party can register ``name`` in the DNS.

    Single labels, addresses and reserved top-level names cannot be registered.
    """
    labels = name.lower().rstrip(".").split(".")
    if len(labels) == 1 or ":" in name:
        return False
    return labels[-1] not in _RESERVED_LABELS and not labels[-1].isdigit()


def _place(netloc: str, scheme: str) -> str:
    """Return ``netloc`` (host and port) in lower case, without the default port of ``scheme``."""
    return netloc.lower().removesuffix(f":{_DEFAULT_PORTS.get(scheme, '')}")


def _name(netloc: str) -> str:
    """Return the host of ``netloc`` (host and port), without brackets."""
    if netloc.startswith("["):
        return netloc[1:].partition("]")[0]
    return netloc.partition(":")[0].lower()
