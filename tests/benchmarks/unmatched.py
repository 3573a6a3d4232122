"""Paths that are no operation, and are new each time."""

from __future__ import annotations

LETTERS = "abcdefghijklmnopqrst"
PATHS = {
    "an operation that is none": "/v3/domains/deleteDnssec{}/a.com",
    "a slip": "/v3/domains/createDomains{}",
    "many segments": "/v3/getdomain{0}/getdomains{0}/unlocktransfer{0}/setcontacts{0}/a/b/c/d/e",
}


def new(path: str) -> list[str]:
    """Return many paths that no client has requested yet."""
    return [path.format(LETTERS[number % 20] + LETTERS[number // 20]) for number in range(200)]
