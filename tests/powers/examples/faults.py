"""Examples of faults: each parameter of each kind, and what any rule may say."""

from __future__ import annotations

from typing import Any

from tests.powers.example import BAD, Example

#: A rule of each kind with all that its kind takes, or several rules.
RULES: tuple[dict[str, Any], ...] = (
    {"kind": "error", "error": "insufficient_funds", "facts": {"price": "9"}, "retry_after": 3},
    {"kind": "error", "status": 418, "body": {"tea": True}, "content_type": "text/plain"},
    {"kind": "error", "status": 418, "headers": {"X-Tea": "yes"}},
    {"kind": "latency", "seconds": 0.5},
    {"kind": "latency", "seconds": "1.5"},
    {"kind": "latency", "min": "1s", "max": 2},
    {"kind": "latency", "median": 2, "sigma": 0.6},
    {"kind": "drip", "size": 5, "pause": 0.1},
    {"kind": "bandwidth", "rate": 1000},
    {"kind": "hang", "seconds": "5m"},
    {"kind": "truncate", "keep": 7, "reset": True},
    {"kind": "garbage", "text": "noise"},
    {"kind": "garbage", "hex": "00ff"},
    {"kind": "mutate", "path": "results[0].status", "value": 7},
    {"kind": "mutate", "path": "status", "drop": True},
    {"kind": "mutate", "path": "status", "type": "number"},
    {"kind": "rate_limit", "limit": 3, "window": "60s", "time": "real", "per": "rule"},
    {"kind": "duplicate", "answer": "second"},
    {"kind": "stale", "commits": 2},
    {"kind": "reset", "name": "lost", "match": {"operation": "v3.*"}, "when": {"times": 2, "phase": "after"}},
    {"kind": "close", "paused": True, "matched": 3, "struck": 2, "spent": False},
    {"preset": "outage"},
    {"preset": "flaky", "name": "bad", "when": {"chance": 0.5}},
    {"kind": {"kind": "latency", "seconds": 0.5}},
)

#: What is refused of each parameter: an empty object, but where that is something.
WRONG: dict[str, Any] = {"body": None, "value": None, "match": {"operation": ""}, "when": {"times": 0}}
ALONE: dict[str, dict[str, Any]] = {
    "body": {"kind": "latency", "body": "x"},
    "value": {"kind": "latency", "value": 7},
}

SLOW = ("faults.add", {"kind": "latency", "name": "slow", "seconds": 0.001})

EXAMPLES = (
    *(Example("faults.add", rule) for rule in RULES),
    *(
        Example("faults.add", {**rule, name: WRONG.get(name, "")}, BAD)
        for name, rule in {name: rule for rule in RULES for name in rule if "preset" not in rule}.items()
        if name not in ALONE
    ),
    Example("faults.add", {"preset": ""}, BAD),
    *(Example("faults.add", rule, BAD) for rule in ALONE.values()),
    Example("faults.add", {}, BAD),
    Example("faults.add", {"kind": "latency", "secs": 1}, BAD),
    Example("faults.add", {"kind": "reset", "name": "slow"}, "fault_exists", before=(SLOW,)),
    Example("faults.add", {"kind": "error", "error": "no_such_error"}, BAD),
    Example("faults.add", {"kind": "reset", "match": {"operation": "v3.balanse"}}, BAD),
    Example("faults.list"),
    Example("faults.list", before=(SLOW, ("faults.add", {"preset": "flaky"}))),
    Example("faults.get", {"name": "slow"}, before=(SLOW,)),
    Example("faults.get", {"name": "fast"}, "unknown_fault", before=(SLOW,)),
    Example("faults.get", {"name": "not a name"}, BAD, before=(SLOW,)),
    Example("faults.replace", {"faults": [{"kind": "hang"}, {"preset": "outage"}]}, before=(SLOW,)),
    Example("faults.replace", {"faults": []}, before=(SLOW,)),
    Example("faults.replace", {"faults": [{"kind": "hang"}, {"kind": "hung"}]}, BAD),
    Example("faults.replace", {"faults": {}}, BAD),
    Example("faults.replace", {}, BAD),
    Example(
        "faults.change", {"name": "slow", "changes": {"seconds": 0.002, "when": {"times": 2}}}, before=(SLOW,)
    ),
    Example("faults.change", {"name": "slow", "changes": {"kind": "close", "matched": 7}}, before=(SLOW,)),
    Example("faults.change", {"name": "slow", "changes": {"seconds": None}}, BAD, before=(SLOW,)),
    Example("faults.change", {"name": "slow", "changes": {"name": "fast"}}, BAD, before=(SLOW,)),
    Example("faults.change", {"name": "fast", "changes": {}}, "unknown_fault", before=(SLOW,)),
    Example("faults.pause", {"name": "slow"}, before=(SLOW,)),
    Example("faults.pause", {"name": "fast"}, "unknown_fault"),
    Example("faults.resume", {"name": "slow"}, before=(SLOW, ("faults.pause", {"name": "slow"}))),
    Example("faults.resume", {"name": "fast"}, "unknown_fault"),
    Example("faults.remove", {"name": "slow"}, before=(SLOW, ("faults.add", {"kind": "close"}))),
    Example("faults.remove", {"name": "fast"}, "unknown_fault"),
    Example("faults.clear", before=(SLOW,)),
    Example("faults.kinds"),
    Example("faults.presets"),
)
