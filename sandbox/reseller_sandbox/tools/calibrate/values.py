"""Which values of each assumption are tried: all of a choice; of what has no end, those that were seen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

from reseller_sandbox.core.assumptions import Assumptions, kinds
from reseller_sandbox.core.assumptions.silence import WORD
from reseller_sandbox.tools.calibrate.exchanges import ObservedExchange

#: By assumption, the values that are tried, the default first.
Candidates = Mapping[str, Sequence[Any]]

#: What stands for every word, version and header that was not seen: while it explains as much as one that
#: was seen, that one is not known to be right.
OTHER_WORD, OTHER_VERSION, OTHER_HEADER = "some-other-word", "V9999.9", "X-Some-Other-Header"

#: How long an order takes that takes some time.
SOME_TIME = 3600

VERSIONS, TOKEN_HEADERS, SECONDS = "v2.versions", "v2.token_headers", "v2.order_processing"

#: What is signed cannot be seen in an answer, but by those who have the secret.
UNSEEN = ("v3.signature.endpoint", "v3.signature.payload", "v3.signature.query")

#: How many words, versions and headers are tried at the most, beside the default.
_MOST_WORDS, _MOST_LISTED = 12, 2

_TOKEN_HEADER = re.compile(r"[a-z][a-z0-9-]*(?:token|auth)[a-z0-9-]*", re.IGNORECASE)
_VERSION = re.compile(r"/([Vv][0-9]{1,4}\.[0-9]{1,4})/")


def candidates(exchanges: Sequence[ObservedExchange]) -> dict[str, tuple[Any, ...]]:
    """Return the values of each assumption that the exchanges can tell apart."""
    defaults = Assumptions().values()
    found: dict[str, tuple[Any, ...]] = {}
    seen = _distinct(word for one in exchanges for word in _words(one.answer) if WORD.read(word))
    keys = _distinct(key for one in exchanges for key in one.asked if WORD.read(key))
    for name, kind in kinds().items():
        if name in UNSEEN:
            continue
        if kind.values:
            found[name] = tuple(dict.fromkeys((defaults[name], *kind.values)))
        elif kind is WORD:
            words = keys if name == "v2.license" else seen
            found[name] = tuple(dict.fromkeys((defaults[name], *words[:_MOST_WORDS], OTHER_WORD)))
    asked = (version[1].upper() for one in exchanges if (version := _VERSION.match(one.path)))
    found[VERSIONS] = _lists("V2.0", _distinct(asked), OTHER_VERSION)
    sent = (name for one in exchanges if _VERSION.match(one.path) for name in token_headers(one))
    found[TOKEN_HEADERS] = _lists("X-Auth-Token", _distinct(sent), OTHER_HEADER)
    found[SECONDS] = (0, SOME_TIME)
    return found


def token_headers(one: ObservedExchange) -> list[str]:
    """Return the headers of a request that may have carried a token, as they are usually spelt."""
    return [name.title() for name in one.headers if _TOKEN_HEADER.fullmatch(name) and name != "authorization"]


def _distinct(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))


def _lists(default: str, seen: Iterable[str], other: str) -> tuple[tuple[str, ...], ...]:
    """Return every list of the default, of what was seen and of something else."""
    more = [one for one in seen if one.lower() != default.lower()][:_MOST_LISTED]
    known = (default, *more, other)
    found = [one for size in range(1, len(known) + 1) for one in combinations(known, size)]
    return tuple(found)


def _words(answer: Any) -> Iterable[str]:
    """Yield the words for the availability of names in an answer."""
    results = answer.get("results") if isinstance(answer, Mapping) else None
    for one in results if isinstance(results, list) else ():
        if isinstance(one, Mapping) and isinstance(one.get("status"), str):
            yield one["status"]
