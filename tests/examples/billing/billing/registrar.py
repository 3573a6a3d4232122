"""The registrar's API, as far as billing needs it."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import httpx


class Refused(Exception):
    """The registrar refused; ``code`` is its error code."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class Unanswered(Exception):
    """No answer came: whether the request took effect is unknown."""


@dataclass(frozen=True)
class Name:
    """A name in our account."""

    name: str
    expires: datetime


class Registrar:
    """Calls the registrar at ``url`` with the credentials of our account."""

    def __init__(self, url: str, key: str, secret: str, timeout: float = 5.0) -> None:
        self._url = url
        self._key = key
        self._secret = secret
        self._http = httpx.Client(timeout=timeout)

    def close(self) -> None:
        self._http.close()

    def balance(self) -> Decimal:
        return Decimal(self._call("GET", "/v3/balance")[0]["balance"])

    def find(self, name: str) -> Name | None:
        """Return the name if it is ours."""
        try:
            found = self._call("GET", f"/v3/domains/getDomain/{name}")
        except Refused as refused:
            if refused.code == "domain_not_found":
                return None
            raise
        return Name(name, datetime.fromisoformat(found["domain"]["expireDate"]))

    def register(self, name: str, years: int, price: Decimal | None = None) -> None:
        wanted: dict[str, Any] = {"domain": {"domainName": name}, "years": years}
        if price is not None:
            wanted["purchaseCost"] = str(price)
        self._call("POST", "/v3/domains/createDomain", wanted)

    def renew(self, name: str, years: int) -> None:
        self._call("POST", f"/v3/domains/renewDomain/{name}", {"years": years})

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        url = httpx.URL(self._url + path)
        raw = json.dumps(body).encode() if body is not None else b""
        text = self._key.encode() + str(url).encode() + raw
        headers = {
            "Content-Type": "application/json",
            "X-SVC-APIKEY": self._key,
            "X-SVC-SIGNATURE": hmac.new(self._secret.encode(), text, hashlib.sha256).hexdigest(),
        }
        try:
            answer = self._http.request(method, url, content=raw, headers=headers)
            found = answer.json()
        except (httpx.TransportError, ValueError) as problem:
            raise Unanswered(str(problem)) from problem
        if answer.status_code >= 500:
            raise Unanswered(f"the registrar answered {answer.status_code}")
        if answer.status_code >= 400:
            raise Refused(found["error"], found["message"])
        return found
