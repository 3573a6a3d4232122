"""Examples of history, snapshots and branches."""

from __future__ import annotations

from tests.powers.example import BAD, REQUEST, Example
from tests.powers.examples.worlds import OBJECT, SMALL

KEPT = (("snapshots.add", {"name": "here"}),)
LEFT = (*KEPT, ("clock.advance", {"by": "P60D"}), ("snapshots.restore", {"name": "here"}))
ASKED = ((REQUEST, {"path": "/v3/balance"}),)

EXAMPLES = (
    Example("history.rewind", {"request": "r1"}, before=ASKED),
    Example("history.rewind", {"request": "r1"}, "unknown_request"),
    Example("history.rewind", {}, BAD),
    Example("history.rewind", {"request": "r1", "side": "after"}, before=ASKED),
    Example("history.rewind", {"request": "r1", "side": "around"}, BAD),
    Example("history.reset", before=LEFT),
    Example("history.reset", {"original": True}),
    Example("history.reset", {"original": "yes"}, BAD),
    Example("history.diff", before=(("clock.advance", {"by": "P60D"}),)),
    Example("history.diff", {"from": "snapshot:here"}, before=KEPT),
    Example("history.diff", {"from": "never"}, "unknown_point"),
    Example("history.diff", {"from": "before:r9"}, "unknown_request"),
    Example("history.diff", {"from": "start", "to": "branch:b1"}, before=LEFT),
    Example("history.diff", {"to": "branch:b9"}, "unknown_branch"),
    Example("history.diff", {"to": "snapshot:none"}, "unknown_snapshot"),
    Example("history.diff", {"limit": 1}, before=(("clock.advance", {"by": "P300D"}),)),
    Example("history.diff", {"limit": -1}, BAD),
    Example("history.diff", {"limit": 1, "start": 1}, before=(("clock.advance", {"by": "P300D"}),)),
    Example("history.diff", {"start": "b"}, BAD),
    Example("history.export"),
    Example("history.load", {"fixture": SMALL}),
    Example("history.load", {"fixture": OBJECT}),
    Example("history.load", {"fixture": "zones: ["}, "invalid_fixture"),
    Example("history.load", {"fixture": 5}, BAD),
    Example("snapshots.list", before=KEPT),
    Example("snapshots.add", {"name": "here"}),
    Example("snapshots.add", {"name": "no such / name!"}, BAD),
    Example("snapshots.restore", {"name": "here"}, before=KEPT),
    Example("snapshots.restore", {"name": "there"}, "unknown_snapshot"),
    Example("snapshots.restore", {"name": "not a name"}, BAD),
    Example("snapshots.remove", {"name": "here"}, before=KEPT),
    Example("snapshots.remove", {"name": "there"}, "unknown_snapshot"),
    Example("branches.list", before=LEFT),
    Example("branches.switch", {"name": "b1"}, before=LEFT),
    Example("branches.switch", {"name": "b2"}, "unknown_branch"),
    Example("branches.remove", {"name": "b1"}, before=LEFT),
    Example("branches.remove", {"name": "b2"}, "unknown_branch"),
)
