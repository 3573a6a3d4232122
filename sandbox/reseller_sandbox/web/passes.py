"""What lets the page of a server that wants a control token in, once it has shown the token.

The browser keeps a cookie that follows from the token, and sends it by itself. So what changes something
carries a second word as well, which only the page's own script can read: no form elsewhere can forge it.
"""

from __future__ import annotations

import hmac

from reseller_sandbox.web.incoming import Incoming

#: The header that carries the second word.
CHANGE = "X-Sandbox-Change"

_LOOKS = ("GET", "HEAD")


class Pass:
    """The cookie and the word that stand for a control ``token``."""

    def __init__(self, token: str) -> None:
        self._token = token

    @property
    def word(self) -> str:
        """What goes with each change."""
        return self._made("change")

    def cookie(self, incoming: Incoming, *, ended: bool = False) -> str:
        """Return the Set-Cookie that gives the pass to whoever has sent ``incoming``, or takes it away."""
        value = "" if ended else self._made("cookie")
        parts = [f"{_name(incoming)}={value}", "Path=/", "HttpOnly", "SameSite=Strict"]
        parts += ["Max-Age=0"] if ended else []
        parts += ["Secure"] if incoming.scheme == "https" else []
        return "; ".join(parts)

    def lets_in(self, incoming: Incoming) -> bool:
        """Whether the request has the cookie and, where it is no look, the word."""
        if not _same(_cookie(incoming), self._made("cookie")):
            return False
        return incoming.method in _LOOKS or _same(incoming.headers.get(CHANGE, ""), self.word)

    def _made(self, purpose: str) -> str:
        return hmac.digest(self._token.encode(), f"page {purpose}".encode(), "sha256").hex()


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), wanted.encode())


def _name(incoming: Incoming) -> str:
    """Return the cookie's name: a browser keeps those of all ports of a host together."""
    return f"sandbox_page_{incoming.port}"


def _cookie(incoming: Incoming) -> str:
    from http.cookies import CookieError, SimpleCookie

    try:
        found = SimpleCookie(incoming.headers.get("Cookie", "")).get(_name(incoming))
    except CookieError:
        return ""
    return found.value if found is not None else ""
