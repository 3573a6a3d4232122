"""Examples of events."""

from __future__ import annotations

from tests.powers.example import BAD, Example

EXAMPLES = (
    Example("events.follow"),
    Example("events.follow", {"kind": "time"}),
    Example("events.follow", {"kind": "tide"}, BAD),
    Example("events.follow", {"name": "clock.*"}),
    Example("events.follow", {"name": ""}, BAD),
    Example("events.follow", {"domain": "second.com"}),
    Example("events.follow", {"domain": "-"}, "invalid_name"),
    Example("events.follow", {"since": 2}),
    Example("events.follow", {"since": "lately"}, BAD),
    Example("events.follow", {"since": 2, "per_second": 10}),
    Example("events.follow", {"per_second": 0}, BAD),
    Example("events.find"),
    Example("events.find", {"kind": "time"}, before=(("clock.advance", {"by": "P60D"}),)),
    Example("events.find", {"kind": "tide"}, BAD),
    Example("events.find", {"name": "clock.*"}, before=(("clock.advance", {"by": "P3D"}),)),
    Example("events.find", {"name": ""}, BAD),
    Example("events.find", {"domain": "second.com"}, before=(("clock.advance", {"by": "P300D"}),)),
    Example("events.find", {"domain": "-"}, "invalid_name"),
    Example("events.find", {"since": 2}, before=(("clock.freeze", {}),) * 3),
    Example("events.find", {"since": "lately"}, BAD),
    Example("events.find", {"before": 3}, before=(("clock.advance", {"by": "P60D"}),)),
    Example("events.find", {"before": 0}, BAD),
    Example("events.find", {"cause": 1}, before=(("clock.advance", {"by": "P60D"}),)),
    Example("events.find", {"cause": 0}, BAD),
    Example("events.find", {"limit": 2}, before=(("clock.advance", {"by": "P60D"}),)),
    Example("events.find", {"limit": -1}, BAD),
)
