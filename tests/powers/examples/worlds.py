"""Examples of worlds."""

from __future__ import annotations

from reseller_sandbox import Sandbox
from tests.powers.example import BAD, Example

SMALL = "zones: {com: {prices: {registration: 1, renewal: 1, transfer: 1, restore: 1}}}\n"
OBJECT = {"zones": {"com": {"prices": {"registration": 1, "renewal": 1.5, "transfer": 1, "restore": 1}}}}
CAPSULE = Sandbox("empty").capsule.get().base64
MINE = (("worlds.fork", {"name": "mine"}),)

EXAMPLES = (
    Example("worlds.list", before=MINE),
    Example("worlds.get", {"world": "default"}),
    Example("worlds.get", {"world": "nobodys"}, "unknown_world"),
    Example("worlds.fork"),
    Example("worlds.fork", {"point": "start"}),
    Example("worlds.fork", {"point": "snapshot:here"}, before=(("snapshots.add", {"name": "here"}),)),
    Example("worlds.fork", {"point": "yesterday"}, "unknown_point"),
    Example("worlds.fork", {"point": "after:r7"}, "unknown_request"),
    Example("worlds.fork", {"point": "snapshot:none"}, "unknown_snapshot"),
    Example("worlds.fork", {"point": "branch:none"}, "unknown_branch"),
    Example("worlds.fork", {"fixture": "empty"}),
    Example("worlds.fork", {"fixture": "nosuch"}, "invalid_fixture"),
    Example("worlds.fork", {"fixture": "empty", "point": "start"}, BAD),
    Example("worlds.fork", {"state": SMALL}),
    Example("worlds.fork", {"state": OBJECT}),
    Example("worlds.fork", {"state": "zones: ["}, "invalid_fixture"),
    Example("worlds.fork", {"state": 5}, BAD),
    Example("worlds.fork", {"state": SMALL, "fixture": "empty"}, BAD),
    Example("worlds.fork", {"name": "mine"}),
    Example("worlds.fork", {"name": "fork"}),
    Example("worlds.fork", {"name": "w7"}, BAD),
    Example("worlds.fork", {"name": "default"}, "world_exists"),
    Example("worlds.fork", {"now": "2027-01-01"}),
    Example("worlds.fork", {"now": "2020-01-01"}, "set_back"),
    Example("worlds.fork", {"now": "soon"}, BAD),
    Example("worlds.fork", {"frozen": True}),
    Example("worlds.fork", {"frozen": "yes"}, BAD),
    Example("worlds.fork", {"assume": {"v3.ids": "integer"}}),
    Example("worlds.fork", {"assume": {"v3.idz": "integer"}}, BAD),
    Example("worlds.fork", {"seed": "same"}),
    Example("worlds.fork", {"seed": ""}, BAD),
    Example("worlds.open", {"capsule": CAPSULE}),
    Example("worlds.open", {"capsule": CAPSULE, "name": "opened"}),
    Example("worlds.open", {"capsule": CAPSULE, "name": "w7"}, BAD),
    Example("worlds.open", {"capsule": CAPSULE, "name": "default"}, "world_exists"),
    Example("worlds.open", {"capsule": "H4sIAAAAAAAC/w=="}, "invalid_capsule"),
    Example("worlds.open", {"capsule": "no Base64"}, BAD),
    Example("worlds.remove", {"world": "mine"}, before=MINE),
    Example("worlds.remove", {"world": "default"}, "default_world"),
    Example("worlds.remove", {"world": "nobodys"}, "unknown_world"),
)
